package storetest

// This file tests what a store keeps beside journals: the list of runs,
// snapshots and artifacts; and that waiting for a journal to grow ends in
// time.

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

var archiveTests = []test{
	{"runs are listed, the newest first", runs},
	{"the newest snapshot is kept", snapshots},
	{"artifacts are kept by content", blobs},
	{"artifacts go with their run", expiredBlobs},
	{"await returns when the journal grows", await},
	{"await a word", awaitWord},
	{"await ends with its context", awaitEnds},
}

func runs(b *bed) {
	if all, err := b.Store.Runs(b.Context(), agent.RunFilter{}); err != nil || len(all) != 0 {
		b.Fatalf("runs of an empty store: %+v, %v", all, err)
	}
	var order []agent.RunID
	for range 4 {
		b.later()
		run := agent.RunID(agent.NewID())
		b.commit(agent.Commit{Run: run, Events: []agent.Event{opens(), say(agent.Main, "b")}})
		order = append(order, run)
	}
	b.commit(agent.Commit{Run: order[0], Events: []agent.Event{say(agent.Main, "news do not make a run newer")}})
	all, err := b.Store.Runs(b.Context(), agent.RunFilter{})
	if err != nil || len(all) != 4 {
		b.Fatalf("runs: %+v, %v; want 4", all, err)
	}
	for i, info := range all {
		want := order[3-i]
		events := b.read(want, 0)
		if info.Run != want || info.Length != uint64(len(events)) || !info.Started.Equal(events[0].At) || !info.Ended.IsZero() {
			b.Errorf("place %d: %+v, want %s with %d events since %v", i, info, want, len(events), events[0].At)
		}
	}
}

func snapshots(b *bed) {
	run := b.start()
	want := func(seq uint64, data string) {
		b.Helper()
		gotSeq, got, err := b.Store.Snapshot(b.Context(), run)
		if err != nil || gotSeq != seq || string(got) != data {
			b.Fatalf("snapshot: %d, %q, %v; want %d, %q", gotSeq, got, err, seq, data)
		}
	}
	keep := func(seq uint64, data string) {
		b.Helper()
		if err := b.Store.KeepSnapshot(b.Context(), run, seq, []byte(data)); err != nil {
			b.Fatal(err)
		}
	}
	want(0, "")
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "2"), say(agent.Main, "3"), say(agent.Main, "4")}})
	keep(3, "three \x00\xff")
	want(3, "three \x00\xff")
	keep(2, "two")
	want(3, "three \x00\xff")
	keep(4, "four")
	want(4, "four")
	run = b.start()
	want(0, "")
}

func blobs(b *bed) {
	const hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // printf hello | sha256sum
	run := b.start()
	other := b.Beside(b.T)
	for i, s := range []Store{b.Store, b.Store, other} {
		if hash, err := s.PutBlob(b.Context(), run, []byte("hello")); err != nil || hash != hello {
			b.Fatalf("put %d: %q, %v; want %s", i, hash, err, hello)
		}
	}
	big := bytes.Repeat([]byte("0123456789\x00\xff"), 100_000)
	b.blob(b.Store, run, b.put(run, big), string(big))
	b.blob(other, run, b.put(run, big), string(big))
	b.blob(b.Store, run, hello, "hello")
	b.blob(b.Store, run, b.put(run, nil), "")
	b.noBlob(run, hello[:63]+"0")
	b.Log("a run that is not there has none")
	if hash, err := b.Store.PutBlob(b.Context(), "no-such-run", []byte("lost")); !errors.Is(err, agent.ErrNoRun) {
		b.Fatalf("put for a run that is not there: %q, %v; want ErrNoRun", hash, err)
	}
	b.noBlob("no-such-run", hello)
}

// expiredBlobs wants artifacts to go with their run, and with no other one that
// has the same content.
func expiredBlobs(b *bed) {
	old, young, living := b.start(), b.start(), b.start()
	shared, own := b.put(old, []byte("shared")), b.put(old, []byte("own"))
	for _, run := range []agent.RunID{young, living} {
		b.put(run, []byte("shared"))
	}
	first := b.commit(agent.Commit{Run: old, Ends: true, Events: []agent.Event{say(agent.Main, "over")}})
	b.later()
	second := b.commit(agent.Commit{Run: young, Ends: true, Events: []agent.Event{say(agent.Main, "over")}})
	b.blob(b.Store, old, own, "own")
	if n, err := b.Store.Expire(b.Context(), second.At); err != nil || n != 1 {
		b.Fatalf("expired %d, %v; want the one that ended at %v", n, err, first.At)
	}
	b.noBlob(old, own)
	b.noBlob(old, shared)
	b.blob(b.Store, young, shared, "shared")
	b.Log("put again meanwhile, by a run that goes on")
	b.put(living, []byte("shared"))
	if n, err := b.Store.Expire(b.Context(), second.At.Add(2*time.Millisecond)); err != nil || n != 1 {
		b.Fatalf("expired %d, %v", n, err)
	}
	b.noBlob(young, shared)
	b.blob(b.Beside(b.T), living, shared, "shared")
}

