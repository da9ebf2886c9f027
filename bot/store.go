package bot

// This file declares the named values and spending counters that chat and
// schedules read from a store, so that packages under bot depend on an
// interface and leave the choice of the store to their caller.

import (
	"context"
	"time"
)

// Records is what the chat needs of a store beside journals.
type Records interface {
	Value(ctx context.Context, name string) (string, error)
	Values(ctx context.Context, prefix string) (map[string]string, error)
	SetValue(ctx context.Context, name, value string) error
	Spent(ctx context.Context, counter string) (int64, error)
	Now(ctx context.Context) (time.Time, error)
}
