package bot

import (
	"context"
)

// Records is what the chat needs of a store beside journals.
type Records interface {
	Value(ctx context.Context, name string) (string, error)
	Values(ctx context.Context, prefix string) (map[string]string, error)
	SetValue(ctx context.Context, name, value string) error
	Spent(ctx context.Context, counter string) (int64, error)
}
