//go:build !linux

package adaptertest

import "syscall"

// apart is nothing here: a child ends when its standard input does.
func apart() *syscall.SysProcAttr { return nil }
