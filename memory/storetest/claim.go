package storetest

// This file tests how workers claim strands: each due strand once, at most as
// many as asked for, and soon after a commit makes one due.

import (
	"context"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

var claimTests = []test{
	{"runs that need a newer build are left to it", newerRuns},
	{"nothing due is no error", nothingDue},
	{"takes at most n, and all in the end", atMost},
	{"only one run's strands", onlyRun},
	{"a lease knows the journal's newest event", leaseHead},
	{"a commit wakes a waiting claim", wakesClaim},
	{"a commit beside wakes a waiting claim", wakesBeside},
	{"a release wakes a waiting claim", releaseWakes},
	{"a lease knows when it was given", leaseSince},
	{"ends with its context", claimEnds},
	{"another handle claims or says that it cannot", claimBeside},
}

func nothingDue(b *bed) {
	began := time.Now()
	for _, wait := range []time.Duration{0, 50 * time.Millisecond} {
		if got, err := b.Store.Claim(b.Context(), 5, wait, ""); err != nil || len(got) != 0 {
			b.Fatalf("claimed %+v, %v", got, err)
		}
	}
	if took := time.Since(began); took < 50*time.Millisecond || took > patience {
		b.Fatalf("waited %v, want about 50 ms", took)
	}
	if got, err := b.Store.Claim(b.Context(), 0, 0, b.start()); err != nil || len(got) != 0 {
		b.Fatalf("claim of none: %+v, %v", got, err)
	}
}

func atMost(b *bed) {
	var order []agent.RunID
	for range 7 {
		order = append(order, b.start())
	}
	var got []agent.RunID
	// A store may give fewer than it has, but never nothing while something is due.
	for {
		leases, err := b.Store.Claim(b.Context(), 3, 0, "")
		if err != nil || len(leases) > 3 {
			b.Fatalf("claim of 3: %+v, %v", leases, err)
		}
		if len(leases) == 0 {
			break
		}
		for _, l := range leases {
			got = append(got, l.Run)
		}
	}
	if len(got) != len(order) {
		b.Fatalf("claimed %d strands, want %d", len(got), len(order))
	}
	seen := map[agent.RunID]bool{}
	for _, run := range got {
		seen[run] = true
	}
	if len(seen) != len(order) {
		b.Fatalf("claimed %v, want each of %v", got, order)
	}
	b.idle("")
}

func onlyRun(b *bed) {
	one, two := b.start(), b.start()
	if got, err := b.Store.Claim(b.Context(), 10, 0, two); err != nil || len(got) != 1 || got[0].Run != two {
		b.Fatalf("claimed %+v, %v; want only %s", got, err, two)
	}
	b.idle(two)
	b.Log("a due strand of another run does not end the wait")
	if got, err := b.Store.Claim(b.Context(), 10, 50*time.Millisecond, two); err != nil || len(got) != 0 {
		b.Fatalf("claimed %+v, %v", got, err)
	}
	b.claim(one, agent.Main)
}

// leaseSince wants the time of the giving, however long the claim waited for it.
func leaseSince(b *bed) {
	for range 3 {
		run := agent.RunID(agent.NewID())
		var before time.Time
		l := b.waiting("", run, func() {
			before = time.Now()
			b.commit(agent.Commit{Run: run, Events: []agent.Event{opens()}, Wake: wake{agent.Main: agent.AtOnce}})
		})
		// A claim may be on its way when the commit overtakes it.
		if l.Since.Before(before.Add(-soon)) || l.Since.After(time.Now()) {
			b.Fatalf("given at %v; the strand became due after %v", l.Since, before)
		}
	}
}

func leaseHead(b *bed) {
	run := b.start()
	for _, only := range []agent.RunID{run, ""} {
		head := b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "news")}, Wake: wake{agent.Main: agent.AtOnce}})
		got, err := b.Store.Claim(b.Context(), 1, patience, only)
		if err != nil || len(got) != 1 || got[0].Head.Seq != head.Seq || !got[0].Head.At.Equal(head.At) {
			b.Fatalf("claimed %+v, %v; the newest event is %+v", got, err, head)
		}
		b.commit(agent.Commit{Run: run, Lease: &got[0], Seen: head.Seq, Wake: wake{agent.Main: agent.Parked}})
	}
}

type claimed struct {
	leases []agent.Lease
	err    error
	after  time.Duration
}

