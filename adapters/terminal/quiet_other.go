//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package terminal

import "errors"

// silence is not to be had here: the terminal edits and echoes.
func silence(int) (restore func(), err error) { return nil, errors.ErrUnsupported }
