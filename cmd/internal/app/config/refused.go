package config

import "fmt"

// RefusedError is an error that a person has to mend before a process can work: a
// value in the configuration, a token, a port that is taken.
type RefusedError struct{ Cause error }

// Error says what is refused.
func (r *RefusedError) Error() string { return r.Cause.Error() }

// Unwrap returns the cause.
func (r *RefusedError) Unwrap() error { return r.Cause }

// Refuse makes a RefusedError of a text.
func Refuse(format string, args ...any) error { return &RefusedError{fmt.Errorf(format, args...)} }