func (b *bed) put(run agent.RunID, data []byte) (hash string) {
	b.Helper()
	hash, err := b.Store.PutBlob(b.Context(), run, data)
	if err != nil {
		b.Fatal(err)
	}
	return hash
}

func (b *bed) blob(s Store, run agent.RunID, hash, want string) {
	b.Helper()
	if got, err := s.Blob(b.Context(), run, hash); err != nil || string(got) != want {
		b.Fatalf("artifact %s of %s: %d bytes, %v; want %d", hash, run, len(got), err, len(want))
	}
}

func (b *bed) noBlob(run agent.RunID, hash string) {
	b.Helper()
	if data, err := b.Store.Blob(b.Context(), run, hash); !errors.Is(err, agent.ErrNoBlob) {
		b.Fatalf("artifact %s of %s: %q, %v, want ErrNoBlob", hash, run, data, err)
	}
}

func await(b *bed) {
	run := b.start()
	other := b.Beside(b.T)
	writers := []Store{b.Store, other}
	for i := range 6 {
		watcher, writer := writers[i/2%2], writers[i%2]
		length := uint64(len(b.read(run, 0)))
		ctx, cancel := context.WithTimeout(b.Context(), patience)
		failed := make(chan error, 1)
		going := make(chan struct{})
		go func() {
			close(going)
			failed <- watcher.Await(ctx, run, length)
		}()
		<-going
		select {
		case err := <-failed:
			b.Fatalf("await %d returned before anything came: %v", i, err)
		default:
		}
		b.commit(agent.Commit{Run: b.start(), Events: []agent.Event{say(agent.Main, "elsewhere")}})
		began := time.Now()
		b.commitTo(writer, agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "here")}})
		if err := <-failed; err != nil || time.Since(began) > 2*soon {
			b.Fatalf("await %d: %v after %v", i, err, time.Since(began))
		}
		if err := watcher.Await(ctx, run, length); err != nil {
			b.Fatalf("await of what is there: %v", err)
		}
		cancel()
	}
}

func awaitWord(b *bed) {
	watcher := b.Beside(b.T)
	for _, word := range []agent.Body{
		agent.RunControlled{Word: agent.WordCancel, By: "terminal"},
		agent.CheckpointDecided{ID: "c", Decision: agent.DecideFinish, By: "terminal"},
	} {
		run := b.start()
		length := uint64(len(b.read(run, 0)))
		ctx, cancel := context.WithTimeout(b.Context(), patience)
		failed := make(chan error, 1)
		began := make(chan struct{})
		go func() {
			close(began)
			for { // other news may end it
				err := watcher.AwaitWord(ctx, run, length)
				events, readErr := watcher.Read(ctx, run, length)
				if err = errors.Join(err, readErr); err != nil || slices.ContainsFunc(events, func(e agent.Event) bool { return agent.IsWord(e.Body) }) {
					failed <- err
					return
				}
				length += uint64(len(events))
			}
		}()
		<-began
		b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "news")}})
		select {
		case err := <-failed:
			b.Fatalf("a word was noticed before it came: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
		said := time.Now()
		b.commit(agent.Commit{Run: run, Events: []agent.Event{{Strand: agent.Main, Body: word}}})
		if err := <-failed; err != nil || time.Since(said) > 2*soon {
			b.Fatalf("%s: %v after %v", word.Kind(), err, time.Since(said))
		}
		cancel()
	}
}

func awaitEnds(b *bed) {
	for _, run := range []agent.RunID{b.start(), "no-such-run"} {
		ctx, cancel := context.WithTimeout(b.Context(), 50*time.Millisecond)
		if err := b.Store.Await(ctx, run, 1); !errors.Is(err, context.DeadlineExceeded) {
			b.Fatalf("await %s: %v, want the context's error", run, err)
		}
		cancel()
	}
}
