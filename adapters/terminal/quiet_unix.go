//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

// silence makes the terminal hand over each key as it is pressed, unechoed.
// Signals from the keyboard and the processing of output stay as they are:
// that is why this is not term.MakeRaw.
func silence(fd int) (restore func(), err error) {
	before, err := unix.IoctlGetTermios(fd, getMode)
	if err != nil {
		return nil, err
	}
	mode := *before
	mode.Lflag &^= unix.ICANON | unix.ECHO
	mode.Cc[unix.VMIN], mode.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, setMode, &mode); err != nil {
		return nil, err
	}
	return func() {
		_ = unix.IoctlSetTermios(fd, setMode, before) // the terminal is gone: nobody is left to tell
	}, nil
}
