package redis_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// begin commits the first event of a run whose main strand is due.
func begin(t *testing.T, s *redis.Store) agent.RunID {
	t.Helper()
	run := agent.RunID(agent.NewID())
	c := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return run
}

// claimOne claims the run's one due strand.
func claimOne(t *testing.T, s *redis.Store, run agent.RunID, wait time.Duration) agent.Lease {
	t.Helper()
	leases, err := s.Claim(t.Context(), 1, wait, run)
	if err != nil || len(leases) != 1 {
		t.Fatalf("claim: %+v, %v; want one lease within %s", leases, err, wait)
	}
	return leases[0]
}

// TestNothingIsStolenAfterAnOutage stops the server for two leases. The other
// process claims first, and the holder comes back later.
func TestNothingIsStolenAfterAnOutage(t *testing.T) {
	const lease = 2 * time.Second
	srv := redistest.Start(t)
	config := redis.Config{URL: srv.URL, Lease: lease}
	holder, other := open(t, config), open(t, config)
	run := begin(t, holder)
	held := claimOne(t, holder, run, 0)

	srv.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 2*lease)
	defer cancel()
	if got, err := other.Claim(ctx, 1, time.Hour, run); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("claim from a stopped server: %+v, %v", got, err)
	}
	srv.Thaw()

	if got, err := other.Claim(t.Context(), 1, lease/4, run); err != nil || len(got) != 0 {
		t.Fatalf("claimed %+v, %v; the holder should have one more lease", got, err)
	}
	if lost, err := holder.Extend(t.Context(), []agent.Lease{held}); err != nil || len(lost) != 0 {
		t.Fatalf("the holder comes back and has lost %+v, %v", lost, err)
	}
	began := time.Now()
	next := claimOne(t, other, run, time.Minute)
	if next.Epoch != held.Epoch+1 || time.Since(began) > lease+20*time.Second {
		t.Fatalf("lease %+v after %+v and %s", next, held, time.Since(began))
	}
}

// TestLostRingsCostASecond cuts the bell's connections right before the commit.
func TestLostRingsCostASecond(t *testing.T) {
	srv := redistest.Start(t)
	config := redis.Config{URL: srv.URL, Lease: time.Minute}
	desk, crew := open(t, config), open(t, config)
	for range 3 {
		run := agent.RunID(agent.NewID())
		got := make(chan error, 2)
		began := time.Now()
		go func() {
			leases, err := crew.Claim(t.Context(), 1, time.Minute, "")
			if err == nil && (len(leases) != 1 || leases[0].Run != run) {
				err = errors.New("claimed something else")
			}
			got <- err
		}()
		go func() { got <- crew.Await(t.Context(), run, 0) }()
		if reply, err := srv.Ask("CLIENT KILL TYPE pubsub"); err != nil || !strings.HasPrefix(reply, ":") {
			t.Fatalf("kill connections: %q, %v", reply, err)
		}
		c := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}
		if _, err := desk.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		for range cap(got) {
			if err := <-got; err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("noticed after %s, want about a second on an idle machine", took)
		}
	}
}

func TestForgottenScriptsAreSentAgain(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, redis.Config{URL: srv.URL})
	for range 2 {
		claimOne(t, s, begin(t, s), 0)
		if reply, err := srv.Ask("SCRIPT FLUSH"); err != nil || reply != "+OK" {
			t.Fatalf("flush: %q, %v", reply, err)
		}
	}
}

func TestWaitsForReplicas(t *testing.T) {
	srv := redistest.Start(t)
	replica := srv.Replica()
	s := open(t, redis.Config{URL: srv.URL, WaitReplicas: 1})
	run := begin(t, s)
	replica.Kill()
	c := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "lonely")}}
	if _, err := s.Commit(t.Context(), c); !errors.Is(err, redis.ErrReplicas) {
		t.Fatalf("commit without its replica: %v, want ErrReplicas", err)
	}
	replica.Restart()
	for deadline := time.Now().Add(20 * time.Second); ; {
		r, err := s.Commit(t.Context(), c)
		if err == nil && r.Seq == 2 {
			break
		}
		if !errors.Is(err, redis.ErrReplicas) || time.Now().After(deadline) {
			t.Fatalf("the same commit again: %+v, %v", r, err)
		}
	}
	if events, err := s.Read(t.Context(), run, 0); err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v; want 2", len(events), err)
	}
}

// TestFailover kills the master. What replicas had confirmed is on the new one.
func TestFailover(t *testing.T) {
	group := redistest.StartSentinels(t)
	careful := open(t, redis.Config{URL: group.URL, WaitReplicas: 1})
	after := open(t, redis.Config{URL: group.URL})
	run := begin(t, careful)
	held := claimOne(t, careful, run, 0)
	c := agent.Commit{ID: agent.NewID(), Run: run, Lease: &held, Seen: 1, Events: []agent.Event{said(agent.Main, "before")}}
	first, err := careful.Commit(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	group.KillMaster()
	for deadline := time.Now().Add(40 * time.Second); ; {
		r, err := after.Commit(t.Context(), c)
		if err == nil {
			if r.Seq != first.Seq || !r.At.Equal(first.At) {
				t.Fatalf("the same commit on the new master: %+v, want %+v", r, first)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no new master: %v", err)
		}
	}
	held.Turn++
	if _, err := after.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Lease: &held, Seen: 2, Events: []agent.Event{said(agent.Main, "after")}}); err != nil {
		t.Fatal(err)
	}
	if events, err := after.Read(t.Context(), run, 0); err != nil || len(events) != 3 {
		t.Fatalf("%d events, %v; want 3", len(events), err)
	}
}
