package mcp

import "syscall"

// ownGroup gives a server a process group of its own, and makes it end with this
// process.
func ownGroup(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	a.Setpgid, a.Pdeathsig = true, syscall.SIGKILL
	return a
}
