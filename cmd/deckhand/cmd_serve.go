package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/posting"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// onlyWorkers is the value of --only for replicas that show nothing to people.
const onlyWorkers = "workers"

func (a *app) serveCommand() *cobra.Command {
	var only string
	var most int
	c := &cobra.Command{
		Use:   "serve",
		Short: "Listen to Slack and Discord and work the runs of the store until stopped",
		Long: "Listen to Slack, where SLACK_BOT_TOKEN is set, and to Discord, where DISCORD_TOKEN is, and work the runs of\n" +
			"the store until stopped. Any number of replicas may serve one Redis; the embedded store has one. SIGTERM lets\n" +
			"the steps under way finish, hands the rest back and ends with 0. Over HTTP: /healthz, /readyz, /metrics\n" +
			"(Prometheus), with SLACK_SIGNING_SECRET /slack/…, and with DISCORD_PUBLIC_KEY /discord/interactions.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if only != "" && only != onlyWorkers {
				return usage("--only takes %q, not %q", onlyWorkers, only)
			}
			if most < 0 {
				return usage("--max-agents is a number from 1, not %d", most)
			}
			return a.serve(cmd.Context(), only, most)
		},
	}
	c.Flags().StringVar(&only, "only", "", "`WHAT`: \"workers\" is an extra replica, with HTTP only if its address is set")
	c.Flags().IntVar(&most, "max-agents", 0, "most agents at work at once in this process (default: engine.workers)")
	return c
}

// serveGrace is how long steps under way may finish after SIGTERM. The process
// promises to be gone after ten seconds, also on a machine that is busy.
const serveGrace = 6 * time.Second

func (a *app) serve(ctx context.Context, only string, most int) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	if most > 0 {
		cfg.Engine.Workers = most
	}
	m, err := cfg.model()
	if err != nil {
		return err
	}
	if err := cfg.spendable(); err != nil {
		return err
	}
	log := logger(a.err, slog.LevelInfo)
	cfg.warn(log)
	front, err := cfg.front(ctx, only)
	if err != nil {
		return err
	}
	s, err := cfg.open(ctx, sqlite.Worker)
	if err != nil {
		return errors.Join(err, front.close())
	}
	defer s.Close()
	server := &server{config: cfg, store: s, front: front, log: log, listens: only != onlyWorkers, meter: newMeter()}
	front.route(map[string]http.Handler{"GET /metrics": server.meter})
	return a.attend(ctx, server, m)
}

// warn says what is configured and not served, so that nobody waits for it.
func (c config) warn(log *slog.Logger) {
	if c.Discord.present() && !c.Discord.Token.present() {
		log.Warn(discordOff)
	}
	if c.Slack.present() && !c.Slack.BotToken.present() {
		log.Warn(slackOff)
	}
}

// spendable refuses money limits, of any channel, that cannot be counted.
func (c config) spendable() error {
	places := append(slices.Sorted(maps.Keys(c.Channels)), "")
	for _, place := range places {
		if _, err := c.affordable(place); err != nil {
			return err
		}
	}
	return c.priced()
}

// server is what a serving process is made of.
type server struct {
	config config
	store  store
	front  *front
	log    *slog.Logger
	// listens is false for extra workers: they post, and others hear.
	listens bool
	meter   meter
}

// attend runs the parts of a server until ctx ends or one of them fails.
func (a *app) attend(ctx context.Context, s *server, m llm.Model) error {
	group, ctx := errgroup.WithContext(ctx)
	if s.front.listener != nil {
		s.log.Info("listening", "http", s.front.address())
		group.Go(func() error { return s.front.serve(ctx) })
	}
	group.Go(func() error { s.config.expire(ctx, s.store, s.log); return nil })
	group.Go(func() error {
		if err := s.work(ctx, group, m); err != nil || ctx.Err() != nil {
			return err
		}
		fmt.Fprintf(a.err, "ready http=%s\n", s.front.address())
		debug.FreeOSMemory() // what only the start needed
		return nil
	})
	err := group.Wait()
	if _, is := errors.AsType[*exit](err); is || err == nil {
		return err
	}
	return &exit{exitFailed, err}
}

// work starts working and hearing, and returns when all of it is ready. A
// platform that cannot be reached holds up nobody but itself.
func (s *server) work(ctx context.Context, group *errgroup.Group, m llm.Model) error {
	w, err := s.config.shared()
	if err != nil {
		return err
	}
	reporter := s.config.reporter(s.store, w, s.log)
	voice, chat := s.config.voice(s.store, w, s.log), s.config.chat(s.store, reporter, s.log)
	doors, err := s.doors(chat)
	if err != nil {
		return err
	}
	l, err := s.loop(voice, len(doors) > 0, m)
	if err != nil {
		return err
	}
	watch, err := s.watch(chat.Alert)
	if err != nil {
		return err
	}
	group.Go(func() error { return l.Run(ctx) })
	group.Go(func() error { watch.Run(ctx); return nil })
	clock := s.config.clock(s.store, reporter, s.overdue(chat.Alert))
	group.Go(func() error { clock.Run(ctx); return nil })
	for _, d := range doors {
		s.front.away(d.name, errConnecting)
		group.Go(func() error { return s.enter(ctx, d, voice, chat) })
	}
	s.front.open()
	return s.front.wait(ctx)
}

// quiet drops errors that only say that the process ends.
func quiet(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// loop is the runtime; without a platform there is nobody to show its runs to.
func (s *server) loop(voice *posting.Poster, speaks bool, m llm.Model) (*loop.Loop, error) {
	lc, err := s.config.loop(s.store, s.meter.model(m), s.log)
	if err != nil {
		return nil, err
	}
	lc.Store = s.meter.store(lc.Store)
	lc.Grace = serveGrace
	if speaks {
		lc.Poster = voice
	}
	return loop.New(lc)
}

// expireEvery is how often ended runs are looked through for old ones.
const expireEvery = time.Hour

// expire removes runs that ended longer ago than the configured age.
func (c config) expire(ctx context.Context, s store, log *slog.Logger) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		c.sweepJobs(ctx, s, log)
		n, err := s.Expire(ctx, time.Now().Add(-c.Retention.Runs))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			log.Error("cannot remove old runs; trying again in an hour", "err", err)
		case n > 0:
			log.Info("removed runs that ended long ago", "runs", n, "age", c.Retention.Runs)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
