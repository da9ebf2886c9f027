package storetest

// What a listing of runs says.

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

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
	{"a filter lists what it names, in order", filters},
	{"a bounded list is as long as there are runs, while others end", boundedAmidEnds},
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
	return b.commit(agent.Commit{Run: agent.RunID(agent.NewID()), Events: []agent.Event{opens()}}).At
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
	opened := b.commit(agent.Commit{Run: run, Events: []agent.Event{opens()}}).At
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
	other, err := b.Beside(b.T).Runs(b.Context(), agent.RunFilter{})
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

// filters wants each filter to list just what it names, in the order of the
// contract, and to be counted.
func filters(b *bed) {
	const n = 9
	runs, ends := make([]agent.RunID, n), make([]time.Time, n)
	for i := range runs {
		b.later()
		runs[i] = b.start()
	}
	for _, i := range []int{6, 0, 3} { // the order of their ends is not that of their starts
		b.later()
		ends[i] = b.commit(agent.Commit{Run: runs[i], Ends: true, Events: []agent.Event{say(agent.Main, "over")}}).At
	}
	for name, tt := range map[string]struct {
		filter agent.RunFilter
		want   []int
		count  int
	}{
		"all":             {agent.RunFilter{}, []int{8, 7, 6, 5, 4, 3, 2, 1, 0}, n},
		"newest":          {agent.RunFilter{Most: 4}, []int{8, 7, 6, 5}, n},
		"live":            {agent.RunFilter{Live: true}, []int{8, 7, 5, 4, 2, 1}, 6},
		"newest live":     {agent.RunFilter{Live: true, Most: 3}, []int{8, 7, 5}, 6},
		"ended after one": {agent.RunFilter{EndedAfter: ends[6]}, []int{8, 7, 5, 4, 2, 1, 3, 0}, 8},
		"bounded":         {agent.RunFilter{EndedAfter: ends[6], Most: 7}, []int{8, 7, 5, 4, 2, 1, 3}, 8},
		"full of live":    {agent.RunFilter{EndedAfter: ends[6], Most: 6}, []int{8, 7, 5, 4, 2, 1}, 8},
		"ended long ago":  {agent.RunFilter{EndedAfter: ends[6].Add(-time.Hour)}, []int{8, 7, 5, 4, 2, 1, 3, 0, 6}, n},
		"ended later":     {agent.RunFilter{EndedAfter: ends[3]}, []int{8, 7, 5, 4, 2, 1}, 6},
		"some":            {agent.RunFilter{Only: []agent.RunID{runs[3], "no-such-run", runs[5]}}, []int{5, 3}, n},
		"some live":       {agent.RunFilter{Only: []agent.RunID{runs[3], runs[5]}, Live: true}, []int{5}, 6},
		"none":            {agent.RunFilter{Only: []agent.RunID{}}, nil, n},
	} {
		for _, s := range []Store{b.Store, b.Beside(b.T)} {
			list, err := s.Runs(b.Context(), tt.filter)
			if diff := cmp.Diff(tt.want, b.places(name, list, runs, ends)); diff != "" || err != nil {
				b.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
			}
			if count, err := s.CountRuns(b.Context(), tt.filter); err != nil || count != tt.count {
				b.Errorf("%s: counted %d, %v; want %d", name, count, err, tt.count)
			}
		}
	}
	b.Log("what expires is listed nowhere")
	if n, err := b.Store.Expire(b.Context(), ends[3].Add(time.Hour)); err != nil || n != 3 {
		b.Fatalf("expired %d, %v", n, err)
	}
	for _, f := range []agent.RunFilter{{}, {Live: true}, {EndedAfter: ends[6].Add(-time.Hour)}} {
		if list, err := b.Store.Runs(b.Context(), f); err != nil || len(list) != n-3 {
			b.Errorf("%+v lists %d, %v; want the living", f, len(list), err)
		}
	}
}

// places says which of the runs a list names, and wants it to tell their ends.
func (b *bed) places(name string, list []agent.RunInfo, runs []agent.RunID, ends []time.Time) (got []int) {
	b.Helper()
	for _, info := range list {
		i := slices.Index(runs, info.Run)
		got = append(got, i)
		if !info.Ended.Equal(ends[max(i, 0)]) || info.Started.IsZero() || info.Length == 0 {
			b.Errorf("%s: %+v", name, info)
		}
	}
	return got
}

// boundedAmidEnds lists the newest live run while newer ones begin and end: one
// that ends while the list is made leaves its place to the next.
func boundedAmidEnds(b *bed) {
	b.start() // lives on
	var listed atomic.Bool
	b.together(3, func(ctx context.Context, i int) error {
		if i > 0 {
			for !listed.Load() {
				run := agent.RunID(agent.NewID())
				for _, c := range []agent.Commit{{Events: []agent.Event{opens()}}, {Ends: true}} {
					c.ID, c.Run = agent.NewID(), run
					if _, err := b.Store.Commit(ctx, c); err != nil {
						return err
					}
				}
			}
			return nil
		}
		defer listed.Store(true)
		for n := range 300 {
			live, err := b.Store.Runs(ctx, agent.RunFilter{Live: true, Most: 1})
			if err != nil {
				return fmt.Errorf("list %d: %w", n, err)
			}
			if len(live) != 1 {
				return fmt.Errorf("list %d has %d live runs, want the newest", n, len(live))
			}
		}
		return nil
	})
}
