package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// book is what the workers of the crash test were told.
type book struct {
	mu    sync.Mutex
	acked map[agent.RunID]map[string]uint64 // text of an event: seq of its receipt
	n     int
	more  chan struct{} // holds one: n grew

	overtaken atomic.Int64 // commits whose lease was lost before they were answered
}

func newBook() *book {
	return &book{acked: map[agent.RunID]map[string]uint64{}, more: make(chan struct{}, 1)}
}

// acks is how many commits were acknowledged.
func (b *book) acks() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.n
}

func (b *book) note(run agent.RunID, text string, seq uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.acked[run] == nil {
		b.acked[run] = map[string]uint64{}
	}
	b.acked[run][text] = seq
	b.n++
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// reach waits until n commits were acknowledged.
func (b *book) reach(t *testing.T, n int) {
	t.Helper()
	deadline := time.After(time.Minute)
	for {
		b.mu.Lock()
		have := b.n
		b.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-b.more:
		case <-deadline:
			t.Fatalf("%d commits were acknowledged within a minute, want %d", have, n)
		}
	}
}

// refused says whether a commit was refused by the contract: not written, or
// written by an earlier sending that was overtaken since.
func refused(err error) bool {
	return errors.Is(err, agent.ErrConflict) || errors.Is(err, agent.ErrStale) || errors.Is(err, agent.ErrSeen)
}

// insist sends one commit until it is acknowledged or refused.
func insist(ctx context.Context, s *redis.Store, c agent.Commit) (agent.Receipt, error) {
	for {
		r, err := s.Commit(ctx, c)
		if err == nil || refused(err) || agent.Permanent(err) || ctx.Err() != nil { // the context is the test's own
			return r, err
		}
	}
}

// work goes on until stop is closed, and ends with a commit that was answered.
func (b *book) work(ctx context.Context, stop <-chan struct{}, s *redis.Store, worker int) error {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return nil
		default:
		}
		leases, err := s.Claim(ctx, 1, time.Second, "")
		if err != nil {
			continue // the server is away
		}
		for _, l := range leases {
			text := fmt.Sprintf("worker %d step %d", worker, i)
			r, err := insist(ctx, s, agent.Commit{
				ID: agent.NewID(), Run: l.Run, Lease: &l, Seen: agent.SeenAll, Once: []string{text},
				Spend:  []agent.Spend{{Counter: "run/" + string(l.Run) + "/steps", Nano: 1}, {Counter: "steps", Nano: 1}},
				Set:    map[string]string{"newest/" + string(l.Run): text},
				Events: []agent.Event{said(l.Strand, text)}, Wake: map[agent.StrandID]time.Time{l.Strand: agent.AtOnce},
			})
			switch {
			case err == nil:
				b.note(l.Run, text, r.Seq)
			case errors.Is(err, agent.ErrConflict):
				b.overtaken.Add(1)
			default:
				return err
			}
			fact := text + " fact"
			r, err = insist(ctx, s, agent.Commit{ID: agent.NewID(), Run: l.Run, Events: []agent.Event{said(agent.Voice, fact)}})
			if err == nil {
				b.note(l.Run, fact, r.Seq)
			} else {
				return err
			}
		}
	}
}

// TestKilledServerLosesNothing kills redis-server under load, again and again.
// Every acknowledged commit must be in its journal once, at its receipt's
// place, and no other commit twice. With a sync every second Redis answers
// before it writes while the sync of a busy disk is under way (see doc.go): the
// kernel syncs here, so that what is lost would be the store's fault.
func TestKilledServerLosesNothing(t *testing.T) {
	srv := redistest.Start(t, "--appendfsync", "no")
	s := open(t, redis.Config{URL: srv.URL, Lease: 2 * time.Second})
	var runs []agent.RunID
	for range 12 {
		run := agent.RunID(agent.NewID())
		c := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	b := newBook()
	stop := make(chan struct{})
	failed := make(chan error, 8)
	for w := range cap(failed) {
		go func() { failed <- b.work(t.Context(), stop, s, w) }()
	}
	for range 4 {
		b.reach(t, b.acks()+400)
		srv.Kill()
		srv.Restart()
	}
	b.reach(t, b.acks()+400)
	close(stop)
	for range cap(failed) {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	b.checkAll(t, s, runs)
}

// checkAll checks every run, and the counters that their commits spent on. What
// a Cluster reserved for a commit that was overtaken stays spent (see doc.go).
func (b *book) checkAll(t *testing.T, s *redis.Store, runs []agent.RunID) {
	t.Helper()
	written := int64(0)
	for _, run := range runs {
		steps := b.check(t, s, run)
		written += steps
		if got, err := s.Spent(t.Context(), "run/"+string(run)+"/steps"); err != nil || got != steps {
			t.Errorf("run %s: %d steps are counted (%v), %d are in its journal", run, got, err, steps)
		}
	}
	got, err := s.Spent(t.Context(), "steps")
	if err != nil || got < written || got > written+b.overtaken.Load() {
		t.Errorf("%d steps are counted (%v), %d are in the journals and %d were overtaken", got, err, written, b.overtaken.Load())
	}
}

// check compares a run's journal with what was acknowledged and with the name
// that each leased commit set, and returns the number of its leased commits.
func (b *book) check(t *testing.T, s *redis.Store, run agent.RunID) (steps int64) {
	t.Helper()
	events, err := s.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]uint64{}
	newest := ""
	for i, e := range events {
		if i == 0 {
			continue // it opens the run
		}
		body, ok := e.Body.(agent.PersonSaid)
		if !ok {
			t.Fatalf("run %s: entry %d is %+v", run, e.Seq, e.Body)
		}
		text := body.Text
		if _, twice := at[text]; twice {
			t.Errorf("run %s: %q was written twice", run, text)
		}
		at[text] = e.Seq
		if i > 0 && e.Strand == agent.Main {
			steps++
			newest = text
		}
	}
	if got, err := s.Value(t.Context(), "newest/"+string(run)); err != nil || got != newest {
		t.Errorf("run %s: the name of its newest step is %q (%v), want %q", run, got, err, newest)
	}
	for text, seq := range b.acked[run] {
		if at[text] != seq {
			t.Errorf("run %s: %q was acknowledged as entry %d and is entry %d (0: lost)", run, text, seq, at[text])
		}
	}
	return steps
}
