//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

// This file names the ioctl requests that read and set terminal modes on
// macOS and the BSDs, so that they share the code that turns off echo with
// Linux.

import "golang.org/x/sys/unix"

const (
	getMode = unix.TIOCGETA
	setMode = unix.TIOCSETA
)
