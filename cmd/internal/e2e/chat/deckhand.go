package chat

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/posting"
	botrecurring "github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/storetest"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/calc"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/policy"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// The times of a process under test: Deckhand's own, or shorter so that tests
// need not wait.
const (
	cardEvery = 30 * time.Millisecond
	heartbeat = time.Minute
)

// deckhand is one process: workers, a desk, and a connection to the far side.
type deckhand struct {
	platform bot.Platform
	chat     *intake.Chat
	desk     *runs.Client
	loop     *loop.Loop
	clock    *botrecurring.Clock
}

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
	Authority    authority.Authority
	PlanApproval agent.PlanApproval
	Autonomy     agent.Autonomy
	Limits       agent.Limits
	Expires      time.Duration
	CatchUp      time.Duration
	Schedules    []botrecurring.Schedule
}

// brief is what is decided about every run before it starts.
func (r rules) brief(string) (agent.RunStarted, error) {
	return agent.RunStarted{
		PlanApproval: r.PlanApproval, Autonomy: r.Autonomy, Limits: r.Limits, Expires: r.Expires, Slots: 4,
		Approvers: r.Authority.Approvers, Quorum: r.Authority.Quorum,
	}, nil
}

func assemble(p parts) (*deckhand, error) {
	space, err := workspace.New(workspace.Config{Dir: p.workspace, Wait: 3 * time.Second})
	if err != nil {
		return nil, err
	}
	box, err := tools.New(append(file.New(file.Config{Workspace: space, Trust: agent.Trusted}), calc.Tool{})...)
	if err != nil {
		return nil, err
	}
	d := &deckhand{platform: p.platform, desk: &runs.Client{Journals: p.store, Authority: p.rules.Authority}}
	voice := posting.New(posting.Config{
		Platforms: []bot.Platform{p.platform}, Paces: p.store, Audience: p.rules.Authority.Audience, Files: shelf{space},
		CardEvery: cardEvery, Heartbeat: heartbeat, PostTimeout: p.timeout, Log: p.log,
	})
	recurring := botrecurring.Schedules{Fixed: p.rules.Schedules, Store: p.store}
	reporter := botrecurring.Reporter{Runs: d.desk, Log: p.log}
	d.chat = intake.New(intake.Config{
		Runs: d.desk, Store: p.store, Brief: p.rules.brief, Platforms: []bot.Platform{p.platform},
		CatchUp: p.rules.CatchUp, Log: p.log, Recurring: recurring, Reporter: reporter,
	})
	d.clock = botrecurring.NewClock(botrecurring.ClockConfig{Reporter: reporter, Recurring: recurring, Brief: p.rules.brief, Alarm: d.chat.Alert})
	d.loop, err = loop.New(loop.Config{
		Store: p.store, Blobs: p.store, Model: p.model, Tools: box, Policy: policy.Default{}, Poster: voice,
		Log: p.log, ModelName: "test", Workers: p.workers, Lease: p.lease,
	})
	return d, err
}

// run listens and works until ctx ends.
func (d *deckhand) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	heard, ticked := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(ticked)
		d.clock.Run(ctx)
	}()
	go func() {
		defer cancel() // without ears there is nothing to work for
		heard <- d.platform.Listen(ctx, d.chat.Receive)
	}()
	err := d.loop.Run(ctx)
	cancel()
	<-ticked
	return errors.Join(err, <-heard)
}

// shelf is the workspace as the voice sees it.
type shelf struct{ *workspace.Workspace }

// Open opens a file for reading.
func (s shelf) Open(folder, path string) (io.ReadCloser, int64, error) {
	f, err := s.Workspace.Open(folder)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	content, info, err := f.Read(path)
	if err != nil {
		return nil, 0, err
	}
	return content, info.Size(), nil
}

// Create makes a file of what fill writes.
func (s shelf) Create(folder, path string, fill func(w io.Writer) error) error {
	f, err := s.Workspace.Open(folder)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // Create has synced it
	return f.Create(path, fill)
}
