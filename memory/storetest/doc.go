// Package storetest is the conformance suite of the stores: every rule in the
// comments of agent.Store and agent.Archive has a test here, and a store is
// right when it passes. A store's own package hands a Factory to Run.
//
//	storetest.go  the suite: every rule, against one kind of store
//	bed.go        A store under test, and the steps that most tests take
//	model.go      the contract in its simplest form, for comparisons
//	random.go     random steps, against the store and the model
//	journal.go    journals are what was committed
//	claim.go      each due strand is claimed once
//	lease.go      leases, which end
//	wake.go       strands are due when they were to be
//	refusal.go    what a commit is refused for
//	attempt.go    A commit that is sent twice is written once
//	end.go        what is left of a run that ended
//	runs.go       what a listing of runs says
//	archive.go    snapshots, artifacts and counters
//	name.go       names and their values
//	pace.go       turns at a pace
//	crowd.go      many workers, never two at one strand
//	crash.go      workers that are killed lose nothing and do nothing twice
//
// What only one store has (locks, shards, files, failover) is tested beside
// that store and not here.
package storetest
