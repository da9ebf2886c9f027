package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/card"
)

const lesson = "the disk is small: compress first"

// learner fails unless its prompt says how the goal failed before, and keeps
// what it was told.
type learner struct {
	mu     sync.Mutex
	briefs map[string]string // by run and purpose
	write  scripted
}

func newLearner() *learner {
	return &learner{briefs: map[string]string{}, write: noter("note", task("a", "note", nil))}
}

func (l *learner) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	brief := r.Messages[1].Content
	l.briefs[r.Run+" "+string(r.Purpose)] = brief
	return scripted(func(r llm.Request) llm.Message {
		switch {
		case r.Purpose == llm.Work && !strings.Contains(brief, lesson):
			return call("fail_task", map[string]any{"reason": "the disk is full, free: 12MB", "kind": "impossible"})
		case r.Purpose == llm.Report:
			return call("submit_report", map[string]any{"headline": "as far as it went", "body": "all noted", "lessons": []string{lesson}})
		}
		return l.write(r)
	}).Complete(ctx, r)
}

func (l *learner) told(run agent.RunID, p llm.Purpose) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.briefs[string(run)+" "+string(p)]
}

func (h *house) journal(run agent.RunID) []agent.Event {
	h.t.Helper()
	events, err := h.store.Read(h.t.Context(), run, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	return events
}

// again runs a goal of the channel to its end.
func (h *house) again(goal, channel string) agent.Run {
	h.t.Helper()
	brief := agent.RunStarted{Goal: goal, PlanApproval: agent.ApprovePlanNever, Unattended: true}
	if channel != "" {
		brief.ReplyTo = "test:w:" + channel + ":1"
	}
	return h.ended(h.start(brief))
}

func noting(t *testing.T, model llm.Model, change func(*loop.Config)) *house {
	t.Helper()
	return open(t, model, func(c *loop.Config) {
		c.Poster = &board{}
		if change != nil {
			change(c)
		}
	}, newNote("note", agent.ClassRead, agent.RepeatRead))
}

// What an earlier run failed of, and what it learnt, is there before the next
// one begins, and the next one does better.
func TestTheSecondTrialKnowsTheFirst(t *testing.T) {
	model := newLearner()
	h := noting(t, model, nil)
	first := h.again("Make a note", "c")
	if first.Ended.State != agent.RunFailed || first.Recalled != nil {
		t.Fatalf("the first run: %+v, recalled %+v", first.Ended, first.Recalled)
	}
	_, err := h.store.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: first.ID, Events: []agent.Event{
		{Strand: agent.Main, Body: agent.Feedback{Rating: -1, Comment: "no note", By: "slack:U1"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	second := h.again("  make a   NOTE. ", "c")
	if second.Ended.State != agent.RunDone {
		t.Errorf("the second run ended %+v", second.Ended)
	}
	for _, p := range []llm.Purpose{llm.Intake, llm.Work} {
		for _, want := range []string{"in 1 earlier run (" + string(first.ID), "the disk is full", lesson, "failed, rated -1: as far as it went", "with the comment: no note"} {
			if told := model.told(second.ID, p); !strings.Contains(told, want) {
				t.Errorf("%s does not say %q:\n%s", p, want, told)
			}
		}
	}
	var kinds []string
	for _, e := range h.journal(second.ID) {
		if e.Strand == agent.Main {
			kinds = append(kinds, string(e.Body.Kind()))
		}
	}
	if got := strings.Join(kinds[:4], " "); got != "run.started recalled finding model.asked" {
		t.Errorf("the journal begins with %s", got)
	}
	if f := second.Findings[0]; f.Rule != "L12" || !strings.Contains(f.Message, string(first.ID)) || !strings.Contains(f.Message, "Write note a") {
		t.Errorf("found %+v", f)
	}
}

func TestNothingIsRecalledAcrossAScopeOrOfWhatHasExpired(t *testing.T) {
	model := newLearner()
	h := noting(t, model, nil)
	h.again("Make a note", "c")
	for _, elsewhere := range []string{"d", ""} {
		r := h.again("Make a note", elsewhere)
		if r.Recalled != nil || len(r.Findings) > 0 || strings.Contains(model.told(r.ID, llm.Intake), "worked before") {
			t.Errorf("in %q it knows %+v", elsewhere, r.Recalled)
		}
	}
	if r := h.again("Make another note", "c"); r.Recalled != nil {
		t.Errorf("another goal knows %+v", r.Recalled)
	}
	if _, err := h.store.Expire(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if r := h.again("Make a note", "c"); r.Recalled != nil || r.Ended.State != agent.RunFailed {
		t.Errorf("of an expired run it knows %+v", r.Recalled)
	}
}

// Of many runs the newest count, in their order, and a report that was there
// word for word is noticed.
func TestTheNewestRunsAreRecalled(t *testing.T) {
	h := noting(t, noter("note", task("a", "note", nil)), nil)
	var runs []agent.RunID
	var last agent.Run
	for range 10 {
		last = h.again("Make a note", "c")
		runs = append(runs, last.ID)
	}
	var got []agent.RunID
	for _, e := range last.Recalled.Episodes {
		got = append(got, e.Run)
	}
	if !slices.Equal(got, runs[1:9]) {
		t.Errorf("recalled %v of %v", got, runs)
	}
	if len(last.Findings) != 1 || last.Findings[0].Rule != agent.RuleCopy || !strings.Contains(last.Findings[0].Message, string(runs[1])) {
		t.Errorf("found %+v", last.Findings)
	}
	if trend := card.Trend(last); !strings.HasSuffix(trend, "with this one 9 of 9 done") {
		t.Errorf("the trend is %q", trend)
	}
}

// A goal that comes every minute costs no more than one that comes every day.
func TestOldNamesOfAGoalAreGivenUp(t *testing.T) {
	h := noting(t, noter("note", task("a", "note", nil)), nil)
	brief := agent.RunStarted{Goal: "Make a note", ReplyTo: "test:w:c:1"}
	for i := range 100 {
		r := agent.Run{ID: agent.RunID(fmt.Sprint("run", i)), Brief: brief, Finished: time.UnixMilli(int64(i)), Ended: &agent.RunEnded{State: agent.RunFailed}}
		name, _ := agent.GoalName(r)
		if err := h.store.SetValue(t.Context(), name, string(r.ID)); err != nil {
			t.Fatal(err)
		}
	}
	last := h.again("Make a note", "c")
	names, err := h.store.Values(t.Context(), agent.GoalPrefix(brief))
	if err != nil {
		t.Fatal(err)
	}
	if newest := agent.Newest(names, 2); len(names) != 17 || newest[1].Run != last.ID || newest[0].Run != "run99" {
		t.Errorf("%d names are left, the newest of them %+v", len(names), newest)
	}
	if last.Recalled != nil {
		t.Errorf("of runs that are gone it knows %+v", last.Recalled)
	}
}

func TestMereAnswersAreNotRecalled(t *testing.T) {
	h := noting(t, scripted(func(llm.Request) llm.Message { return call("reply", map[string]any{"text": "four"}) }), nil)
	for range 2 {
		if r := h.again("What is 2+2?", ""); !r.Replied() || r.Recalled != nil {
			t.Errorf("ended %+v, recalled %+v", r.Ended, r.Recalled)
		}
	}
}

// shy is a store whose names cannot be read at first, and that has lost a run.
type shy struct {
	loop.Blobs
	agent.Store
	asked atomic.Int32
	lost  atomic.Pointer[agent.RunID]
	torn  atomic.Pointer[agent.RunID]
}

func (s *shy) Values(ctx context.Context, prefix string) (map[string]string, error) {
	if s.asked.Add(1) == 1 {
		return nil, errors.New("the store is away")
	}
	return s.Blobs.Values(ctx, prefix)
}

func (s *shy) Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	events, err := s.Store.Read(ctx, run, after)
	if id := s.lost.Load(); id != nil && *id == run {
		return nil, agent.ErrNoRun
	}
	if id := s.torn.Load(); id != nil && *id == run {
		return events[:len(events)-1], &agent.EntryError{Run: run, Seq: uint64(len(events)), Err: agent.ErrDamaged}
	}
	return events, err
}

func TestRecallSurvivesTheStore(t *testing.T) {
	var s *shy
	h := noting(t, noter("note", task("a", "note", nil)), func(c *loop.Config) {
		s = &shy{Blobs: c.Blobs, Store: c.Store}
		c.Blobs, c.Store, c.Poster = s, s, nil
	})
	first := h.again("Make a note", "")
	if n := s.asked.Load(); n != 2 {
		t.Errorf("the names were asked for %d times, want 2: the first look failed", n)
	}
	second := h.again("Make a note", "")
	if second.Recalled == nil || second.Recalled.Episodes[0].Run != first.ID {
		t.Fatalf("recalled %+v", second.Recalled)
	}
	s.lost.Store(&first.ID)
	s.torn.Store(&second.ID) // without its end nobody can tell how it went
	if r := h.again("Make a note", ""); r.Recalled != nil || r.Ended.State != agent.RunDone {
		t.Errorf("recalled %+v, ended %+v", r.Recalled, r.Ended)
	}
}
