package app

// This file assembles a process from its options and runs its parts until the
// context ends. Commands, demos and tests all start here, so that they have
// the same wiring.

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/agent/loop/cost"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/agent/redact"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/resident"
	"github.com/deckhand-bot/deckhand/memory/recall"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// Options are what a process is made from. All but Config may be left out.
type Options struct {
	Config  config.Config
	Version string // of the program, for its metrics
	Log     *slog.Logger

	// Model and Store stand in for the configured ones. The caller closes a
	// Store that it brought.
	Model llm.Model
	Store Store
	// Platforms are beside those that the configuration names.
	Platforms []Connector
	// Tools are beside those of the product. Wrap, when set, is put around
	// every tool. Trust is the trust in what tools read from files; empty:
	// none.
	Tools []agent.Tool
	Wrap  func(agent.Tool) agent.Tool
	Trust agent.Trust
	// Brief stands in for what the configuration decides about runs of a place.
	Brief func(place string) (agent.RunStarted, error)

	// Only is the one run that is worked; empty: every one.
	Only agent.RunID
	// WorkOnly leaves out all but the work itself: HTTP, platforms, schedules,
	// alerts and the removal of old runs.
	WorkOnly bool
	// PostOnly posts to the platforms, but hears nobody.
	PostOnly bool
	// Grace is how long steps under way may finish after the end; 6 s.
	Grace time.Duration
	// Ready is called once when everything is connected, with the address of
	// HTTP, or "off".
	Ready func(http string)
}

// serveGrace is how long steps under way may finish after SIGTERM. The process
// promises to be gone after ten seconds, also on a machine that is busy.
const serveGrace = 6 * time.Second

// App is a Deckhand in this process.
type App struct {
	options Options
	store   Store
	sealer  *audit.Sealer
	close   func() error // of a store that it opened
	memory  *recall.Memory
	joined  bot.Platforms // that are connected
	kit     *kit.Kit
	policy  *policy.Policy
	health  *health
	meter   meter
	talk    *talk // nil: there is nobody to talk with
	loop    *loop.Loop
	watch   *watchdog.Watchdog
	secrets *redact.Redactor
}

// New puts a process together: it opens the store and the HTTP address, and
// connects to nobody yet.
func New(ctx context.Context, o Options) (*App, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	secrets := redact.New(o.Config.Secrets()...)
	o.Log = slog.New(secrets.Handler(o.Log.Handler()))
	if o.Grace == 0 {
		o.Grace = serveGrace
	}
	a := &App{options: o, secrets: secrets, store: o.Store, close: func() error { return nil }, health: newHealth(), meter: newMeter(o.Version)}
	if err := a.assemble(ctx); err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return a, nil
}

// assemble makes the parts, each of which needs those before it.
func (a *App) assemble(ctx context.Context) (err error) {
	o := &a.options
	if o.Model == nil {
		if o.Model, err = NewModel(o.Config); err != nil {
			return err
		}
	}
	if !o.WorkOnly {
		if err := a.prepare(ctx); err != nil {
			return err
		}
	}
	if a.policy, err = PolicyOf(o.Config); err != nil {
		return err
	}
	if a.store == nil {
		s, err := OpenStore(ctx, o.Config, sqlite.Worker, o.Log)
		if err != nil {
			return err
		}
		a.store, a.close = s, s.Close
	}
	a.sealer = audit.NewSealer(a.store, o.Log)
	a.store = sealedStore{a.store, a.sealer}
	a.memory = NewMemory(o.Config, a.store, o.Log)
	a.memory.Member = a.joined.Member
	if a.kit, err = kit.New(kit.Options{Config: o.Config, Version: o.Version, Log: o.Log, Store: a.store, Memory: a.memory, Tools: o.Tools,
		Wrap: o.Wrap, Trust: o.Trust, Changed: a.changed}); err != nil {
		return err
	}
	if !o.WorkOnly {
		if a.talk, err = a.newTalk(); err != nil {
			return err
		}
		if a.watch, err = a.newWatch(); err != nil {
			return err
		}
	}
	a.loop, err = a.newLoop()
	return err
}

// prepare refuses what cannot be served before anything is opened, and opens
// the HTTP address.
func (a *App) prepare(ctx context.Context) error {
	if a.options.Brief == nil {
		if err := spendable(a.options.Config); err != nil {
			return err
		}
	}
	for _, warning := range warnings(a.options.Config, os.Geteuid() == 0) {
		a.options.Log.Warn(warning) //nolint:sloglint // each is a fixed sentence with the names of settings
	}
	a.health.mux.Handle("GET /metrics", a.meter)
	if a.options.PostOnly && !a.options.Config.Given("http") {
		return nil
	}
	return a.health.listen(ctx, a.options.Config.HTTP)
}

// refusalsAtMost is the longest pause before a model's endpoint is asked again
// that refuses what a person has to mend.
const refusalsAtMost = 15 * time.Minute

