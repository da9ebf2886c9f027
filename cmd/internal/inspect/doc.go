// Package inspect holds the commands that look at what is written down, in a
// store or in a file, and change nothing.
//
//	env.go    what the commands need of the program
//	audit.go  `deckhand audit verify` and `deckhand audit export`
//	trace.go  `deckhand trace RUN`
//	plan.go   `deckhand plan check FILE`
//	policy.go `deckhand policy test FILE` and `deckhand policy show`
//	sandbox.go  `deckhand env show RUN TASK` and `deckhand env run FILE`
package inspect
