package recollect_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/recollect"
	"github.com/deckhand-bot/deckhand/agent/records"
)

// shelf is a memory that answers what it is made of.
type shelf struct {
	hits  []records.Hit
	err   error
	asked records.Query
}

func (s *shelf) Search(_ context.Context, q records.Query) ([]records.Hit, error) {
	s.asked = q
	return s.hits, s.err
}
func (s *shelf) Keep(context.Context, bool, ...records.Record) error { return s.err }
func (s *shelf) Forget(context.Context, records.Viewer, string) ([]records.Record, error) {
	return nil, s.err
}

func hit(id, text string, words, meaning float64, run agent.RunID) records.Hit {
	return records.Hit{Record: records.Record{ID: id, Kind: records.Fact, Scope: "channel:slack:T1:C1", Text: text, Source: records.Source{Run: run}},
		Score: words, Parts: records.Parts{Words: words, Meaning: meaning}}
}

// What bears on the work is told, as data of its trust: not what the run itself
// said, and not what shares a word by chance.
func TestBefore(t *testing.T) {
	t.Parallel()
	view := agent.Run{ID: "r1", Brief: agent.RunStarted{Goal: "call the harbour master", Requester: "slack:U1", ReplyTo: "slack:T1:C1:17.1"}}
	long := hit("m4", strings.Repeat("é", 700), 0.8, 0, "")
	long.Record.Trust = agent.Trusted
	proposed := hit("m5", "a procedure", 0.9, 0, "r0")
	proposed.Record.Kind = records.Skill
	s := &shelf{hits: []records.Hit{proposed, hit("m1", "his own", 0.9, 0, "r1"), long, hit("m2", "by chance", 0.1, 0.2, ""), hit("m3", "by meaning", 0, 0.7, "r0")}}
	list, scores, err := recollect.Before(t.Context(), s, &view, agent.Main, nil)
	if err != nil || len(list) != 2 || list[0].ID != "m4" || list[1].ID != "m3" || !slices.Equal(scores, []float64{0.8, 0}) {
		t.Fatalf("%+v %v %v", list, scores, err)
	}
	if list[0].Trust != agent.Trusted || list[1].Trust != agent.Untrusted || len([]rune(list[0].Text)) > 610 {
		t.Errorf("trust or length: %+v", list)
	}
	if q := s.asked; q.Viewer.Person != "slack:U1" || q.Viewer.Place != "slack:T1:C1" || q.Text != view.Brief.Goal {
		t.Errorf("asked %+v", q)
	}
	s.err = errors.New("away")
	if list, _, err = recollect.Before(t.Context(), s, &view, agent.Main, nil); err == nil || list != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// What a run leaves is its outcome, its lessons and what people stated: no
// questions, no nods, nobody's words whom nobody vouches for.
func TestAfter(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	run := agent.Run{ID: "r1", Work: agent.Work{Plans: 1}, Finished: at, Brief: agent.RunStarted{Goal: "call the harbour master", Requester: "slack:U1", ReplyTo: "slack:T1:C1:17.1"},
		Ended: &agent.RunEnded{State: agent.RunDone}, Report: &agent.Reported{Headline: "called", Body: "she answered", Lessons: []string{"call before noon", " "}},
		Said: []agent.Note{
			{By: "slack:U1", Text: "the harbour master is Petra Lund", Trusted: true, Message: "slack:T1:C1:18.1"},
			{By: "slack:U1", Text: "the harbour master is Petra Lund.", Trusted: true},
			{By: "slack:U1", Text: "who is the harbour master?", Trusted: true},
			{By: "slack:U1", Text: "thanks all", Trusted: true},
			{By: "slack:U9", Text: "the harbour master is Mallory now", Trusted: false},
		}}
	list := recollect.After(&run, at)
	kinds := make([]records.Kind, len(list))
	for i, r := range list {
		kinds[i] = r.Kind
		if err := r.Check(); err != nil || r.Scope != "channel:slack:T1:C1" || r.Source.Run != "r1" {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if !slices.Equal(kinds, []records.Kind{records.Episode, records.LessonKind, records.Fact}) {
		t.Fatalf("kept %v: %+v", kinds, list)
	}
	if e := list[0]; e.ID != "run-r1" || e.Label() != agent.Untrusted || !strings.Contains(e.Text, "call the harbour master") {
		t.Errorf("the outcome: %+v", e)
	}
	if f := list[2]; f.Label() != agent.Trusted || f.Source.Message != "slack:T1:C1:18.1" || f.Source.Person != "slack:U1" {
		t.Errorf("the statement: %+v", f)
	}
	if again := recollect.After(&run, at.Add(time.Hour)); again[2].ID != list[2].ID {
		t.Error("the same words have another id")
	}
	run.Ended = nil
	if recollect.After(&run, at) != nil {
		t.Error("a run that goes on leaves something")
	}
}
