package storetest

// This file tests when strands become due: parked, at once or at a time, and
// again at once where news came before the release.

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

var wakeTests = []test{
	{"without an entry of its own a lease is kept", kept},
	{"parked waits until somebody wakes it", parked},
	{"at once is at once", atOnce},
	{"a future wake comes at its time", future},
	{"another strand gets the earlier time", earlier},
	{"a leased strand is left alone", leftAlone},
	{"a release with unseen events is due at once", unseen},
	{"a release by who saw more than there is, is due at once", lostEnd},
	{"a release by who saw all rests", seenAll},
	{"a strand that was never woken is not due", neverWoken},
}

func kept(b *bed) {
	run, lease := b.leased()
	for i := range uint64(3) {
		b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1 + i, Events: []agent.Event{say(agent.Main, "step")}})
		lease.Turn++
		b.idle(run)
	}
	b.texts(run, "step", "step", "step")
	b.Log("kept even with events that the holder has not seen")
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 0, Events: []agent.Event{say(agent.Main, "step")}})
	b.idle(run)
}

func parked(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "asked")}, Wake: wake{agent.Main: agent.Parked}})
	b.idle(run)
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "does not wake")}})
	b.idle(run)
	b.commit(agent.Commit{Run: run, Wake: wake{agent.Main: agent.Parked}})
	b.idle(run)
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "wakes")}, Wake: wake{agent.Main: agent.AtOnce}})
	next := b.claim(run, agent.Main)
	if next.Epoch != lease.Epoch+1 || next.Turn != lease.Turn+1 {
		b.Fatalf("lease %+v after %+v, want epoch and turn one higher", next, lease)
	}
}

func atOnce(b *bed) {
	run, lease := b.leased()
	if lease.Run != run || lease.Epoch == 0 || lease.Turn != 0 || time.Since(lease.At).Abs() > patience {
		b.Fatalf("first lease %+v", lease)
	}
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Wake: wake{agent.Main: agent.AtOnce, "task/a": agent.AtOnce, "task/b": time.Now().Add(-time.Hour)}})
	if got := b.due(run); len(got) != 3 {
		b.Fatalf("claimed %+v, want main, task/a and task/b", got)
	}
	b.Log("parking a strand that is due does not take it off the clock")
	run = b.start()
	b.commit(agent.Commit{Run: run, Wake: wake{agent.Main: agent.Parked}})
	b.claim(run, agent.Main)
}

func future(b *bed) {
	run, lease := b.leased()
	at := lease.At.Add(400 * time.Millisecond)
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Wake: wake{agent.Main: at}})
	next := b.soonDue(run, patience)
	// A millisecond for stores that keep no finer times.
	if next.At.Before(at.Add(-time.Millisecond)) || next.At.Sub(at) > soon {
		b.Fatalf("woken at %v, want it within %v after %v", next.At, soon, at)
	}
}

func earlier(b *bed) {
	hour := time.Now().Add(time.Hour)
	for name, tc := range map[string]struct {
		old, new time.Time
		due      bool
	}{
		"later than due":    {agent.AtOnce, hour, true},
		"earlier":           {hour, agent.AtOnce, true},
		"earlier, not now":  {hour.Add(time.Hour), hour, false},
		"parked, then due":  {agent.Parked, agent.AtOnce, true},
		"parked, then hour": {agent.Parked, hour, false},
		"due, then parked":  {agent.AtOnce, agent.Parked, true},
	} {
		b.Log(name)
		run := agent.RunID(agent.NewID())
		b.commit(agent.Commit{Run: run, Events: []agent.Event{opens()}, Wake: wake{"task/a": tc.old}})
		b.commit(agent.Commit{Run: run, Wake: wake{"task/a": tc.new}})
		if tc.due {
			b.claim(run, "task/a")
		} else {
			b.idle(run)
		}
	}
}

func leftAlone(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "fact")}, Wake: wake{agent.Main: agent.AtOnce}})
	b.idle(run)
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "decision in flight")}})
	lease.Turn++
	b.Log("what it was woken with was seen: the release stands")
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 3, Wake: wake{agent.Main: agent.Parked}})
	b.idle(run)
	b.texts(run, "fact", "decision in flight")
}

func unseen(b *bed) {
	for name, until := range map[string]time.Time{"parked": agent.Parked, "in an hour": time.Now().Add(time.Hour), "at once": agent.AtOnce} {
		b.Log(name)
		run, lease := b.leased()
		b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "fact")}, Wake: wake{agent.Main: agent.AtOnce}})
		b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "decided")}, Wake: wake{agent.Main: until}})
		next := b.claim(run, agent.Main)
		if next.Turn != 1 || next.Epoch != lease.Epoch+1 {
			b.Fatalf("lease %+v after %+v", next, lease)
		}
		b.Log("its own events are no news")
		b.commit(agent.Commit{Run: run, Lease: &next, Seen: 3, Events: []agent.Event{say(agent.Main, "own")}, Wake: wake{agent.Main: agent.Parked}})
		b.idle(run)
	}
}

// lostEnd releases as a worker does whose newest commits the store has lost.
func lostEnd(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 7, Events: []agent.Event{say(agent.Main, "decided")}, Wake: wake{agent.Main: agent.Parked}})
	next := b.claim(run, agent.Main)
	b.Log("and no decision is taken for what it did not see")
	b.refused(agent.Commit{Run: run, Lease: &next, Seen: 7, Strict: true, Events: []agent.Event{say(agent.Main, "no")}}, agent.ErrStale)
	b.commit(agent.Commit{Run: run, Lease: &next, Seen: 2, Wake: wake{agent.Main: agent.Parked}})
	b.idle(run)
}

func seenAll(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "fact")}})
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: agent.SeenAll, Strict: true, Wake: wake{agent.Main: agent.Parked}})
	b.idle(run)
}

func neverWoken(b *bed) {
	run := agent.RunID(agent.NewID())
	b.commit(agent.Commit{Run: run, Events: []agent.Event{opens(), say(agent.Main, "for main"), say("task/a", "for a task")}})
	b.idle(run)
}
