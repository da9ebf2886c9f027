//go:build unix && !linux

package mcp

import "syscall"

// ownGroup gives a server a process group of its own. That this process ended,
// it learns from the end of its input.
func ownGroup(a *syscall.SysProcAttr) *syscall.SysProcAttr {
	if a == nil {
		a = &syscall.SysProcAttr{}
	}
	a.Setpgid = true
	return a
}
