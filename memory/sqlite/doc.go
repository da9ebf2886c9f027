// Package sqlite is the embedded store: one file, deckhand.db, and one worker
// process at a time. It implements agent.Store and agent.Archive.
//
//	store.go    the store: opened, as worker or as guest, and closed
//	schema.go   the tables, and how a file of an older version gets them
//	session.go  the writing connection and its prepared statements
//	txn.go      a transaction, and what it knows of runs and strands
//	writer.go   the one goroutine that writes
//	commit.go   commits: checked first, written then
//	claim.go    claims and leases
//	read.go     what is read without the writer
//	archive.go  snapshots, artifacts, and runs that expire
//	name.go     names and their values
//	trail.go    the trail: lines of the whole store, and journals as they are kept
//	pace.go     turns at a pace
//	watch.go    waiting for a journal to grow
//	clock.go    time that never goes back
//	lock.go     the right to be the one worker of a directory
//	error.go    what the store refuses, and what SQLite's errors mean
//
// All writes of a process go through one goroutine and one connection. It takes
// what is waiting, runs it in one transaction and acknowledges all of it after
// one fsync. A commit's checks are made before its writes, so that a refused one
// does not spoil its neighbours.
//
// The worker holds a lock on deckhand.lock that the kernel releases when the
// process dies (lock.go). Guests, other processes beside it, read and append
// facts, and set names; the worker notices by PRAGMA data_version (watch.go).
//
// Paces are kept in the worker's memory (pace.go): it alone does what has a
// pace. A guest that asks for a turn is refused, and a new worker starts with
// all turns.
//
// # What is on the disk when
//
// A commit and an artifact are fsynced before they are acknowledged. Claims,
// extensions and snapshots are not by themselves: they are in the log before
// whatever is committed later, and a log that survives a power failure is a
// prefix. So a commit under a lease is never on the disk without its claim, and
// an epoch that a power failure takes back was known only to workers that died
// in it, because workers live in the one process that holds the lock.
//
// What a step means, who may do what and what is worth remembering does not
// live here.
package sqlite
