package terminal

// This file names the ioctl requests that read and set terminal modes on
// Linux, so that it shares the code that turns off echo with macOS and BSD.

import "golang.org/x/sys/unix"

const (
	getMode = unix.TCGETS
	setMode = unix.TCSETS
)
