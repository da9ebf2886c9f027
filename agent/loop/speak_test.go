package loop_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop"
)

// board is a platform of the simplest kind: a list of posts. Faults are used
// up one a post.
type board struct {
	mu     sync.Mutex
	posts  []string
	shown  []agent.RunState
	faults []func(key string, b *board) agent.Result
	again  time.Duration // when a card wants to be looked at again
}

func (b *board) May(context.Context, agent.Run, agent.Post) (time.Duration, error) { return 0, nil }

func (b *board) Deadline(agent.Post) time.Duration { return time.Second }

func (b *board) Post(_ context.Context, _ agent.Run, p agent.Post, _ agent.Call) agent.Result {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.faults) > 0 {
		fault := b.faults[0]
		b.faults = b.faults[1:]
		return fault(p.Key, b)
	}
	b.posts = append(b.posts, p.Key)
	return b.done(p.Key)
}

func (b *board) done(key string) agent.Result {
	s := agent.Shown{Message: "test:w:c:" + key}
	if key == "card" || key == "watch/0/card" {
		s.Thread = "test:w:c:thread"
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: s.Text()}
}

func (b *board) Find(_ context.Context, _ agent.Run, p agent.Post, _ agent.ToolIntent) (bool, agent.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Contains(b.posts, p.Key), b.done(p.Key), nil
}

func (b *board) Show(_ context.Context, r agent.Run) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shown = append(b.shown, r.State())
	return b.again
}

func (b *board) seen() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.posts)
}

// The faults of a board.
func lostAfter(key string, b *board) agent.Result {
	b.posts = append(b.posts, key)
	return agent.Result{State: agent.OutcomeUnknown}
}

func lostBefore(string, *board) agent.Result { return agent.Result{State: agent.OutcomeUnknown} }

func busy(string, *board) agent.Result { return agent.Result{Again: 10 * time.Millisecond} }

func breaks(string, *board) agent.Result { panic("a defect of the platform's adapter") }

func TestVoicePostsOnce(t *testing.T) {
	for name, faults := range map[string][]func(string, *board) agent.Result{
		"nothing fails":            nil,
		"answers are lost":         {lostAfter, lostAfter, lostAfter, lostAfter},
		"requests are lost":        {lostBefore, lostBefore},
		"busy, then the answer is": {busy, lostAfter, busy, busy, lostBefore},
	} {
		t.Run(name, func(t *testing.T) {
			b := &board{faults: faults}
			tool := newNote("note", agent.ClassWrite, agent.RepeatIdempotent)
			h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.Poster = b }, tool)
			run := h.start(agent.RunStarted{ReplyTo: "test:w:c:", PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky, Expires: time.Hour})
			r := h.until(run, "the question is posted", func(r agent.Run) bool { return len(r.Shown) == 2 })
			ask := r.OpenCheckpoint()
			if err := h.decide(ask.ID, agent.DecideApprove); err != nil {
				t.Fatal(err)
			}
			r = h.until(run, "the report is posted", func(r agent.Run) bool { return r.Shown["report"].Message != "" })
			want := []string{"card", "ask/" + string(ask.ID), "close/" + string(ask.ID), "report"}
			if got := b.seen(); !slices.Equal(got, want) {
				t.Errorf("posted %q, want %q", got, want)
			}
			if r.Ended == nil || r.Thread() != "test:w:c:thread" || r.Spent.Tools != 1 {
				t.Errorf("the run: ended %v, thread %q, %d tool calls", r.Ended, r.Thread(), r.Spent.Tools)
			}
			if name, err := h.store.Value(t.Context(), agent.ThreadName("test:w:c:thread")); err != nil || name != string(run) {
				t.Errorf("the thread belongs to %q, %v; want %s", name, err, run)
			}
		})
	}
}

// An adapter that breaks down fails its post, and the run goes on.
func TestVoiceThatBreaks(t *testing.T) {
	b := &board{faults: []func(string, *board) agent.Result{breaks}}
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.Poster = b }, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{ReplyTo: "test:w:c:1", PlanApproval: agent.ApprovePlanNever})
	r := h.until(run, "the report is posted", func(r agent.Run) bool { return r.Shown["report"].Message != "" })
	if r.Shown["card"].Failed == "" || r.Ended.State != agent.RunDone {
		t.Errorf("the card: %+v; the run: %+v", r.Shown["card"], r.Ended)
	}
}

