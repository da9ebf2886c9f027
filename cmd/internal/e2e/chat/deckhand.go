package chat

import (
	"context"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// The times of a process under test: Deckhand's own, or shorter so that tests
// need not wait.
const (
	cardEvery = 30 * time.Millisecond
	heartbeat = time.Minute
)

// parts are what a process is made of.
type parts struct {
	store     storetest.Store
	platform  bot.Platform
	model     llm.Model
	workspace string
	workers   int
	lease     time.Duration
	timeout   time.Duration // of a post
	rules     rules
	log       *slog.Logger
}

// rules are the part of the configuration that scenarios change.
type rules struct {
	Authority    config.Authority
	PlanApproval agent.PlanApproval
	Autonomy     agent.Autonomy
	Limits       agent.Limits
	Expires      time.Duration
	CatchUp      time.Duration
	Schedules    []config.Schedule
}

// brief is what is decided about every run before it starts.
func (r rules) brief(string) (agent.RunStarted, error) {
	return agent.RunStarted{
		PlanApproval: r.PlanApproval, Autonomy: r.Autonomy, Limits: r.Limits, Expires: r.Expires, Slots: 4,
		Approvers: r.Authority.Approvers, Quorum: r.Authority.Quorum,
	}, nil
}

// assemble is a process whose only platform is connected already.
func assemble(ctx context.Context, p parts) (*app.App, error) {
	c := config.Defaults()
	c.HTTP, c.DataDir, c.Workspace = "off", "", p.workspace
	c.Engine.Workers, c.Engine.Lease = p.workers, p.lease
	c.Voice.CardEvery, c.Voice.Heartbeat, c.Voice.PostTimeout = cardEvery, heartbeat, p.timeout
	c.Authority, c.Schedules, c.Retention.CatchUp = p.rules.Authority, p.rules.Schedules, p.rules.CatchUp
	c.Model.Name = "test"
	return app.New(ctx, app.Options{
		Config: c, Store: p.store, Model: p.model, Log: p.log, Trust: agent.Trusted, Brief: p.rules.brief,
		Platforms: []app.Connector{{Name: p.platform.Name(), Connect: func(context.Context) (bot.Platform, error) { return p.platform, nil }}},
	})
}