// newLoop is the runtime; without a platform there is nobody to show its runs to.
func (a *App) newLoop() (*loop.Loop, error) {
	o, c := a.options, a.options.Config
	kept, err := a.kit.Ending(a.store, o.Log)
	if err != nil {
		return nil, err
	}
	prices := make(map[string]cost.Price, len(c.Model.Prices))
	for name, p := range c.Model.Prices {
		prices[name] = cost.Price{Input: p.Input, Cached: p.Cached, Output: p.Output}
	}
	refuses, err := newGate(c)
	if err != nil {
		return nil, err
	}
	lc := loop.Config{
		Store: a.meter.store(kept), Blobs: a.store, Model: refuses.Model(a.meter.model(o.Model)), Tools: a.kit.Box, Policy: refuses.Policy(a.policy), Log: o.Log,
		Withhold:  refuses.Result,
		ModelName: c.Model.Name, FastName: c.Model.Fast, Prices: prices,
		RequestsPerMinute: c.Model.RequestsPerMinute, TokensPerMinute: c.Model.TokensPerMinute,
		Patience:  limit.Patience{Wait: c.Model.Patience, Retries: c.Model.Retries, Longest: c.Model.RetryMaxWait},
		MaxAnswer: c.Model.MaxAnswerTokens, Workers: c.Engine.Workers, Lease: c.Engine.Lease, Grace: o.Grace,
		Wider: allowances(c), File: a.kit.Delivered, Runs: a.store, CheckIns: c.CheckIns.Every, Only: o.Only, Alarm: a.denied, NoThought: !c.Model.Thought,
		Steers: steers(c), Redact: a.secrets, Offer: c.Tools.Offer, OfferTokens: c.Tools.OfferTokens, Memory: a.memory,
		Window: (&windows{configured: c.Model.Window, main: c.Model.Name, model: o.Model, log: o.Log}).of,
	}
	lc.Playbooks = kit.NewShelf(c, o.Log).Library
	lc.Scheduler = recurring.Orders{Schedules: recurringOf(c, a.store)}
	if o.Only == "" { // nobody waits at a terminal to be told what to change
		lc.Patience.Refusals = refusalsAtMost
	}
	if a.talk != nil && len(a.talk.connectors) > 0 {
		lc.Poster, lc.Outages = a.talk.poster, a.talk.models
	}
	return loop.New(lc)
}

// Run works, and talks with people, until ctx ends or a part fails for good.
func (a *App) Run(ctx context.Context) error {
	defer a.auditing(ctx)()
	if a.options.WorkOnly {
		a.sweepJobs(ctx)
		return a.work(ctx)
	}
	group, ctx := errgroup.WithContext(ctx)
	if a.health.listener != nil {
		a.options.Log.Info("listening", "http", a.health.address())
		group.Go(func() error { return a.health.serve(ctx) })
	}
	keep := func(name string, part func(ctx context.Context) error) {
		group.Go(func() error { return guard.Keep(ctx, a.options.Log, name, part) })
	}
	if a.options.Config.Model.Embedding != "" {
		keep("the vectors of what is remembered", func(ctx context.Context) error { a.fill(ctx); return nil })
	}
	keep("the removal of old runs", func(ctx context.Context) error { a.cleanUp(ctx); return nil })
	group.Go(func() error { return a.work(ctx) })
	keep("the look over the runs", func(ctx context.Context) error { a.watch.Run(ctx); return nil })
	keep("the clock of the schedules", func(ctx context.Context) error { a.talk.clock.Run(ctx); return nil })
	for _, c := range a.talk.connectors {
		a.health.away(c.Name, errConnecting)
		keep("a platform", func(ctx context.Context) error { return a.enter(ctx, c) })
	}
	a.health.open()
	group.Go(func() error {
		if !a.health.wait(ctx) {
			return nil
		}
		if a.options.Ready != nil {
			a.options.Ready(a.health.address())
		}
		resident.GiveBack()
		return nil
	})
	return group.Wait()
}

// work works strands once the sources of tools have said what they give, and
// keeps up with the sources meanwhile.
func (a *App) work(ctx context.Context) error {
	a.kit.Box.Settle(ctx)
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	watch.Go(func() { a.kit.Box.Run(watching) })
	defer watch.Wait()
	defer stop()
	return a.loop.Run(ctx)
}

// Close closes what New opened. Run has returned before.
func (a *App) Close() error {
	var tools error
	if a.kit != nil {
		tools = a.kit.Box.Close()
	}
	return errors.Join(a.health.close(), tools, a.close())
}

// Client is the way in for people and commands.
func (a *App) Client() *runs.Client { return NewClient(a.options.Config, a.store) }

// sweepJobs ends the jobs of runs that have ended, and removes old ones.
func (a *App) sweepJobs(ctx context.Context) {
	err := a.kit.SweepJobs(ctx, a.store, time.Now().Add(-a.options.Config.Retention.Runs))
	if err != nil && ctx.Err() == nil {
		a.options.Log.Error("cannot look through the jobs of ended runs; trying again later", "err", err)
	}
}

// cleanUpEvery is how often ended runs are looked through for old ones.
const cleanUpEvery = time.Hour

// cleanUp removes runs that ended longer ago than the configured age, and what
// is left of their jobs.
func (a *App) cleanUp(ctx context.Context) {
	log, age := a.options.Log, a.options.Config.Retention.Runs
	tick := time.NewTicker(cleanUpEvery)
	defer tick.Stop()
	for {
		a.sweepJobs(ctx)
		a.forgetOld(ctx)
		n, err := ExpireOld(ctx, a.store, age)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Error("cannot remove old runs; trying again in an hour", "err", err)
		case n > 0:
			log.Info("removed runs that ended long ago", "runs", n, "age", age)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
