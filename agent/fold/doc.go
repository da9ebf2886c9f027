// Package fold keeps the folds of runs, so that whoever looks at a run again
// reads only what its journal has gained since.
//
//	cache.go     Cache: the newest folds, within a bound, each with what its
//	             user keeps beside it
//	snapshot.go  the fold that a store keeps, so that a long journal is not
//	             read from its beginning
//
// The workers of the loop, its watchdog and the clients of people each have a
// Cache of their own. How an event changes a run is agent.Run.Apply's; what a
// fold means is its user's.
package fold
