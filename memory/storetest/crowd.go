package storetest

// This file tests a store under many workers at once: no strand is ever held
// by two, and the commits of all of them have one order.

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

var crowdTests = []test{
	{"no lease goes to two", noTwo},
	{"commits of many strands have one order", oneOrder},
}

const (
	crowdRuns    = 6
	crowdStrands = 4
	crowdTurns   = 8
)

// ledger is what the workers of noTwo know of each other.
type ledger struct {
	mu     sync.Mutex
	holder map[string]agent.Lease // strand by run, while it is held
	turns  map[string]uint64
	left   atomic.Int64 // turns that are still to be made
}

func (l *ledger) take(lease agent.Lease) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := string(lease.Run) + "/" + string(lease.Strand)
	if held, two := l.holder[key]; two {
		return fmt.Errorf("%s is held by two: %+v and %+v", key, held, lease)
	}
	if lease.Turn != l.turns[key] {
		return fmt.Errorf("%s is at turn %d, %d turns were made", key, lease.Turn, l.turns[key])
	}
	l.holder[key] = lease
	return nil
}

// give is called before the release is committed: after it another may hold it.
func (l *ledger) give(lease agent.Lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := string(lease.Run) + "/" + string(lease.Strand)
	delete(l.holder, key)
	l.turns[key]++
}

func noTwo(b *bed) {
	book := &ledger{holder: map[string]agent.Lease{}, turns: map[string]uint64{}}
	book.left.Store(crowdRuns * crowdStrands * crowdTurns)
	var all []agent.RunID
	for range crowdRuns {
		run := agent.RunID(agent.NewID())
		wakes := wake{}
		for s := range crowdStrands {
			wakes[agent.TaskStrand(agent.TaskID(strconv.Itoa(s)))] = agent.AtOnce
		}
		b.commit(agent.Commit{Run: run, Events: []agent.Event{opens()}, Wake: wakes})
		all = append(all, run)
	}
	handles := []Store{b.Store}
	if b.Replicas {
		handles = append(handles, b.Beside(b.T))
	}
	b.together(24, func(ctx context.Context, i int) error { return book.work(ctx, handles[i%len(handles)]) })
	for _, run := range all {
		if got, want := len(b.read(run, 0)), 1+crowdStrands*crowdTurns; got != want {
			b.Errorf("run %s has %d events, want %d", run, got, want)
		}
	}
	b.idle("")
}

// work makes turns until none is left. A strand is released at once until its
// last turn, and parked then.
func (l *ledger) work(ctx context.Context, s Store) error {
	for l.left.Load() > 0 {
		leases, err := s.Claim(ctx, 2, 20*time.Millisecond, "")
		if err != nil {
			return err
		}
		for _, lease := range leases {
			if err := l.take(lease); err != nil {
				return err
			}
			until := agent.AtOnce
			if lease.Turn == crowdTurns-1 {
				until = agent.Parked
			}
			l.give(lease)
			_, err := s.Commit(ctx, agent.Commit{
				ID: agent.NewID(), Run: lease.Run, Lease: &lease, Seen: agent.SeenAll,
				Events: []agent.Event{say(lease.Strand, "turn %d", lease.Turn)}, Wake: wake{lease.Strand: until},
			})
			if err != nil {
				return err
			}
			l.left.Add(-1)
		}
	}
	return nil
}

func oneOrder(b *bed) {
	const writers, each = 12, 10
	run := b.start()
	handles := []Store{b.Store, b.Beside(b.T)}
	receipts := make([][each]agent.Receipt, writers)
	b.together(writers, func(ctx context.Context, i int) error {
		strand := agent.TaskStrand(agent.TaskID(strconv.Itoa(i)))
		for j := range each {
			r, err := handles[i%2].Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{say(strand, "%d/%d", i, j), say(strand, "%d/%d end", i, j)}})
			if err != nil {
				return err
			}
			receipts[i][j] = r
		}
		return nil
	})
	events := b.read(run, 0)
	if len(events) != 1+2*writers*each {
		b.Fatalf("%d events, want %d", len(events), 1+2*writers*each)
	}
	var last time.Time
	for i, e := range events {
		if e.Seq != uint64(i+1) || e.At.Before(last) {
			b.Fatalf("entry %d: seq %d of %v after %v", i+1, e.Seq, e.At, last)
		}
		last = e.At
	}
	for i := range receipts {
		b.ownEntries(events, i, receipts[i][:])
	}
}

// ownEntries wants each receipt of a writer to point at what it committed, in
// the order of its commits.
func (b *bed) ownEntries(events []agent.Event, i int, receipts []agent.Receipt) {
	b.Helper()
	for j, r := range receipts {
		if r.Seq < 3 || r.Seq > uint64(len(events)) {
			b.Fatalf("receipt %+v", r)
		}
		first, end := events[r.Seq-2], events[r.Seq-1]
		if text(first) != fmt.Sprintf("%d/%d", i, j) || text(end) != fmt.Sprintf("%d/%d end", i, j) || !end.At.Equal(r.At) {
			b.Fatalf("receipt %+v of %d/%d points at %q, %q", r, i, j, text(first), text(end))
		}
		if j > 0 && r.Seq <= receipts[j-1].Seq {
			b.Fatalf("writer %d: %+v after %+v", i, r, receipts[j-1])
		}
	}
}
