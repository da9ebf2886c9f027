package runs

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

func open(t *testing.T, a authority.Authority) (*Client, *bottest.Memory) {
	t.Helper()
	m := bottest.NewMemory()
	return &Client{Journals: m, Authority: a}, m
}

// begin starts a run of slack:U1 in which the questions are open. Their ids
// are made to belong to it.
func begin(t *testing.T, d *Client, m *bottest.Memory, questions ...agent.CheckpointOpened) (agent.RunID, []agent.CheckpointID) {
	t.Helper()
	id, err := d.Start(t.Context(), agent.RunStarted{Goal: "count the lines", Requester: "slack:U1"})
	if err != nil {
		t.Fatal(err)
	}
	var ids []agent.CheckpointID
	for i, q := range questions {
		q.ID = agent.CheckpointID(fmt.Sprintf("%s-%d", id, i))
		m.Happen(t, id, "task/a", q)
		ids = append(ids, q.ID)
	}
	return id, ids
}

func TestStart(t *testing.T) {
	d, m := open(t, authority.Authority{})
	id, err := d.Start(t.Context(), agent.RunStarted{Goal: "  count the lines\n", Requester: "slack:U1"}, "slack/message/1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Load(t.Context(), id)
	if err != nil || r.Brief.Goal != "count the lines" || r.ID != id {
		t.Errorf("run %+v, %v", r.Brief, err)
	}
	c := m.Newest()
	if at, due := c.Wake[agent.Main]; !due || !at.Equal(agent.AtOnce) || c.Lease != nil {
		t.Errorf("the first commit wakes %v under lease %v", c.Wake, c.Lease)
	}
	if _, err := d.Start(t.Context(), agent.RunStarted{Goal: "again"}, "slack/message/1"); !errors.Is(err, agent.ErrSeen) {
		t.Errorf("the same message started a second run: %v", err)
	}
	if _, err := d.Start(t.Context(), agent.RunStarted{Goal: " \n\t"}); !errors.Is(err, ErrEmptyGoal) {
		t.Errorf("an empty goal: %v", err)
	}
	if n := len(m.Commits); n != 1 {
		t.Errorf("%d commits, want 1", n)
	}
}

func TestDecide(t *testing.T) {
	d, m := open(t, authority.Authority{RequesterMayApprove: true})
	id, checks := begin(t, d, m, bottest.Approval, bottest.Budget)
	err := d.Decide(t.Context(), person("slack:U1"), agent.CheckpointDecided{ID: checks[0], Decision: agent.DecideApprove})
	if err != nil {
		t.Fatal(err)
	}
	c := m.Newest()
	if c.Events[0].Strand != "task/a" || !c.Strict || c.Lease != nil || len(c.Wake) == 0 {
		t.Errorf("committed as %+v", c)
	}
	r, err := d.Load(t.Context(), id)
	if err != nil || r.Checks[checks[0]].Open() || !r.Checks[checks[1]].Open() {
		t.Errorf("checkpoints %+v, %v", r.Checks, err)
	}
}

func TestDecideRefuses(t *testing.T) {
	for _, tt := range []struct {
		name     string
		question agent.CheckpointOpened
		word, by string
		want     error
	}{
		{"a stranger", bottest.Approval, agent.DecideApprove, "slack:U9", ErrNotAllowed},
		{"a word of another question", bottest.Budget, agent.DecideApprove, "slack:U1", bot.ErrNotAnAnswer},
		{"approving where one is stuck", bottest.Stuck, agent.DecideApprove, "slack:U1", bot.ErrNotAnAnswer},
		{"a word that only the engine says", bottest.Approval, agent.DecideExpired, "slack:U1", bot.ErrNotAnAnswer},
		{"an edit of nothing", bottest.Approval, agent.DecideEdit, "slack:U1", bot.ErrNotAnAnswer},
		{"no word at all", bottest.Stuck, "", "slack:U1", bot.ErrNotAnAnswer},
		{"denying what may have happened", bottest.Uncertain, agent.DecideDeny, "slack:U1", bot.ErrNotAnAnswer},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, m := open(t, authority.Authority{RequesterMayApprove: true})
			id, checks := begin(t, d, m, tt.question)
			err := d.Decide(t.Context(), person(tt.by), agent.CheckpointDecided{ID: checks[0], Decision: tt.word})
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if r, err := d.Load(t.Context(), id); err != nil || r.OpenCheckpoint() == nil {
				t.Errorf("the question is closed: %v", err)
			}
		})
	}
	t.Run("what nobody asked", func(t *testing.T) {
		d, m := open(t, authority.Authority{})
		id, _ := begin(t, d, m)
		for _, check := range []agent.CheckpointID{agent.CheckpointID(id) + "-7", "nosuchrun-7", "", "-"} {
			err := d.Decide(t.Context(), person(bot.Terminal), agent.CheckpointDecided{ID: check, Decision: agent.DecideApprove})
			if !errors.Is(err, ErrNoCheckpoint) {
				t.Errorf("checkpoint %q: %v", check, err)
			}
		}
	})
	t.Run("after the end", func(t *testing.T) {
		d, m := open(t, authority.Authority{})
		id, checks := begin(t, d, m, bottest.Approval)
		m.Happen(t, id, agent.Main, agent.RunEnded{State: agent.RunCancelled})
		err := d.Decide(t.Context(), person(bot.Terminal), agent.CheckpointDecided{ID: checks[0], Decision: agent.DecideApprove})
		if !errors.Is(err, ErrEnded) {
			t.Errorf("error %v", err)
		}
	})
}

