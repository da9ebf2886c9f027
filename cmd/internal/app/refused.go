package app

import "fmt"

// Refused is an error that a person has to mend before a process can work: a
// value in the configuration, a token, a port that is taken.
type Refused struct{ Cause error }

// Error says what is refused.
func (r *Refused) Error() string { return r.Cause.Error() }

// Unwrap returns the cause.
func (r *Refused) Unwrap() error { return r.Cause }

// refuse makes a Refused of a text.
func refuse(format string, args ...any) error { return &Refused{fmt.Errorf(format, args...)} }
