// Package trace tells a run's journal as a story of steps: what the run observed,
// how it made sense of it, what it decided, what it did; and for each call why it
// was made, what was asked for, with what, and what came of it.
//
//	trace.go  Steps: events as steps
//	word.go   what each kind of event says
//
// Printing is cmd/internal/inspect's; finding loops is agent/reflect's.
package trace
