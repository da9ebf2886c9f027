package llm

// The faults that callers tell apart.

import "fmt"

// Fault classifies why a request got no usable answer.
type Fault string

// The faults that callers tell apart.
const (
	// Unauthorised is a missing, wrong or revoked key (401, 403).
	Unauthorised Fault = "unauthorised"
	// UnknownModel is a model name that the endpoint does not serve (404).
	UnknownModel Fault = "unknown model"
	// Invalid is a request that the endpoint refuses whatever the time (400, 422).
	Invalid Fault = "invalid request"
	// TooLong is a prompt above the model's context window.
	TooLong Fault = "prompt too long"
	// Exhausted means that every retry of a passing fault (429, 5xx, a cut
	// stream, no connection) was used up.
	Exhausted Fault = "retries ran out"
	// Unscripted is a request that a scripted model has no answer for.
	Unscripted Fault = "not in the script"
)

// Error is an endpoint's refusal or failure. Status is the last HTTP status,
// 0 where there was none; Tries counts the requests made. Message says what
// happened and what to do next, and never holds a key.
type Error struct {
	Fault   Fault
	Status  int
	Tries   int
	Message string
	Err     error
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model: %s (HTTP %d): %s", e.Fault, e.Status, e.Message)
	}
	return fmt.Sprintf("model: %s: %s", e.Fault, e.Message)
}

// Unwrap returns the cause, nil where the endpoint answered by itself.
func (e *Error) Unwrap() error { return e.Err }

// Refused reports whether no retry can help until a person changes the
// configuration: a key or a model name that the endpoint does not take.
func (e *Error) Refused() bool { return e.Fault == Unauthorised || e.Fault == UnknownModel }