// waiting claims from the store while do runs, and wants one lease of the run
// well before the wait is over.
func (b *bed) waiting(only, run agent.RunID, do func()) agent.Lease {
	b.Helper()
	got := make(chan claimed, 1)
	going := make(chan struct{})
	go func() {
		close(going)
		began := time.Now()
		leases, err := b.Store.Claim(b.Context(), 3, patience, only)
		got <- claimed{leases, err, time.Since(began)}
	}()
	<-going
	do()
	c := <-got
	if c.err != nil || len(c.leases) != 1 || c.leases[0].Run != run {
		b.Fatalf("claimed %+v, %v; want one lease of %s", c.leases, c.err, run)
	}
	if c.after > 2*soon {
		b.Fatalf("woken after %v", c.after)
	}
	return c.leases[0]
}

func wakesClaim(b *bed) {
	for i := range 20 {
		run := agent.RunID(agent.NewID())
		only := run
		if i%2 == 0 {
			only = ""
		}
		b.waiting(only, run, func() {
			b.commit(agent.Commit{Run: run, Events: []agent.Event{opens()}, Wake: wake{agent.Main: agent.AtOnce}})
		})
	}
}

func wakesBeside(b *bed) {
	other := b.Beside(b.T)
	for range 5 {
		run := agent.RunID(agent.NewID())
		b.waiting("", run, func() {
			b.commitTo(other, agent.Commit{Run: run, Events: []agent.Event{opens()}, Wake: wake{agent.Main: agent.AtOnce}})
		})
	}
}

func releaseWakes(b *bed) {
	run, lease := b.leased()
	next := b.waiting("", run, func() {
		b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "again")}, Wake: wake{agent.Main: agent.AtOnce}})
	})
	b.waiting(run, run, func() {
		b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "news")}, Wake: wake{agent.Main: agent.AtOnce}})
		b.commit(agent.Commit{Run: run, Lease: &next, Seen: 2, Wake: wake{agent.Main: agent.Parked}})
	})
}

func claimEnds(b *bed) {
	ctx, cancel := context.WithCancel(b.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := b.Store.Claim(ctx, 1, time.Hour, "")
		failed <- err
	}()
	cancel()
	select {
	case err := <-failed:
		if !errors.Is(err, context.Canceled) {
			b.Fatalf("claim: %v, want the context's error", err)
		}
	case <-time.After(patience):
		b.Fatal("claim outlives its context")
	}
	b.Log("and loses nothing that it might have claimed")
	run := b.start()
	b.claim(run, agent.Main)
}

func claimBeside(b *bed) {
	run := b.start()
	got, err := b.Beside(b.T).Claim(b.Context(), 1, 0, run)
	if b.Replicas {
		if err != nil || len(got) != 1 {
			b.Fatalf("claimed %+v, %v", got, err)
		}
		b.idle(run)
		return
	}
	if err == nil || len(got) != 0 {
		b.Fatalf("claimed %+v, %v; want an error", got, err)
	}
	b.claim(run, agent.Main)
}

// newerRuns are in front of everything else that is due: they are neither
// claimed nor set back, and keep nobody from the rest.
func newerRuns(b *bed) {
	const many = 70 // more than one claim looks at
	var left []agent.RunID
	for range many {
		run := b.start()
		if before := b.Needs(b.T, run, agent.Generation+1); before != 0 {
			b.Fatalf("a plain run needs generation %d, want 0", before)
		}
		left = append(left, run)
	}
	fenced := agent.RunID(agent.NewID())
	b.commit(agent.Commit{
		Run: fenced, Wake: wake{agent.Main: agent.AtOnce},
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "test", Requester: "ann", Reviewers: []string{"bob"}}}},
	})
	b.commit(agent.Commit{Run: fenced, Events: []agent.Event{say(agent.Main, "a word")}})
	plain := b.start()
	for _, run := range left {
		b.idle(run)
		b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "a word")}, Wake: wake{agent.Main: agent.AtOnce, "task/a": agent.AtOnce}})
		b.texts(run, "a word")
	}
	got := map[agent.RunID]bool{}
	for range 2 {
		leases, err := b.Store.Claim(b.Context(), 1, patience, "")
		if err != nil || len(leases) != 1 {
			b.Fatalf("claimed %+v, %v; want one lease", leases, err)
		}
		got[leases[0].Run] = true
	}
	if !got[fenced] || !got[plain] {
		b.Fatalf("claimed %v, want %s and %s", got, fenced, plain)
	}
	if before := b.Needs(b.T, fenced, agent.Generation); before != agent.Needs([]agent.Event{{Body: agent.RunStarted{Reviewers: []string{"bob"}}}}) {
		b.Fatalf("a run with reviewers needs generation %d", before)
	}
	b.Needs(b.T, left[0], agent.Generation) // as a build that knows it sees it
	if due := b.due(left[0]); len(due) != 2 {
		b.Fatalf("claimed %+v, want what was due all the time", due)
	}
}
