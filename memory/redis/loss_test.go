package redis_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/fold"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// lossy is a server that loses the end of a run's journal while a worker goes
// on under its lease, with the folds that the worker keeps.
type lossy struct {
	*testing.T
	srv   *redistest.Server
	store *redis.Store
	folds *fold.Cache[fold.None]
	run   agent.RunID
	lease agent.Lease
}

// losing is a run of 7 events whose main strand is leased.
func losing(t *testing.T) *lossy {
	t.Helper()
	srv := redistest.Start(t, "--appendfsync", "always")
	s := open(t, redis.Config{URL: srv.URL, Lease: time.Minute})
	l := &lossy{T: t, srv: srv, store: s, run: agent.RunID(agent.NewID())}
	l.folds = l.cache()
	started := agent.Event{Strand: agent.Main, Body: agent.RunStarted{Goal: "test", Requester: "ann", ReplyTo: "slack:T:C:1"}}
	if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: l.run, Events: []agent.Event{started},
		Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}); err != nil {
		t.Fatal(err)
	}
	l.lease = claimOne(t, s, l.run, 0)
	for n := range 5 {
		l.fact(said(agent.Main, fmt.Sprint("before ", n)).Body)
	}
	l.fact(agent.CheckpointOpened{ID: "check", Ask: agent.CheckApproval, Title: "May I?", Choices: []string{"approve", "deny"}})
	return l
}

func (l *lossy) cache() *fold.Cache[fold.None] {
	return fold.New(fold.Config{Journals: l.store, Snapshots: l.store, Most: 8}, func() fold.None { return fold.None{} })
}

// fact appends what somebody else writes.
func (l *lossy) fact(b agent.Body) {
	l.Helper()
	c := agent.Commit{ID: agent.NewID(), Run: l.run, Events: []agent.Event{{Strand: agent.Main, Body: b}}}
	for { // the client may still hold a connection to the server that died
		_, err := l.store.Commit(l.Context(), c)
		if err == nil {
			return
		}
		if l.Context().Err() != nil {
			l.Fatal(err)
		}
	}
}

// approved appends the approval and two more, which the folds hear of.
func (l *lossy) approved() agent.Run {
	l.Helper()
	l.fact(agent.CheckpointDecided{ID: "check", Decision: agent.DecideApprove, By: "ann"})
	l.fact(said(agent.Main, "lost 9").Body)
	l.fact(said(agent.Main, "lost 10").Body)
	r, err := l.folds.Load(l.Context(), l.run)
	if err != nil || r.Seq != 10 || r.Checks["check"].Open() {
		l.Fatalf("folded to %d, %+v, %v", r.Seq, r.Checks, err)
	}
	return r
}

// decide commits a decision of the worker that was taken on the fold.
func (l *lossy) decide(r agent.Run, text string) (agent.Run, error) {
	events := []agent.Event{said(agent.Main, text)}
	receipt, err := l.store.Commit(l.Context(), agent.Commit{ID: agent.NewID(), Run: l.run, Lease: &l.lease,
		Seen: r.Seq, SeenAt: r.Last, Events: events})
	if err != nil {
		return r, err
	}
	l.lease.Turn++
	return l.folds.Advance(l.Context(), l.run, receipt, events, nil)
}

// same wants the fold to be that of the journal.
func (l *lossy) same(what string, got agent.Run) {
	l.Helper()
	events, err := l.store.Read(l.Context(), l.run, 0)
	if err != nil {
		l.Fatal(err)
	}
	text := func(r agent.Run) string {
		b, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			l.Fatal(err)
		}
		return string(b)
	}
	if diff := cmp.Diff(text(agent.Run{}.Fold(events)), text(got)); diff != "" {
		l.Errorf("%s (-journal +fold):\n%s", what, diff)
	}
}

// A decision that was taken on events that the server lost is not written: the
// approval behind it is not there. What is decided anew is, and no fold, no
// cache and no snapshot keeps the approval.
func TestNoDecisionOnALostApproval(t *testing.T) {
	l := losing(t)
	mark := l.srv.Written()
	r := l.approved()
	l.srv.LoseSince(mark)
	for try := range 4 { // as long as the journal is shorter, as long, and longer than the fold
		if _, err := l.decide(r, "acts on the approval"); !errors.Is(err, agent.ErrLost) {
			t.Fatalf("try %d: decided on a lost approval: %v", try, err)
		}
		l.fact(said(agent.Main, "written in the place of what was lost").Body)
	}
	r, err := l.folds.Load(t.Context(), l.run)
	if err != nil || !r.Checks["check"].Open() {
		t.Fatalf("the approval is still there: %+v, %v", r.Checks, err)
	}
	l.same("loaded", r)
	if r, err = l.decide(r, "decides anew"); err != nil {
		t.Fatal(err)
	}
	l.same("advanced", r)
}

// The fold that a process shares between strands may be ahead of the one that a
// decision was taken on: what it has beyond that may be lost, too.
func TestFoldAheadOfALostEnd(t *testing.T) {
	for others := range 5 { // entries that others write in the place of what was lost
		t.Run(fmt.Sprintf("%d by others", others), func(t *testing.T) {
			l := losing(t)
			r, err := l.folds.Load(t.Context(), l.run)
			if err != nil {
				t.Fatal(err)
			}
			mark := l.srv.Written()
			l.approved()
			l.srv.LoseSince(mark)
			for n := range others {
				l.fact(said(agent.Main, fmt.Sprint("by others ", n)).Body)
			}
			for n := range 4 { // the sequence in which the lost entries are passed
				if r, err = l.decide(r, fmt.Sprint("decision ", n)); err != nil {
					t.Fatal(err)
				}
				l.same("advanced", r)
			}
			loaded, err := l.folds.Load(t.Context(), l.run)
			if err != nil {
				t.Fatal(err)
			}
			l.same("loaded", loaded)
		})
	}
}

// A snapshot of what was lost is not believed, by no process.
func TestSnapshotBeyondALostEnd(t *testing.T) {
	l := losing(t)
	l.approved()
	for n := range 300 { // enough for a snapshot
		l.fact(said(agent.Main, fmt.Sprint("more ", n)).Body)
	}
	mark := l.srv.Written()
	for range 3 {
		l.fact(agent.RunControlled{Word: agent.WordPause, By: "ann"})
	}
	if _, err := l.folds.Load(t.Context(), l.run); err != nil {
		t.Fatal(err)
	}
	if err := l.folds.Keep(t.Context(), l.run); err != nil {
		t.Fatal(err)
	}
	seq, data, err := l.store.Snapshot(t.Context(), l.run)
	if err != nil || seq != 313 {
		t.Fatalf("snapshot at %d, %v", seq, err)
	}
	l.srv.LoseSince(mark)
	l.fact(said(agent.Main, "in the place of what was lost").Body)
	if err := l.store.KeepSnapshot(t.Context(), l.run, seq, data); err != nil { // by a worker that has not noticed
		t.Fatal(err)
	}
	for range 2 {
		r, err := l.cache().Load(t.Context(), l.run)
		if err != nil {
			t.Fatal(err)
		}
		l.same("restored", r)
		for range 4 {
			l.fact(said(agent.Main, "and further").Body)
		}
	}
}
