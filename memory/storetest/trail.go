package storetest

// This file tests the trail: lines of the whole store that only grow, and
// journals read as they are kept.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/deckhand-bot/deckhand/agent"
)

var trailTests = []test{
	{"lines are appended behind the last one and nowhere else", trailGrows},
	{"of many writers one goes first", trailCrowd},
	{"its beginning is cut, and nothing else", trailCut},
	{"a journal is read as it is kept", trailKept},
}

func (b *bed) trail(s Store, after uint64, n int, want ...string) {
	b.Helper()
	got, err := s.ReadTrail(b.Context(), after, n)
	if err != nil || !slices.Equal(got, want) {
		b.Fatalf("%d lines of the trail behind %d: %q, %v; want %q", n, after, got, err, want)
	}
}

func trailGrows(b *bed) {
	b.trail(b.Store, 0, 10)
	beside := b.Beside(b.T)
	for i, lines := range [][]string{{"one"}, {"two", "three"}} {
		if err := beside.AppendTrail(b.Context(), uint64(i), lines); err != nil {
			b.Fatal(err)
		}
	}
	for _, after := range []uint64{0, 2, 4} {
		if err := b.Store.AppendTrail(b.Context(), after, []string{"four"}); !errors.Is(err, agent.ErrStale) {
			b.Fatalf("append behind line %d of 3: %v, want ErrStale", after, err)
		}
	}
	if end, err := b.Store.TrailEnd(b.Context()); err != nil || end != 3 {
		b.Fatalf("the trail ends at %d, %v; want 3", end, err)
	}
	b.trail(b.Store, 0, 10, "one", "two", "three")
	b.trail(b.Store, 1, 1, "two")
	b.trail(b.Store, 3, 1)
	b.trail(b.Reopen(b.T), 2, 10, "three")
}

func trailCrowd(b *bed) {
	var stale atomic.Int32
	b.together(8, func(ctx context.Context, i int) error {
		err := b.Store.AppendTrail(ctx, 0, []string{fmt.Sprint("first of ", i), fmt.Sprint("second of ", i)})
		if errors.Is(err, agent.ErrStale) {
			stale.Add(1)
			return nil
		}
		return err
	})
	lines, err := b.Store.ReadTrail(b.Context(), 0, 10)
	if err != nil || len(lines) != 2 || stale.Load() != 7 {
		b.Fatalf("the trail: %q, %v, %d were late; want two lines of one writer", lines, err, stale.Load())
	}
}

func trailCut(b *bed) {
	if err := b.Store.CutTrail(b.Context(), 5); err != nil {
		b.Fatal("an empty trail is cut:", err)
	}
	if err := b.Store.AppendTrail(b.Context(), 0, []string{"one", "two", "three", "four"}); err != nil {
		b.Fatal(err)
	}
	for _, upto := range []uint64{2, 2, 1} {
		if err := b.Store.CutTrail(b.Context(), upto); err != nil {
			b.Fatal(err)
		}
	}
	b.trail(b.Store, 2, 10, "three", "four")
	if err := b.Store.AppendTrail(b.Context(), 4, []string{"five"}); err != nil {
		b.Fatal(err)
	}
	if err := b.Store.CutTrail(b.Context(), 99); err != nil { // the last line stays: it is the end
		b.Fatal(err)
	}
	if end, err := b.Store.TrailEnd(b.Context()); err != nil || end != 5 {
		b.Fatalf("the trail ends at %d, %v; want 5", end, err)
	}
	b.trail(b.Reopen(b.T), 4, 10, "five")
}

func trailKept(b *bed) {
	run := b.start()
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "a"), say(agent.Voice, "b")}})
	want := b.read(run, 0)
	got, err := b.Store.ReadKept(b.Context(), run, 0, 100)
	if err != nil || len(got) != len(want) {
		b.Fatalf("kept: %+v, %v; want %d entries", got, err, len(want))
	}
	for i, k := range got {
		body, err := agent.DecodeBody(k.Kind, k.Version, k.Body)
		if e := want[i]; err != nil || k.Seq != e.Seq || k.Strand != e.Strand || !k.At.Equal(e.At) || body.Kind() != e.Body.Kind() {
			b.Fatalf("entry %d is kept as %+v, %v; want %+v", i+1, k, err, e)
		}
	}
	keptInPart(b, run)
	b.Tamper(b.T, run, 2, "person.said", 1, `{"by":`)
	kept, err := b.Store.ReadKept(b.Context(), run, 0, 100)
	if err != nil || len(kept) != 3 || string(kept[1].Body) == string(got[1].Body) {
		b.Fatalf("a damaged entry is kept as %+v, %v", kept, err)
	}
}

// keptInPart reads parts of a run of three events.
func keptInPart(b *bed, run agent.RunID) {
	if some, err := b.Store.ReadKept(b.Context(), run, 1, 1); err != nil || len(some) != 1 || some[0].Seq != 2 {
		b.Fatalf("one entry behind 1: %+v, %v", some, err)
	}
	if none, err := b.Store.ReadKept(b.Context(), run, 3, 1); err != nil || len(none) != 0 {
		b.Fatalf("entries behind the last: %+v, %v", none, err)
	}
	if _, err := b.Store.ReadKept(b.Context(), "nobody", 0, 1); !errors.Is(err, agent.ErrNoRun) {
		b.Fatalf("entries of no run: %v, want ErrNoRun", err)
	}
}
