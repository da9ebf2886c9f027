// Package wait is how everything here waits: for a length of time, until its
// context ends, and longer after each failure.
//
//	wait.go  Sleep, Outlive
//	backoff.go  Backoff, the pauses between attempts
//
// Waiting for somebody else's signal is a select where it happens.
package wait
