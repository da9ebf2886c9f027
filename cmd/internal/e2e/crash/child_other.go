//go:build !linux

package crash

import "syscall"

// separate gives a child a process group of its own. It ends when its standard
// input does.
func separate() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
