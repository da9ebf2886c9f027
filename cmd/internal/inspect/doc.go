// Package inspect holds the commands that look at what a store has written down,
// and change nothing.
//
//	env.go    what the commands need of the program
//	audit.go  `deckhand audit verify` and `deckhand audit export`
//	trace.go  `deckhand trace RUN`
package inspect
