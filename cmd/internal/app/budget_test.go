package app

import (
	"log/slog"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/digest"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// What a run is charged to is what a report about its person, its channel or
// everybody shows.
func TestReportsShowWhatRunsWereCharged(t *testing.T) {
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	c := config.Defaults()
	c.Budget.PersonMonth.USD, c.Budget.ChannelMonth.USD, c.Budget.Month.USD = 1*agent.Dollar, 2*agent.Dollar, 3*agent.Dollar
	now := time.Date(2026, 11, 30, 23, 0, 0, 0, time.UTC)
	brief := agent.RunStarted{Goal: "test", Requester: "slack:U1", ReplyTo: "slack:T1:C1:1.0", Folder: "slack-C1"}
	commit := agent.Commit{ID: agent.NewID(), Run: "run", Events: []agent.Event{{Strand: agent.Main, Body: brief}}}
	for _, a := range allowances(c)(brief, now) {
		commit.Spend = append(commit.Spend, agent.Spend{Counter: agent.CounterOf(a.Counter, agent.BudgetUSD), Nano: int64(a.Limits.USD) / 2})
	}
	if _, err := s.Commit(t.Context(), commit); err != nil {
		t.Fatal(err)
	}
	for limit, scope := range map[agent.Nano]digest.Scope{
		1 * agent.Dollar: {Person: "slack:U1"},
		2 * agent.Dollar: {Platform: "slack", Workspace: "T1", Channel: "C1"},
		3 * agent.Dollar: {Platform: "slack", Workspace: "T1"},
	} {
		got := counters(c, s, slog.New(slog.DiscardHandler))(t.Context(), scope, now)
		if len(got) != 1 || got[0].Limit != limit || got[0].Spent != limit/2 {
			t.Errorf("%+v shows %+v, want half of $%s", scope, got, limit)
		}
	}
}
