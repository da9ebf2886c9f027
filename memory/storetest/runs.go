package storetest

// What a listing of runs says.

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// These are of what a listing of runs says besides its order (archive.go).
var runsTests = []test{
	{"a run's last is the stamp of its newest event", lastEvent},
	{"a run's due is the earliest of its strands", earliestDue},
	{"a parked run is never due", parkedDue},
	{"a leased strand is due now", leasedDue},
	{"the voice makes no run due", voiceDue},
	{"an ended run is never due", endedDue},
}

// runsLeaseTests run with short leases.
var runsLeaseTests = []test{
	{"a strand whose worker is gone is due since the lease's end", goneDue},
}

// lists wants Runs to say when the run's newest event was, and that it is due
// between the two times; to zero is now, both zero: not at all. A microsecond
// is for stores that keep no finer times.
func (b *bed) lists(run agent.RunID, last, from, to time.Time) {
	b.Helper()
	info, ok := b.info(run)
	if to.IsZero() && !from.IsZero() {
		to = b.clock()
	}
	if !ok || !info.Last.Equal(last) {
		b.Fatalf("run %+v, want its last event at %v", info, last)
	}
	if from.IsZero() != info.Due.IsZero() || info.Due.Before(from.Add(-time.Microsecond)) && !from.IsZero() || info.Due.After(to) {
		b.Fatalf("run %+v, want it due from %v to %v", info, from, to)
	}
}

// clock is the store's.
func (b *bed) clock() time.Time {
	b.Helper()
	return b.commit(agent.Commit{Run: agent.RunID(agent.NewID()), Events: []agent.Event{say(agent.Main, "what time is it")}}).At
}

func lastEvent(b *bed) {
	run, lease := b.leased()
	for range 3 {
		b.later()
		r := b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "one"), say("task/a", "two")}})
		b.later()
		b.commit(agent.Commit{Run: run, Wake: wake{"task/a": agent.AtOnce}})
		info, _ := b.info(run)
		if !info.Last.Equal(r.At) {
			b.Fatalf("run %+v, want its last event at %v", info, r.At)
		}
	}
	b.later()
	r := b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 7, Events: []agent.Event{say(agent.Main, "decided")}, Wake: wake{agent.Main: agent.Parked}})
	if events := b.read(run, 0); !events[len(events)-1].At.Equal(r.At) {
		b.Fatalf("the newest event is %+v, want it at %v", events[len(events)-1], r.At)
	}
	if info, _ := b.info(run); !info.Last.Equal(r.At) {
		b.Fatalf("run %+v, want its last event at %v", info, r.At)
	}
}

func earliestDue(b *bed) {
	run := agent.RunID(agent.NewID())
	opened := b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "opens")}}).At
	b.lists(run, opened, time.Time{}, time.Time{})
	in := opened.Add
	for _, step := range []struct {
		strand agent.StrandID
		at     time.Time
		want   time.Time
	}{
		{"task/a", in(3 * time.Hour), in(3 * time.Hour)},
		{"task/b", in(4 * time.Hour), in(3 * time.Hour)},
		{"task/c", agent.Parked, in(3 * time.Hour)},
		{agent.Voice, in(time.Hour), in(3 * time.Hour)},
		{"task/b", in(2 * time.Hour), in(2 * time.Hour)},
	} {
		b.commit(agent.Commit{Run: run, Wake: wake{step.strand: step.at}})
		b.lists(run, opened, step.want, step.want)
	}
	before := b.clock()
	b.commit(agent.Commit{Run: run, Wake: wake{"task/c": agent.AtOnce}})
	b.later()
	b.lists(run, opened, before, time.Time{})
	b.Log("what has been due stays due since then")
	first, _ := b.info(run)
	b.later()
	if again, _ := b.info(run); !again.Due.Equal(first.Due) {
		b.Fatalf("run %+v after %+v, want it due since the same time", again, first)
	}
	b.Log("once it is worked, the earliest of the others")
	l := b.claim(run, "task/c")
	b.commit(agent.Commit{Run: run, Lease: &l, Seen: 1, Wake: wake{"task/c": agent.Parked}})
	b.lists(run, opened, in(2*time.Hour), in(2*time.Hour))
}

func parkedDue(b *bed) {
	run, lease := b.leased()
	r := b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "asked")}, Wake: wake{agent.Main: agent.Parked}})
	b.lists(run, r.At, time.Time{}, time.Time{})
	r = b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "does not wake")}})
	b.lists(run, r.At, time.Time{}, time.Time{})
	before := b.clock()
	r = b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "wakes")}, Wake: wake{agent.Main: agent.AtOnce}})
	b.lists(run, r.At, before, time.Time{})
}

func leasedDue(b *bed) {
	run, lease := b.leased()
	info, _ := b.info(run)
	b.lists(run, info.Started, lease.At.Add(-time.Millisecond), time.Time{})
	b.Log("also from another process, and after the lease was kept")
	r := b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "step")}})
	other, err := b.Beside(b.T).Runs(b.Context())
	if err != nil || len(other) == 0 {
		b.Fatalf("runs: %+v, %v", other, err)
	}
	now := b.clock()
	for _, o := range other {
		if o.Run == run && (!o.Last.Equal(r.At) || o.Due.IsZero() || o.Due.After(now)) {
			b.Fatalf("run %+v, want it due before %v", o, now)
		}
	}
	b.Log("a timer beside it is later")
	b.commit(agent.Commit{Run: run, Wake: wake{"task/a": now.Add(time.Hour)}})
	b.lists(run, r.At, lease.At.Add(-time.Millisecond), time.Time{})
}

func voiceDue(b *bed) {
	run, lease := b.leased()
	r := b.commit(agent.Commit{
		Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "asked")},
		Wake: wake{agent.Main: agent.Parked, agent.Voice: agent.AtOnce},
	})
	b.lists(run, r.At, time.Time{}, time.Time{})
	b.claim(run, agent.Voice)
	b.lists(run, r.At, time.Time{}, time.Time{})
}

func endedDue(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Wake: wake{"task/a": agent.AtOnce, "task/b": lease.At.Add(time.Hour)}})
	b.claim(run, "task/a")
	b.later()
	r := b.commit(agent.Commit{
		Run: run, Lease: &lease, Seen: 1, Ends: true, Wake: wake{agent.Voice: agent.AtOnce},
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone}}},
	})
	b.lists(run, r.At, time.Time{}, time.Time{})
	b.Log("an end without an event is no event")
	run = b.start()
	started, _ := b.info(run)
	b.later()
	b.commit(agent.Commit{Run: run, Ends: true})
	b.lists(run, started.Started, time.Time{}, time.Time{})
}

func goneDue(b *bed) {
	run, lease := b.leased()
	started, _ := b.info(run)
	end := lease.At.Add(b.lease)
	for now := lease.At; !now.After(end); now = b.clock() {
		b.lists(run, started.Started, lease.At.Add(-time.Millisecond), time.Time{})
		b.later()
	}
	b.lists(run, started.Started, end.Add(-time.Millisecond), end.Add(time.Millisecond))
	b.soonDue(run, patience)
	b.lists(run, started.Started, end, time.Time{})
}
