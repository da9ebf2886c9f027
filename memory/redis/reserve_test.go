package redis

// Deaths in the middle of a commit that concerns two shards of a Cluster.

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// rig is a store on a Cluster with a run, and an anchor of another master.
type rig struct {
	*Store
	run    agent.RunID
	anchor string
}

func newRig(t *testing.T, c *redistest.Cluster, lease time.Duration) rig {
	t.Helper()
	s, err := Open(t.Context(), Config{URL: c.URL, Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := rig{Store: s, run: s.NewRun("")}
	opening := agent.Commit{ID: agent.NewID(), Run: r.run, Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "g"}}}}
	if _, err := s.Commit(t.Context(), opening); err != nil {
		t.Fatal(err)
	}
	home := c.Master(s.due(s.shard(r.run)))
	for i := 0; r.anchor == ""; i++ {
		if anchor := strconv.Itoa(i); c.Master(s.due(s.shardOf(anchor))) != home {
			r.anchor = anchor
		}
	}
	return r
}

// word is a person's word whose message belongs to the anchor.
func (r rig) word(key string) agent.Commit {
	return agent.Commit{
		ID: agent.NewID(), Run: r.run, Once: []string{key}, Anchor: r.anchor,
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunControlled{Word: agent.WordCancel, By: "U1"}}},
	}
}

func (r rig) events(t *testing.T) int {
	t.Helper()
	events, err := r.Read(t.Context(), r.run, 0)
	if err != nil {
		t.Fatal(err)
	}
	return len(events)
}

// hold does what commitReserved does before the commit's own script.
func (r rig) hold(t *testing.T, c agent.Commit) packed {
	t.Helper()
	p, err := r.pack(c)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.elsewhere.once) != 1 {
		t.Fatalf("the once-key is in the run's shard: %+v", p)
	}
	if _, err := r.send(t.Context(), p, true); !errors.Is(err, errFits) {
		t.Fatalf("asked whether it fits: %v", err)
	}
	if err := (reserver{r.Store}).reserve(t.Context(), reserver{r.Store}.reservations(c, p)); err != nil {
		t.Fatal(err)
	}
	return p
}

// again delivers the message again until it is neither busy nor an error.
func (r rig) again(t *testing.T, key string, busy bool) error {
	t.Helper()
	_, err := r.Commit(t.Context(), r.word(key))
	if busy != errors.Is(err, agent.ErrBusy) {
		t.Fatalf("the message again: %v, want busy: %v", err, busy)
	}
	for deadline := time.Now().Add(time.Minute); errors.Is(err, agent.ErrBusy); {
		if time.Now().After(deadline) {
			t.Fatal("busy for a minute")
		}
		_, err = r.Commit(t.Context(), r.word(key))
	}
	return err
}

