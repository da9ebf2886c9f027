// Package storetest is the conformance suite of the stores: every rule in the
// comments of agent.Store and agent.Archive has a test here, and a store is
// right when it passes. A store's own package hands a Factory to Run.
//
// What only one store has (locks, shards, files, failover) is tested beside
// that store and not here.
package storetest
