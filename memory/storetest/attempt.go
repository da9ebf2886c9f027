package storetest

// A commit that is sent twice is written once.

import (
	"context"
	"sync"

	"github.com/deckhand-bot/deckhand/agent"
)

var attemptTests = []test{
	{"a leased commit sent again is a success", leasedAgain},
	{"a fact sent again is a success", factAgain},
	{"the last commit of a run sent again is a success", endAgain},
	{"one attempt sent many times at once is written once", attemptCrowd},
}

// again sends a commit a second time and wants the first receipt.
func (b *bed) again(c agent.Commit, first agent.Receipt) {
	b.Helper()
	if r := b.commit(c); r.Seq != first.Seq || !r.At.Equal(first.At) {
		b.Fatalf("the same attempt again: receipt %+v, want %+v", r, first)
	}
}

func leasedAgain(b *bed) {
	run, lease := b.leased()
	c := agent.Commit{
		ID: agent.NewID(), Run: run, Lease: &lease, Seen: 1, Strict: true,
		Events: []agent.Event{say(agent.Main, "decision")}, Wake: wake{agent.Main: agent.Parked, "task/a": agent.AtOnce},
		Once: []string{"k"}, Spend: []agent.Spend{{Counter: "c", Nano: 6, Limit: 10}},
	}
	first := b.commit(c)
	// Stale, seen, over the limit and not its turn: the attempt is compared before all that.
	b.again(c, first)
	other := b.claim(run, "task/a")
	b.commit(agent.Commit{Run: run, Lease: &other, Seen: 2, Events: []agent.Event{say("task/a", "other strand")}})
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "fact")}, Wake: wake{agent.Main: agent.AtOnce}})
	b.again(c, first)
	// Another worker has the strand, and has not yet taken its turn.
	next := b.claim(run, agent.Main)
	b.again(c, first)
	b.texts(run, "decision", "other strand", "fact")
	b.spent("c", 6)

	c.ID = agent.NewID()
	b.refused(c, agent.ErrConflict)
	if next.Turn != lease.Turn+1 || next.Epoch != lease.Epoch+1 {
		b.Fatalf("next lease %+v after %+v, want the next turn and epoch", next, lease)
	}
}

func factAgain(b *bed) {
	run, lease := b.leased()
	c := agent.Commit{
		ID: agent.NewID(), Run: run, Events: []agent.Event{say(agent.Main, "fact"), say(agent.Voice, "second")},
		Wake: wake{agent.Main: agent.AtOnce}, Once: []string{"k"}, Spend: []agent.Spend{{Counter: "c", Nano: 6, Limit: 10}},
	}
	first := b.commit(c)
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 3, Events: []agent.Event{say(agent.Main, "decision")}, Wake: wake{agent.Main: agent.Parked}})
	for range 20 {
		b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "more")}})
	}
	b.again(c, first)
	if got := len(b.read(run, 0)); got != 24 {
		b.Fatalf("%d events, want 24", got)
	}
	b.spent("c", 6)
	b.idle(run)
}

func endAgain(b *bed) {
	run, lease := b.leased()
	c := agent.Commit{
		ID: agent.NewID(), Run: run, Lease: &lease, Seen: 1, Ends: true,
		Events: []agent.Event{say(agent.Main, "over")}, Wake: wake{agent.Voice: agent.AtOnce},
	}
	first := b.commit(c)
	b.again(c, first)
	b.texts(run, "over")
}

func attemptCrowd(b *bed) {
	run, lease := b.leased()
	leased := agent.Commit{ID: agent.NewID(), Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "x")}}
	fact := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{say(agent.Main, "x")}, Once: []string{"k"}}
	var mu sync.Mutex
	type place struct {
		seq uint64
		at  int64
	}
	receipts := map[place]int{}
	b.together(16, func(ctx context.Context, i int) error {
		c := leased
		if i%2 == 0 {
			c = fact
		}
		r, err := b.Store.Commit(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		receipts[place{r.Seq, r.At.UnixNano()}]++
		return err
	})
	b.texts(run, "x", "x")
	for r, n := range receipts {
		if n != 8 || r.seq != 2 && r.seq != 3 {
			b.Errorf("receipt %+v came %d times, want 8 of each commit's", r, n)
		}
	}
}
