// Package redis is the distributed store: agent.Store and agent.Archive on one
// Redis (7.0 or later), a Sentinel group or a Cluster.
//
//	store.go    the store: opened and closed, and what its server's errors mean
//	access.go   what a server must be, and must let its user do
//	url.go      addresses of one Redis, a Sentinel group or a Cluster
//	keys.go     every key, and what it holds
//	script.go   the atomic parts, each in a file of script/*.lua
//	pipe.go     calls of many goroutines, in few round trips
//	bell.go     waking who waits
//	commit.go   commits, in one script
//	reserve.go  what a Cluster needs besides, where a commit concerns several shards
//	move.go     what the release before wrote on a Cluster is taken over
//	claim.go    claims, which many goroutines share
//	shard.go    what is asked of each shard of a Cluster apart
//	lease.go    leases extended and given back
//	read.go     journals read and awaited
//	runs.go     the list of runs
//	archive.go  snapshots, artifacts, counters, the trail, and runs that expire
//	name.go     names and their values, and records
//	pace.go     turns at a pace
//
// # What it promises
//
// A commit is one script: all of it is written or nothing. The clock is the
// server's (TIME), and where that steps back, by a correction or a failover to a
// host that is behind, it goes on from the last stamp (a sixth of a lease old at
// most) at 7/8 of the speed: a strand waits for what is left of its time, not
// for the step. A server that was set to a wrong date for a while leaves the
// store ahead; deleting the keys deckhand:{N}:clock while nothing works brings
// it back. A commit that failed with
// an error of the connection may be sent again, with the same id: it is
// written once.
//
// Work that becomes due rings a bell (PUBLISH) where somebody waits; a ring
// that is lost costs the waiting at most a second, the interval in which they
// look for themselves.
//
// A lease that ran out is taken by the next claim. Where no worker was heard
// for longer than a lease, the store was away: leases that ran out meanwhile
// are kept for one more lease, so that their holders can come back first. The
// same holds after all workers were down.
//
// Attempt ids of facts are known for a day, once-keys for 8 days.
//
// Names are written in the commit's script. They are in one sorted set, by name
// and by value: a prefix is a range of it, and so are the names of a run that
// expires. They go right before their run does. A pace is one key that the
// server drops when nothing of it is left to remember.
//
// # What it leaves to the operator
//
// Redis must keep what it is told: appendonly yes, and appendfsync always where
// nothing at all may be lost. Under everysec Redis answers before it writes
// while a sync is under way, so that the death of the process can lose up to two
// seconds (seen once in a long soak), as the machine's loss of power can. And no
// eviction: every maxmemory-policy but noeviction is refused. Its user needs the
// keys and the channel deckhand:* and the commands of access.go, which Open
// proves. Replication is asynchronous: a failover may lose the newest commits,
// and with them the knowledge of effects that were made, unless
// Config.WaitReplicas makes each commit wait for replicas.
//
// # In a Cluster
//
// What has one anchor (agent.AnchorOf) is in one shard, and a run that begins
// at an anchor is in its shard, too (Store.NewRun). So a message with its
// once-keys, its thread's name and its run's events is one script, and so is
// the turn of a schedule. What is in other shards is reserved first: once-keys
// of commits whose run began elsewhere (see reserve.go: a death at any point
// neither loses such a commit nor writes it twice), and counters that are no
// run's own, which are given back if the commit fails; a process that dies
// between the two leaves such an amount counted as spent. Names of other shards
// are set right before the commit is written. A process that dies between the
// two, or a commit that is overtaken there (ErrConflict, ErrStale, ErrBudget of
// the run's own counter), leaves names with values of a commit that was not
// written: of a run that does not exist, or that did not get the event.
//
// One master away stops the runs of its shards only. That needs
// cluster-require-full-coverage no: by default Redis stops the whole Cluster.
// Lists of all runs or names fail meanwhile. An acknowledged commit survives a
// failover where Config.WaitReplicas is the number of each master's replicas;
// with fewer, the replica that has most is preferred as the new master, which
// is no promise, and min-replicas-to-write alone only bounds what is lost.
//
// Data of the release before (layout 1: all names in one key) is moved at the
// first start, and refused while a replica of that release is heard.
//
// What does not live here: what events mean (agent), recall (memory), the
// conformance suite (memory/storetest), and a server for tests
// (memory/redis/redistest).
package redis
