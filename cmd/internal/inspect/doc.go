// Package inspect holds the commands that look at what a store has written down,
// and change nothing.
//
//	env.go    what the commands need of the program
//	audit.go  `deckhand audit verify` and `deckhand audit export`
//	trace.go  `deckhand trace RUN`
//	sandbox.go  `deckhand env show RUN TASK` and `deckhand env run FILE`
package inspect
