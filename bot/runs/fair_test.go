package runs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// A share is taken in the commit that starts a run, and a start above it writes
// nothing and says when it goes again.
func TestFairUse(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		fairUse(t, store)
	})
	t.Run("redis", func(t *testing.T) {
		store, err := redis.Open(t.Context(), redis.Config{URL: redistest.Start(t).URL})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = store.Close() }()
		fairUse(t, store)
	})
}

// counting is what fair use needs of a store.
type counting interface {
	runs.Journals
	Spent(ctx context.Context, counter string) (int64, error)
}

func fairUse(t *testing.T, store counting) {
	t.Helper()
	c := &runs.Client{Journals: store}
	f := runs.Fair{Person: runs.Share{AtOnce: 2}, Place: runs.Share{Day: 3}}
	now := time.Date(2026, 3, 2, 22, 30, 0, 0, time.UTC)
	start := func(who string) (agent.RunID, error) {
		return c.Begin(t.Context(), f.Take(runs.NewRun{Brief: agent.RunStarted{Goal: "a", Requester: who, Folder: "slack-C1"}}, now))
	}
	must := func(who string) agent.RunID {
		t.Helper()
		id, err := start(who)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := must("slack:U1")
	must("slack:U1")
	if _, err := start("slack:U1"); !strings.Contains(f.Refused(err, now), "You have 2 runs going on, and no more at once are allowed. It goes again as soon as one of them ends") {
		t.Errorf("the third run of a person: %v: %q", err, f.Refused(err, now))
	}
	events, err := store.Read(t.Context(), first, 0)
	if err != nil {
		t.Fatal(err)
	}
	brief, _ := events[0].Body.(agent.RunStarted)
	if fmt.Sprint(brief.Counted) != "[live/person/slack:U1]" {
		t.Fatalf("the run does not know where it counts: %v", brief.Counted)
	}
	give := agent.Commit{ID: agent.NewID(), Run: first, Ends: true, Spend: []agent.Spend{{Counter: brief.Counted[0], Nano: -1}}}
	if _, err := store.Commit(t.Context(), give); err != nil {
		t.Fatal(err)
	}
	must("slack:U1")
	if _, err := start("slack:U2"); !strings.Contains(f.Refused(err, now), "This channel started 3 runs today, and no more a day are allowed. It goes again at 00:00 UTC, in ") {
		t.Errorf("the fourth run of a channel: %v: %q", err, f.Refused(err, now))
	}
	if n, err := store.Spent(t.Context(), "live/person/slack:U2"); n != 0 || err != nil {
		t.Errorf("a refused start was counted: %d, %v", n, err)
	}
}

// A requester raises a budget as far as the installation lets them; operators and
// approvers go on.
func TestRequesterRaise(t *testing.T) {
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	c := &runs.Client{Journals: store, RequesterRaise: 100, Authority: authority.Authority{Operators: []string{"slack:U7"}}}
	run, err := c.Start(t.Context(), agent.RunStarted{Goal: "a", Requester: "slack:U1", ReplyTo: "slack:T1:C1:1.1"})
	if err != nil {
		t.Fatal(err)
	}
	raise := func(n int, who, decision string) error {
		t.Helper()
		id := agent.CheckpointID(fmt.Sprintf("%s-%08d", run, n))
		opened := agent.CheckpointOpened{ID: id, Ask: agent.CheckBudget, Title: "The money is used up", Budget: agent.BudgetUSD,
			Choices: []string{agent.DecideMore25, agent.DecideMore100, agent.DecideFinish}}
		if _, err := store.Commit(context.WithoutCancel(t.Context()), agent.Commit{ID: agent.NewID(), Run: run, Seen: agent.SeenAll,
			Events: []agent.Event{{Strand: agent.Main, Body: opened}}}); err != nil {
			t.Fatal(err)
		}
		return c.Decide(t.Context(), bot.Person{ID: who, Full: true}, agent.CheckpointDecided{ID: id, Decision: decision})
	}
	if err := raise(1, "slack:U1", agent.DecideMore25); err != nil {
		t.Errorf("the first quarter: %v", err)
	}
	over, is := errors.AsType[*runs.RaiseError](raise(2, "slack:U1", agent.DecideMore100))
	if !is || over.Left != 75 {
		t.Errorf("twice as much: %v", over)
	}
	if err := raise(3, "slack:U1", "+75 %"); err != nil {
		t.Errorf("what was left: %v", err)
	}
	if over, is := errors.AsType[*runs.RaiseError](raise(4, "slack:U1", agent.DecideMore25)); !is || over.Left != 0 {
		t.Errorf("after that: %v", over)
	}
	if err := raise(5, "slack:U7", agent.DecideMore100); err != nil {
		t.Errorf("the operator: %v", err)
	}
}
