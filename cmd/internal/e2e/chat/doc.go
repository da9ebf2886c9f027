// Package chat is the suite that every chat platform passes: the same scenarios
// with the same assertions, over a local server that speaks the platform's own
// protocol. Run plays people against a whole Deckhand (cmd/internal/app, a real
// store, a scripted model); Crash plays them against Deckhand as a child process
// that is killed at every boundary.
//
//	server.go   what a platform's test brings: Adapter, Server, the people
//	run.go      the scenarios in order, and what people do until it is taken;
//	            goals.go … downtimes.go are the scenarios
//	harness.go  one scenario: a server, a store, and the processes that work there
//	model.go    the scripted model
//	deckhand.go one process
//	crash.go    the crash suite: crash_stage.go plays, crash_child.go dies
//
// Nothing in the suite knows which platform it is: what one does not have by its
// nature is an Ability that its test says it lacks, with the reason. What only one
// platform promises is tested beside its adapter.
package chat
