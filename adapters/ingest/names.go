package ingest

import "context"

// NoNames stands for the names of a store where there is none: it keeps nothing.
type NoNames struct{}

// Value is empty.
func (NoNames) Value(context.Context, string) (string, error) { return "", nil }

// Values are none.
func (NoNames) Values(context.Context, string) (map[string]string, error) {
	return map[string]string{}, nil
}

// SetValue forgets the value.
func (NoNames) SetValue(context.Context, string, string) error { return nil }