// A denial means what it can mean to the question.
func TestDenialsBeyondApprovals(t *testing.T) {
	for _, tt := range []struct {
		question agent.CheckpointOpened
		want     string
	}{
		{bottest.Approval, agent.DecideDeny}, {bottest.Planned, agent.DecideDeny}, {bottest.Clarify, agent.DecideDeny},
		{bottest.Budget, agent.DecideCancel}, {bottest.Stuck, agent.DecideCancel},
	} {
		d, m := open(t, authority.Authority{})
		id, checks := begin(t, d, m, tt.question)
		if err := d.Decide(t.Context(), person(bot.Terminal), agent.CheckpointDecided{ID: checks[0], Decision: agent.DecideDeny, Text: "no"}); err != nil {
			t.Fatal(err)
		}
		r, err := d.Load(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want := &agent.CheckpointDecided{ID: checks[0], Decision: tt.want, By: bot.Terminal, Text: "no"}
		if diff := cmp.Diff(want, r.Checks[checks[0]].Decision); diff != "" {
			t.Errorf("%s:\n%s", tt.question.Ask, diff)
		}
	}
}

// Between looking and writing somebody else decides: theirs counts.
func TestTheFasterDecisionCounts(t *testing.T) {
	d, m := open(t, authority.Authority{})
	id, checks := begin(t, d, m, bottest.Approval)
	m.Before = func() {
		m.Happen(t, id, "task/a", agent.CheckpointDecided{ID: checks[0], Decision: agent.DecideDeny, By: "slack:U2"})
	}
	err := d.Decide(t.Context(), person(bot.Terminal), agent.CheckpointDecided{ID: checks[0], Decision: agent.DecideApprove})
	if !errors.Is(err, ErrDecided) || !strings.Contains(err.Error(), "deny by slack:U2") {
		t.Errorf("error %v, want who decided what", err)
	}
}

// Somebody writes about something else: the decision is committed anyway.
func TestDecideLooksAgain(t *testing.T) {
	d, m := open(t, authority.Authority{})
	id, checks := begin(t, d, m, bottest.Approval)
	m.Before = func() { m.Happen(t, id, agent.Main, agent.TimePassed{}) }
	if err := d.Decide(t.Context(), person(bot.Terminal), agent.CheckpointDecided{ID: checks[0], Decision: agent.DecideApprove}); err != nil {
		t.Fatal(err)
	}
}

func TestRacingDecisions(t *testing.T) {
	d, m := open(t, authority.Authority{})
	id, checks := begin(t, d, m, bottest.Approval)
	words := []string{agent.DecideApprove, agent.DecideDeny, agent.DecideAlways}
	errs := make([]error, 12)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			errs[i] = d.Decide(t.Context(), person(bot.Terminal), agent.CheckpointDecided{ID: checks[0], Decision: words[i%len(words)]})
		})
	}
	all.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, ErrDecided) {
			t.Errorf("a loser is told %v", err)
		}
	}
	if n := len(m.Journals[id]); won != 1 || n != 3 {
		t.Errorf("%d decisions won, %d events; want 1 and 3", won, n)
	}
}

func TestControl(t *testing.T) {
	d, m := open(t, authority.Authority{Operators: []string{"U7"}})
	id, _ := begin(t, d, m)
	for _, by := range []string{"slack:U1", "slack:U7", bot.Terminal} {
		if err := d.Control(t.Context(), id, person(by), agent.RunControlled{Word: agent.WordPause}); err != nil {
			t.Errorf("%s: %v", by, err)
		}
	}
	if err := d.Control(t.Context(), id, person("slack:U9"), agent.RunControlled{Word: agent.WordCancel}); !errors.Is(err, ErrNotAllowed) {
		t.Errorf("a stranger cancels: %v", err)
	}
	if err := d.Control(t.Context(), "nosuchrun", person(bot.Terminal), agent.RunControlled{}); !errors.Is(err, agent.ErrNoRun) {
		t.Errorf("no run: %v", err)
	}
	m.Happen(t, id, agent.Main, agent.RunEnded{State: agent.RunDone})
	if err := d.Control(t.Context(), id, person(bot.Terminal), agent.RunControlled{Word: agent.WordResume}); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

func TestSay(t *testing.T) {
	d, m := open(t, authority.Authority{})
	id, _ := begin(t, d, m)
	for by, trusted := range map[string]bool{"slack:U1": true, bot.Terminal: true, "slack:U9": false} {
		if err := d.Say(t.Context(), id, person(by), "hurry", "message/"+by); err != nil {
			t.Fatal(err)
		}
		want := agent.PersonSaid{By: by, Text: "hurry", Trusted: trusted}
		if diff := cmp.Diff(agent.Body(want), m.Newest().Events[0].Body); diff != "" {
			t.Error(diff)
		}
	}
	if err := d.Say(t.Context(), id, person("slack:U1"), "hurry", "message/slack:U1"); !errors.Is(err, agent.ErrSeen) {
		t.Errorf("the same message twice: %v", err)
	}
	m.Happen(t, id, agent.Main, agent.RunEnded{State: agent.RunDone})
	if err := d.Say(t.Context(), id, person("slack:U1"), "hello?"); !errors.Is(err, ErrEnded) {
		t.Errorf("after the end: %v", err)
	}
}

// person is a full member of the workspace.
func person(id string) bot.Person { return bot.Person{ID: id, Full: true} }
