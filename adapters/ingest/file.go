package ingest

import (
	"errors"
	"io"
)

// LimitedWriter passes a file on as far as its limit, and keeps apart what went
// wrong where it goes from what went wrong where it comes from.
type LimitedWriter struct {
	To    io.Writer
	Left  int64
	Over  bool  // there was more than the limit
	Error error // of To
}

var errTooLarge = errors.New("the file is larger than its limit")

func (w *LimitedWriter) Write(p []byte) (int, error) {
	if w.Left -= int64(len(p)); w.Left < 0 {
		w.Over = true
		return 0, errTooLarge
	}
	n, err := w.To.Write(p)
	w.Error = err
	return n, err
}
