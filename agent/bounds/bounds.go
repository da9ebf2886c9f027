// Package bounds holds what comes from outside within measure: what a model may
// put into one answer, and what a tool may give back. Each bound stands here
// once, is enforced where the thing comes in, and is said in words to whoever
// went beyond it.
package bounds

import "fmt"

// Bounds of a model's answer and of what its calls give.
const (
	// Calls are the calls of one answer that are looked at; the rest is refused.
	Calls = 32
	// AtWork are the calls of one strand that run side by side.
	AtWork = 8
	// Arguments are the bytes of one call's arguments, artifacts in their places.
	Arguments = 4 << 20
	// Depth is how deep the arguments of a call may be nested.
	Depth = 64
	// Result are the bytes of one call's result.
	Result = 2 << 20
	// Starts is how often a call is begun whose outcome never came: one that ends
	// the process would end it at every start.
	Starts = 3
	// leastAnswer and bytesPerToken bound an answer's bytes.
	leastAnswer   = 64 << 10
	bytesPerToken = 16
)

// Answer is how many bytes an answer of at most so many tokens may have: texts
// of every script stay far below it.
func Answer(tokens int) int { return max(leastAnswer, bytesPerToken*tokens) }

// Bounds of the words of people who have no say in a run: they are context that is
// not trusted, and are paid for by somebody else.
const (
	// Words are the characters of one of their messages that are kept.
	Words = 2_000
	// Messages and MessageBytes are what a run keeps of them, the newest; what
	// was said in its thread before it began is kept apart, as much again.
	Messages     = 20
	MessageBytes = 16 << 10
)

// Nested returns an error for valid JSON that is nested deeper than Depth.
func Nested(text []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > Depth {
				return fmt.Errorf("they are nested more than %d deep: send them flatter", Depth)
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return nil
}
