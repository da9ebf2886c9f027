package llm

// The faults that callers tell apart.

import (
	"fmt"
	"time"
)

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
	// Unpaid is an account without credit (402, or a 429 that says so).
	Unpaid Fault = "no credit"
	// Insecure is an endpoint whose certificate is not trusted, or that speaks
	// no TLS where https was asked for.
	Insecure Fault = "no secure connection"
	// Limited is an endpoint that takes no more requests for a while (429).
	Limited Fault = "limited"
	// Away is an endpoint that is overloaded, broken or out of reach: 5xx, a cut
	// stream, no answer in time, no connection.
	Away Fault = "away"
	// Exhausted means that every retry of a passing fault was used up.
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
	// Plain says what happened in a few words for people, without the
	// endpoint's name or its own words: "is overloaded (HTTP 503)".
	Plain string
	// RetryAfter is the pause that the endpoint asked for, 0: it asked for none.
	RetryAfter time.Duration
	Quota      Quota
	// Window is how many tokens a prompt and its answer may have, as far as a
	// refusal for their length says it; 0: it does not.
	Window int
	// Reached says that the endpoint was heard at all.
	Reached bool
	// Spent estimates what an answer that broke off has cost, nothing where none
	// had begun.
	Spent Usage
}

func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model: %s (HTTP %d): %s", e.Fault, e.Status, e.Message)
	}
	return fmt.Sprintf("model: %s: %s", e.Fault, e.Message)
}

// Unwrap returns the cause, nil where the endpoint answered by itself.
func (e *Error) Unwrap() error { return e.Err }

// Refused reports whether no retry can help until a person changes something: a
// key, a model name or an account that the endpoint does not take, a certificate.
func (e *Error) Refused() bool {
	switch e.Fault {
	case Unauthorised, UnknownModel, Unpaid, Insecure:
		return true
	case Invalid, TooLong, Limited, Away, Exhausted, Unscripted:
	}
	return false
}

// Passing reports whether the same request may well be answered later.
func (e *Error) Passing() bool { return e.Fault == Limited || e.Fault == Away }

// GivenUp is the error of a request that is not tried again after so many tries.
func (e *Error) GivenUp(tries int) *Error {
	given := *e
	given.Fault, given.Tries = Exhausted, tries
	if tries > 1 {
		given.Message = fmt.Sprintf("%s (%d tries)", e.Message, tries)
	}
	return &given
}