// TestDeathBetweenShards stops the commit of a message at each point between
// its steps and delivers the message again, as platforms do.
func TestDeathBetweenShards(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	held, written, leased := newRig(t, c, time.Second), newRig(t, c, time.Second), newRig(t, c, time.Second)

	t.Run("after the once-key was held", func(t *testing.T) {
		t.Parallel()
		r := held
		before, first := r.events(t), r.word("held")
		p := r.hold(t, first)
		if err := r.again(t, "held", true); err != nil {
			t.Fatalf("the message again: %v; it was acknowledged and is nowhere", err)
		}
		if n := r.events(t); n != before+1 {
			t.Fatalf("%d events more, want 1", n-before)
		}
		// The first attempt was only slow, and comes now.
		if _, err := r.send(t.Context(), p, false); !errors.Is(err, agent.ErrBusy) {
			t.Fatalf("the attempt that was given up: %v", err)
		}
		if _, err := r.Commit(t.Context(), first); !errors.Is(err, agent.ErrBusy) && !errors.Is(err, agent.ErrSeen) {
			t.Fatalf("the attempt that was given up, from the start: %v", err)
		}
		if n := r.events(t); n != before+1 {
			t.Fatalf("%d events more, want 1", n-before)
		}
	})

	t.Run("before the once-key was confirmed", func(t *testing.T) {
		t.Parallel()
		r := written
		before, first := r.events(t), r.word("written")
		p := r.hold(t, first)
		receipt, err := r.send(t.Context(), p, false)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.again(t, "written", false); !errors.Is(err, agent.ErrSeen) {
			t.Fatalf("the message again: %v, want ErrSeen", err)
		}
		if left := r.client.PTTL(t.Context(), p.elsewhere.once[0]).Val(); left < onceTTL-time.Hour {
			t.Errorf("the once-key is kept for %v", left)
		}
		if again, err := r.Commit(t.Context(), first); err != nil || again.Seq != receipt.Seq {
			t.Fatalf("the same commit again: %+v, %v; want %+v", again, err, receipt)
		}
		if n := r.events(t); n != before+1 {
			t.Fatalf("%d events more, want 1", n-before)
		}
	})

	t.Run("under a lease", func(t *testing.T) {
		t.Parallel()
		r := leased
		wake := agent.Commit{ID: agent.NewID(), Run: r.run, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}
		if _, err := r.Commit(t.Context(), wake); err != nil {
			t.Fatal(err)
		}
		leases, err := r.Claim(t.Context(), 1, time.Minute, r.run)
		if err != nil || len(leases) != 1 {
			t.Fatal(leases, err)
		}
		c := r.word("leased")
		c.Lease, c.Seen = &leases[0], agent.SeenAll
		if _, err := r.send(t.Context(), r.hold(t, c), false); err != nil {
			t.Fatal(err)
		}
		if err := r.again(t, "leased", false); !errors.Is(err, agent.ErrSeen) {
			t.Fatalf("the message again: %v, want ErrSeen", err)
		}
	})
}

// TestOneConnectionErrorLosesNoTurn takes the run's master and its replica away
// in the middle of a schedule's turn. What says that the turn was served is
// written with the run or not at all, also where only the one of them answers.
func TestOneConnectionErrorLosesNoTurn(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	r := newRig(t, c, time.Second)
	for turn := range 20 {
		name := "schedule-served/daily" + strconv.Itoa(turn)
		run := r.NewRun(agent.AnchorOf(name))
		commit := agent.Commit{
			ID: agent.NewID(), Run: run, Anchor: agent.AnchorOf(name), Once: []string{"tick/1", "tick/2"},
			Set:    map[string]string{name: string(run)},
			Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "g"}}},
			Wake:   map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
		}
		p, err := r.pack(commit)
		if err != nil || len(p.elsewhere.once)+len(p.elsewhere.names) != 0 {
			t.Fatalf("a turn is not one script: %+v, %v", p.elsewhere, err)
		}
		if turn > 0 {
			continue
		}
		pair := []*redistest.Server{c.Master(p.keys[0])}
		for _, n := range c.Nodes {
			if n.Follows(pair[0]) {
				pair = append(pair, n)
			}
		}
		for _, n := range pair {
			n.Freeze()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		_, err = r.Commit(ctx, commit)
		cancel()
		for _, n := range pair {
			n.Thaw()
		}
		if err == nil {
			t.Fatal("a frozen master acknowledges")
		}
		c.AwaitHealthy()
		served, err := r.Value(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.Read(t.Context(), run, 0)
		if begun := err == nil; begun != (served != "") {
			t.Fatalf("served: %q, the run has begun: %v (%v)", served, begun, err)
		}
		commit.ID = agent.NewID()
		if _, err := r.Commit(t.Context(), commit); err != nil && !errors.Is(err, agent.ErrSeen) {
			t.Fatal(err)
		}
		if events, err := r.Read(t.Context(), run, 0); err != nil || len(events) != 1 {
			t.Fatalf("the next look: %d events, %v", len(events), err)
		}
	}
}
