//go:build !linux

package crashtest

import "syscall"

// apart gives a child a process group of its own. It ends when its standard
// input does.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
