// Package estimate says before a run starts what it will probably take: model
// calls, tokens, money and time, each with a range, and what that is based on.
//
//	sample.go    what ended runs really used, read from their journals
//	basis.go     what a task usually takes: learnt from samples, or usual figures
//	estimate.go  a plan, or a goal without one, multiplied out
//
// Everything here is pure. What does not live here: reading a store, asking a
// model for a plan, prices (they arrive as arguments).
package estimate
