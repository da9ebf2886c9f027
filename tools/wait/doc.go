// Package wait is the tool wait: a timer of the engine, not a sleeping
// goroutine. The strand is parked until it is due.
//
//	wait.go  the tool
//
// What does not live here: the timer itself (the store's due times) and the
// detector that tells waiting from polling (agent/reflect).
package wait
