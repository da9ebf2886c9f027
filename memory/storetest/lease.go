package storetest

// Leases, which end.

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// These run with short leases: what they assert holds however late the test
// itself is, because nothing steals a lease but a claim of their own.
var leaseTests = []test{
	{"an expired lease goes to the next", expires},
	{"extend keeps a lease", extends},
	{"extend reports what is lost", extendLost},
	{"a commit keeps the lease for another lease time", commitExtends},
	{"a restart loses no turn and no epoch", restartFences},
}

func expires(b *bed) {
	run, old := b.leased()
	next := b.soonDue(run, patience)
	if held := next.At.Sub(old.At); held < b.lease-time.Millisecond || held > b.lease+soon {
		b.Errorf("claimed again after %v, want a lease time of %v", held, b.lease)
	}
	if next.Strand != agent.Main || next.Epoch != old.Epoch+1 || next.Turn != old.Turn {
		b.Fatalf("claimed %+v after %+v, want the next epoch and the same turn", next, old)
	}
	b.refused(agent.Commit{Run: run, Lease: &old, Seen: 1, Events: []agent.Event{say(agent.Main, "late")}}, agent.ErrConflict)
	b.commit(agent.Commit{Run: run, Lease: &next, Seen: 1, Events: []agent.Event{say(agent.Main, "good")}, Wake: wake{agent.Main: agent.Parked}})
	b.refused(agent.Commit{Run: run, Lease: &old, Seen: 1, Events: []agent.Event{say(agent.Main, "late")}}, agent.ErrConflict)
	b.texts(run, "good")
}

func extends(b *bed) {
	run, lease := b.leased()
	var last time.Time
	for range 4 {
		last = time.Now()
		if lost, err := b.Store.Extend(b.Context(), []agent.Lease{lease}); err != nil || len(lost) != 0 {
			b.Fatalf("extend: lost %+v, %v", lost, err)
		}
		// Not due within half a lease from now: Claim itself is the wait.
		if got, err := b.Store.Claim(b.Context(), 1, b.lease/2, run); err != nil || len(got) != 0 && time.Since(last) < b.lease {
			b.Fatalf("claimed %+v, %v; %v after it was extended", got, err, time.Since(last))
		} else if len(got) != 0 {
			lease = got[0] // the machine stood still for a whole lease
		}
	}
	next := b.soonDue(run, patience)
	if next.At.Before(last.Add(b.lease-time.Millisecond)) || next.Epoch != lease.Epoch+1 || next.Turn != lease.Turn {
		b.Fatalf("claimed %+v; extended last at %v", next, last)
	}
}

func extendLost(b *bed) {
	run, old := b.leased()
	next := b.soonDue(run, patience)
	kept, released := b.start(), b.start()
	held, done := b.claim(kept, agent.Main), b.claim(released, agent.Main)
	b.commit(agent.Commit{Run: released, Lease: &done, Seen: 1, Wake: wake{agent.Main: agent.Parked}})
	none := agent.Lease{Run: "no-such-run", Strand: agent.Main, Epoch: 1}
	lost, err := b.Store.Extend(b.Context(), []agent.Lease{old, held, done, none})
	if err != nil || len(lost) != 3 || lost[0] != old || lost[1] != done || lost[2] != none {
		b.Fatalf("lost %+v, %v; want the expired, the released and the unknown", lost, err)
	}
	b.commit(agent.Commit{Run: run, Lease: &next, Seen: 1})
	b.commit(agent.Commit{Run: kept, Lease: &held, Seen: 1})
	b.idle(released)
}

func commitExtends(b *bed) {
	run, lease := b.leased()
	if got, err := b.Store.Claim(b.Context(), 1, b.lease/2, run); err != nil {
		b.Fatal(err)
	} else if len(got) > 0 {
		lease = got[0]
	}
	r := b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "step")}})
	next := b.soonDue(run, patience)
	if held := next.At.Sub(r.At); held < b.lease-time.Millisecond || held > b.lease+soon {
		b.Fatalf("claimed again %v after the commit, want a lease time of %v", held, b.lease)
	}
	if next.Turn != lease.Turn+1 {
		b.Fatalf("lease %+v, want the turn after %d", next, lease.Turn)
	}
}

func restartFences(b *bed) {
	run, old := b.leased()
	b.commit(agent.Commit{Run: run, Lease: &old, Seen: 1, Events: []agent.Event{say(agent.Main, "step")}})
	b.Store = b.Reopen(b.T)
	next := b.soonDue(run, patience)
	if next.Epoch <= old.Epoch || next.Turn != old.Turn+1 {
		b.Fatalf("lease %+v after %+v and a restart", next, old)
	}
	old.Turn++
	b.refused(agent.Commit{Run: run, Lease: &old, Seen: 2, Events: []agent.Event{say(agent.Main, "late")}}, agent.ErrConflict)
}
