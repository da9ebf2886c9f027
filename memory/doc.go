// Package memory holds what outlives a process. Its subpackages are the two
// stores, memory/redis and memory/sqlite, and memory/storetest, the one suite
// that both pass; the package itself holds only what both stores must do alike,
// byte for byte: which commits are well-formed, how an artifact is named, which
// counters go with a run, what can be a name, and what a pace allows.
//
// The contracts (agent.Store, agent.Archive) live in package agent, and what
// makes a step good lives in agent/loop: nothing here knows a chat, a tool or
// the meaning of an event.
package memory
