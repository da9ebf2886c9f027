// Package guard keeps a panic from costing more than the unit of work that it
// happened in: one message, one run, one schedule, one call of a tool. Whoever
// starts a goroutine, or goes through units of other people's making, runs each
// of them with Do; what goes on for as long as the process lives runs with Keep.
//
// What a caught panic means for the unit is its owner's to say: a message is
// answered in words, a run is paused, a schedule is tried again. What all have
// in common stands here: the panic is an error, its stack is in the log, and it
// is counted.
package guard