// A question that is opened while the card is on its way is posted at once.
func TestAskedDuringAPost(t *testing.T) {
	opened := make(chan struct{})
	slow := func(key string, b *board) agent.Result {
		<-opened
		b.posts = append(b.posts, key)
		return b.done(key)
	}
	b := &board{faults: []func(string, *board) agent.Result{slow}, again: time.Hour}
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.Poster = b }, newNote("note", agent.ClassWrite, agent.RepeatIdempotent))
	run := h.start(agent.RunStarted{ReplyTo: "test:w:c:", PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	r := h.until(run, "the question is open", func(r agent.Run) bool { return r.OpenCheckpoint() != nil })
	close(opened)
	h.until(run, "the question is posted", func(r2 agent.Run) bool {
		return r2.Shown["ask/"+string(r.OpenCheckpoint().ID)].Message != ""
	})
}

// Without a voice the strand waits for a process that has one.
func TestMute(t *testing.T) {
	h := open(t, noter("note", task("a", "note", nil)), nil, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{ReplyTo: "test:w:c:1", PlanApproval: agent.ApprovePlanNever})
	if r := h.ended(run); r.Ended.State != agent.RunDone || len(r.Shown) != 0 {
		t.Errorf("ended %+v, shown %v", r.Ended, r.Shown)
	}
	leases, err := h.store.Claim(t.Context(), 1, 5*time.Second, run)
	if err != nil || len(leases) != 1 || leases[0].Strand != agent.Voice {
		t.Errorf("what is due is %v, %v; want the voice", leases, err)
	}
}

// Files that came with a goal are there before the model is asked.
func TestFilesFirst(t *testing.T) {
	b := &board{faults: []func(string, *board) agent.Result{busy}}
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.Poster = b }, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{ReplyTo: "test:w:c:1", PlanApproval: agent.ApprovePlanNever,
		Files: []agent.Attachment{{ID: "F1", Name: "a.csv"}, {ID: "F2", Name: "b.csv"}}})
	h.ended(run)
	events, err := h.store.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	fetched := 0
	for _, e := range events {
		switch e.Body.(type) {
		case agent.ToolOutcome:
			fetched++
		case agent.ModelAsked:
			if fetched < 2 {
				t.Fatalf("the model was asked with %d of 2 files there", fetched)
			}
			return
		}
	}
	t.Fatal(fmt.Sprint("the model was never asked: ", len(events), " events"))
}

// A file that was fetched when the lease was gone is there all the same: the
// run begins.
func TestFileOfALostLease(t *testing.T) {
	h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) {
		c.Poster, c.Store = &board{}, &losing{Store: c.Store}
	}, newNote("note", agent.ClassRead, agent.RepeatRead))
	run := h.start(agent.RunStarted{ReplyTo: "test:w:c:1", PlanApproval: agent.ApprovePlanNever,
		Files: []agent.Attachment{{ID: "F1", Name: "a.csv"}}})
	if r := h.ended(run); r.Ended.State != agent.RunDone || r.Shown["file/0"] == (agent.Shown{}) {
		t.Errorf("ended %+v, shown %+v", r.Ended, r.Shown)
	}
}

// A run that is watched from another place shows its card and its report there.
func TestWatched(t *testing.T) {
	for name, home := range map[string]string{"a run of a thread": "test:w:c:1", "a run of the terminal": ""} {
		t.Run(name, func(t *testing.T) {
			b := &board{}
			h := open(t, noter("note", task("a", "note", nil)), func(c *loop.Config) { c.Poster = b }, newNote("note", agent.ClassWrite, agent.RepeatIdempotent))
			run := h.start(agent.RunStarted{ReplyTo: home, PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
			r := h.until(run, "the question is open", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
			_, err := h.store.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run,
				Events: []agent.Event{{Strand: agent.Main, Body: agent.RunWatched{Where: "other:w:c:", By: "other:1"}}},
				Wake:   map[agent.StrandID]time.Time{agent.Voice: agent.AtOnce}})
			if err != nil {
				t.Fatal(err)
			}
			h.until(run, "its card is there", func(r agent.Run) bool { return r.Shown["watch/0/card"].Message != "" })
			if err := h.decide(r.OpenCheckpoint().ID, agent.DecideApprove); err != nil {
				t.Fatal(err)
			}
			h.until(run, "its report is there", func(r agent.Run) bool { return r.Shown["watch/0/report"].Message != "" })
			r = h.until(run, "its own report is posted", func(r agent.Run) bool { return home == "" || r.Shown["report"].Message != "" })
			if _, posted := r.Shown["card"]; posted != (home != "") {
				t.Errorf("a card of its own: %v; its home is %q", posted, home)
			}
		})
	}
}
