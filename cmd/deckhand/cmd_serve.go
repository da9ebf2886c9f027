package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// onlyWorkers is the value of --only for replicas that show nothing to people.
const onlyWorkers = "workers"

func (a *app) serveCommand() *cobra.Command {
	var only string
	var most int
	c := &cobra.Command{
		Use:   "serve",
		Short: "Work the runs of the store until stopped, with health checks over HTTP",
		Long: "Work the runs of the store until stopped. Any number of replicas may serve one Redis; the embedded\n" +
			"store has one. SIGTERM lets the steps under way finish, hands the rest back and ends with 0.",
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
	lc, err := cfg.loop(s, m, log)
	if err != nil {
		return err
	}
	lc.Grace = serveGrace
	l, err := loop.New(lc)
	if err != nil {
		return err
	}
	return a.attend(ctx, cfg, s, l, front, log)
}

// warn says what is configured and not served by this version, so that nobody
// waits for it.
func (c config) warn(log *slog.Logger) {
	for what, is := range map[string]bool{
		"Slack": c.Slack.BotToken.present(), "Discord": c.Discord.Token.present(), "schedules": len(c.Schedules) > 0,
	} {
		if is {
			log.Warn("configured, but this version does not serve it yet", "what", what)
		}
	}
}

// attend runs the parts of a server until ctx ends or one of them fails.
func (a *app) attend(ctx context.Context, cfg config, s store, l *loop.Loop, f *front, log *slog.Logger) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.Run(ctx) })
	group.Go(func() error { cfg.expire(ctx, s, log); return nil })
	if f.listener != nil {
		group.Go(func() error { return f.serve(ctx) })
	}
	f.ready.Store(true)
	fmt.Fprintf(a.err, "ready http=%s\n", f.address())
	if err := group.Wait(); err != nil {
		return &exit{exitFailed, err}
	}
	return nil
}

// front answers health checks. Without a listener it answers nobody.
type front struct {
	ready    atomic.Bool
	listener net.Listener
}

// front opens the HTTP address, where there is one to open.
func (c config) front(ctx context.Context, only string) (*front, error) {
	if c.HTTP == "off" || (only == onlyWorkers && !c.given("http")) {
		return &front{}, nil
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.HTTP)
	if err != nil {
		return nil, usage("HTTP address %s: %w; set another with http: or DECKHAND_HTTP_ADDR, or off", c.HTTP, err)
	}
	return &front{listener: l}, nil
}

func (f *front) address() string {
	if f.listener == nil {
		return "off"
	}
	return f.listener.Addr().String()
}

func (f *front) close() error {
	if f.listener == nil {
		return nil
	}
	return f.listener.Close()
}

// Bounds of an HTTP request, against clients that never finish one.
const (
	headerTimeout = 5 * time.Second
	drainTimeout  = 2 * time.Second
)

func (f *front) serve(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !f.ready.Load() {
			http.Error(w, "the store is not open yet", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
		defer cancel()
		_ = server.Shutdown(drain)
	}()
	if err := server.Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	<-stopped
	return nil
}

// expireEvery is how often ended runs are looked through for old ones.
const expireEvery = time.Hour

// expire removes runs that ended longer ago than the configured age.
func (c config) expire(ctx context.Context, s store, log *slog.Logger) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
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
