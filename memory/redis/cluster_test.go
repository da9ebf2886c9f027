package redis_test

import (
	"errors"
	"hash/fnv"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

const shards = 16

// shardOf is the shard of a run, as keys.go documents it.
func shardOf(run agent.RunID) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(run))
	return int(h.Sum32() % shards)
}

func dueKey(shard int) string { return "deckhand:{" + strconv.Itoa(shard) + "}:due" }

// runIn is a new run in the shard.
func runIn(shard int) agent.RunID {
	for {
		if run := agent.RunID(agent.NewID()); shardOf(run) == shard {
			return run
		}
	}
}

// opening is the first commit of a run.
func opening(run agent.RunID) agent.Commit {
	return agent.Commit{
		ID: agent.NewID(), Run: run, Events: []agent.Event{opens()},
		Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
	}
}

// beginIn begins a run in each of the shards.
func beginIn(t *testing.T, s *redis.Store, list []int) {
	t.Helper()
	for _, shard := range list {
		if _, err := s.Commit(t.Context(), opening(runIn(shard))); err != nil {
			t.Fatalf("begin a run in shard %d: %v", shard, err)
		}
	}
}

// claimN claims until there are n leases.
func claimN(t *testing.T, s *redis.Store, n int, within time.Duration) []agent.Lease {
	t.Helper()
	var all []agent.Lease
	for deadline := time.Now().Add(within); len(all) < n; {
		leases, err := s.Claim(t.Context(), n-len(all), 100*time.Millisecond, "")
		if err != nil {
			t.Fatalf("claim: %v", err)
		}
		all = append(all, leases...)
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d leases were claimed within %s", len(all), n, within)
		}
	}
	return all
}

// split says which shards are a master's, and which are others'.
func split(c *redistest.Cluster, master *redistest.Server) (its, others []int) {
	for shard := range shards {
		if c.Master(dueKey(shard)) == master {
			its = append(its, shard)
		} else {
			others = append(others, shard)
		}
	}
	return its, others
}

// TestOneMasterAwayStopsOnlyItsShards freezes a master and its replica, so that
// calls to it neither fail nor are answered, and then kills both, so that they
// fail at once.
func TestOneMasterAwayStopsOnlyItsShards(t *testing.T) {
	t.Parallel()
	const lease = 8 * time.Second
	c := redistest.StartCluster(t)
	s := open(t, redis.Config{URL: c.URL, Lease: lease})
	var all []int
	for shard := range shards {
		all = append(all, shard, shard)
	}
	beginIn(t, s, all)
	held := claimN(t, s, len(all), time.Minute)

	pair := []*redistest.Server{c.Master(dueKey(0))}
	its, others := split(c, pair[0])
	for _, n := range c.Nodes {
		if n != pair[0] && n.Follows(pair[0]) {
			pair = append(pair, n)
		}
	}
	if len(pair) != 2 || len(its) == 0 || len(others) == 0 {
		t.Fatalf("a master with %d followers has the shards %v, others have %v", len(pair)-1, its, others)
	}
	partial := func(how string) {
		t.Helper()
		began := time.Now()
		lost, err := s.Extend(t.Context(), held)
		part, is := errors.AsType[*agent.ExtendError](err)
		if !is || len(lost) != 0 || len(part.Leases) != 2*len(its) {
			t.Fatalf("%s: extended all leases but those of %v: lost %+v, %v", how, its, lost, err)
		}
		for _, l := range part.Leases {
			if !slices.Contains(its, shardOf(l.Run)) {
				t.Errorf("%s: the lease of %s in shard %d was not extended", how, l.Run, shardOf(l.Run))
			}
		}
		if took := time.Since(began); took > lease/2 {
			t.Errorf("%s: extended after %s", how, took)
		}
		beginIn(t, s, others)
		claimN(t, s, len(others), time.Minute)
		began = time.Now()
		beginIn(t, s, others)
		claimN(t, s, len(others), time.Minute)
		if took := time.Since(began); took > lease/2 {
			t.Errorf("%s: what was due elsewhere was claimed after %s", how, took)
		}
	}
	for _, n := range pair {
		n.Freeze()
	}
	partial("frozen")
	for _, n := range pair {
		n.Thaw()
		n.Kill()
	}
	partial("killed")
	for _, n := range pair {
		n.Restart()
	}
	c.AwaitHealthy()
	beginIn(t, s, its)
	claimN(t, s, len(its), time.Minute)
}

// TestClusterWaitsForReplicas sends a commit while its slot moves and while its
// replica is away: it is acknowledged when the new master's replica has it.
func TestClusterWaitsForReplicas(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	s := open(t, redis.Config{URL: c.URL, WaitReplicas: 1})
	run := runIn(0)
	if _, err := s.Commit(t.Context(), opening(run)); err != nil {
		t.Fatal(err)
	}
	c.MoveSlot(dueKey(0))
	fact := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "moved")}}
	if r, err := s.Commit(t.Context(), fact); err != nil || r.Seq != 2 {
		t.Fatalf("commit after the move: %+v, %v", r, err)
	}
	master := c.Master(dueKey(0))
	for _, n := range c.Nodes {
		if n.Follows(master) {
			n.Freeze()
			defer n.Thaw()
		}
	}
	lonely := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "lonely")}}
	for range 2 {
		if _, err := s.Commit(t.Context(), lonely); !errors.Is(err, redis.ErrReplicas) {
			t.Fatalf("commit without its replica: %v, want ErrReplicas", err)
		}
	}
}
