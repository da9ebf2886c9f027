package storetest

// This file tests what remains of a run that ended: its voice and late facts
// go on, and once it expires, what belonged to it is gone.

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

var endTests = []test{
	{"an end drops all strands but voice", endDrops},
	{"facts and the voice go on after the end", afterEnd},
	{"expire removes what ended before", expire},
}

func endDrops(b *bed) {
	run := b.start()
	b.commit(agent.Commit{Run: run, Wake: wake{"task/a": agent.AtOnce, "task/b": time.Now().Add(time.Hour), agent.Voice: agent.Parked}})
	held := map[agent.StrandID]agent.Lease{}
	for _, l := range b.due(run) {
		held[l.Strand] = l
	}
	main, task := held[agent.Main], held["task/a"]
	r := b.commit(agent.Commit{
		Run: run, Lease: &main, Seen: 1, Ends: true,
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone}}},
		Wake:   wake{agent.Voice: agent.AtOnce},
	})
	b.refused(agent.Commit{Run: run, Lease: &task, Seen: 1, Events: []agent.Event{say("task/a", "late")}}, agent.ErrConflict)
	if lost, err := b.Store.Extend(b.Context(), []agent.Lease{main, task}); err != nil || len(lost) != 2 {
		b.Fatalf("extend: lost %+v, %v; want both", lost, err)
	}
	b.claim(run, agent.Voice)
	if info, ok := b.info(run); !ok || !info.Ended.Equal(r.At) || info.Length != 2 {
		b.Fatalf("run %+v, want it ended at %v with 2 events", info, r.At)
	}
}

func afterEnd(b *bed) {
	run, lease := b.leased()
	ended := b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Ends: true, Wake: wake{agent.Voice: agent.AtOnce}})
	voice := b.claim(run, agent.Voice)
	b.commit(agent.Commit{Run: run, Lease: &voice, Seen: 1, Events: []agent.Event{say(agent.Voice, "posted")}, Wake: wake{agent.Voice: agent.Parked}})
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "feedback")}, Wake: wake{agent.Voice: agent.AtOnce}})
	next := b.claim(run, agent.Voice)
	if next.Turn != voice.Turn+1 {
		b.Fatalf("lease %+v after %+v", next, voice)
	}
	b.texts(run, "posted", "feedback")
	b.Log("a second end changes nothing")
	b.commit(agent.Commit{Run: run, Ends: true})
	if info, _ := b.info(run); !info.Ended.Equal(ended.At) {
		b.Fatalf("ended at %v, want the first end %v", info.Ended, ended.At)
	}
}

func expire(b *bed) {
	old, young, living := b.start(), b.start(), b.start()
	for _, run := range []agent.RunID{old, young, living} {
		b.commit(agent.Commit{Run: run, Spend: []agent.Spend{
			{Counter: "run/" + string(run) + "/usd", Nano: 5}, {Counter: "run/" + string(run) + "x/usd", Nano: 6}, {Counter: "month/2026-01", Nano: 1},
		}})
		if err := b.Store.KeepSnapshot(b.Context(), run, 1, []byte("fold")); err != nil {
			b.Fatal(err)
		}
	}
	b.commit(agent.Commit{Run: old, Ends: true, Events: []agent.Event{say(agent.Main, "over")}, Wake: wake{agent.Voice: agent.AtOnce}})
	b.claim(old, agent.Voice)
	b.later()
	r := b.commit(agent.Commit{Run: young, Ends: true, Events: []agent.Event{say(agent.Main, "over")}})
	if n, err := b.Store.Expire(b.Context(), r.At); err != nil || n != 1 {
		b.Fatalf("expired %d, %v; want the one that ended before %v", n, err, r.At)
	}
	if _, err := b.Store.Read(b.Context(), old, 0); err == nil {
		b.Fatal("the expired run can still be read")
	}
	if _, ok := b.info(old); ok {
		b.Fatal("the expired run is still listed")
	}
	if seq, data, err := b.Store.Snapshot(b.Context(), old); seq != 0 || data != nil || err != nil {
		b.Fatalf("the expired run's snapshot: %d, %q, %v", seq, data, err)
	}
	b.spent("run/"+string(old)+"/usd", 0)
	b.spent("run/"+string(old)+"x/usd", 6)
	b.spent("month/2026-01", 3)
	for _, run := range []agent.RunID{young, living} {
		b.spent("run/"+string(run)+"/usd", 5)
		if seq, _, err := b.Store.Snapshot(b.Context(), run); seq != 1 || err != nil {
			b.Fatalf("snapshot of %s: %d, %v", run, seq, err)
		}
	}
	b.texts(young, "over")
	if n, err := b.Store.Expire(b.Context(), r.At.Add(2*time.Millisecond)); err != nil || n != 1 {
		b.Fatalf("expired %d, %v; want the second", n, err)
	}
	b.texts(living)
	b.idle(old)
}
