// Package records holds what Deckhand remembers beyond a run, as pure values:
// no store, no clock.
//
//	record.go  Record: its kinds, its source, its bounds
//	scope.go   Scope and Viewer: who may see a record, and where
//	line.go    a record as a line of JSON, as people import and export it
//	time.go    times in the spellings that people and platforms use
//	memory.go  Memory: what the runtime asks of whoever keeps records
//
// Where records are found again is in memory/recall, where they are kept in the
// stores (agent.Records).
package records
