// Package e2e holds the suites of the whole house: platforms × stores × crashes.
// They wire Deckhand as `deckhand serve` does and look at it from outside, as
// people, stores and other servers see it.
//
//	chat      scenarios with people, and the crash suite of a platform
//	slack     both on a Slack workspace
//	discord   both on a Discord server
//	engine    the crash suite of the engine, on every store
//	schedule  schedules on several replicas that are killed now and then
//	crash     the kit that kills child processes at chosen moments
//
// Here alone may anything be imported. What one package promises is tested beside
// it. DECKHAND_SOAK=1 asks for the long form (`make soak`).
package e2e
