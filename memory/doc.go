// Package memory holds what outlives a process. Its subpackages are the two
// stores, memory/redis and memory/sqlite, and memory/storetest, the one suite
// that both pass; the package itself holds only what both stores must do alike,
// byte for byte: which commits are well-formed, how an artifact is named, which
// counters go with a run, what can be a name, and what a pace allows.
//
//	commit.go  what a well-formed commit is, and the names of artifacts and counters
//	name.go    what can be a name
//	pace.go    how far ahead of its time a turn at a pace may be taken
//
// The contracts (agent.Store, agent.Archive) live in package agent, and what
// makes a step good lives in agent/loop: nothing here knows a chat, a tool or
// the meaning of an event.
package memory
