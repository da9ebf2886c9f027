package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/deckhand-bot/deckhand/agent/wait"
)

// PanicError is a panic that was caught.
type PanicError struct {
	What  any    // the value that it was raised with
	Stack []byte // of the goroutine
}

func (p *PanicError) Error() string { return fmt.Sprintf("an internal error: %v", p.What) }

// Is reports whether an error is a panic that was caught.
func Is(err error) bool {
	_, is := errors.AsType[*PanicError](err)
	return is
}

// caught counts the panics of this process.
var caught atomic.Int64

// Caught is how many panics this process has caught.
func Caught() int64 { return caught.Load() }

// Do runs a unit of work. A panic in it is logged with its stack and returned as
// a *PanicError; unit says what it costs ("a message"), args are the log's.
func Do(log *slog.Logger, unit string, do func() error, args ...any) (err error) {
	defer func() {
		if what := recover(); what != nil {
			caught.Add(1)
			p := &PanicError{What: what, Stack: debug.Stack()}
			log.Error("a panic was caught: it costs this unit of work and nothing else", append(args, "unit", unit, "panic", p.What, "stack", string(p.Stack))...)
			err = p
		}
	}()
	return do()
}

// Run is Do for work that has no error of its own.
func Run(log *slog.Logger, unit string, do func(), args ...any) {
	_ = Do(log, unit, func() error { do(); return nil }, args...) // it is logged
}

// afterPanic is how long a part rests before it goes on.
const afterPanic = time.Second

// Keep runs a part of the process that goes on until ctx ends. After a panic it
// begins again; any other end is its own.
func Keep(ctx context.Context, log *slog.Logger, part string, do func(ctx context.Context) error) error {
	for {
		err := Do(log, part, func() error { return do(ctx) })
		if !Is(err) || !wait.Sleep(ctx, afterPanic) {
			return err
		}
	}
}
