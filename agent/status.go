package agent

// The functions of a task's worker that are no work: looking at where things
// stand, and doing nothing.
const (
	CallStatus  = "status"
	CallNothing = "do_nothing"
)

// Idle reports whether a call of the function is no work.
func Idle(function string) bool { return function == CallStatus || function == CallNothing }
