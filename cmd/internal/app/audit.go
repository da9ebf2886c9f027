package app

// This file puts the audit chain beside a process's store: what is committed is
// sealed, and what the process began with is noted.

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// sealedStore tells the sealer of what was committed through it.
type sealedStore struct {
	Store
	sealer *audit.Sealer
}

// Commit implements agent.Store.
func (s sealedStore) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	receipt, err := s.Store.Commit(ctx, c)
	if err == nil {
		s.sealer.Wrote(c)
	}
	return receipt, err
}

// auditing notes how the process began and keeps the chain until done is called,
// which waits for the last seal and the last anchor behind it.
func (a *App) auditing(ctx context.Context) (done func()) {
	ctx = context.WithoutCancel(ctx)
	endSeals := a.beside(ctx, "the audit chain", func(ctx context.Context) {
		a.began(context.WithoutCancel(ctx))
		a.sealer.Run(ctx)
	})
	endAnchors := func() {}
	if c := a.options.Config; c.Audit.Anchor != "" && !a.options.WorkOnly {
		anchors := &audit.Anchors{Store: a.store, To: AnchorFile(c), Every: c.Audit.Every, Out: os.Stdout, Log: a.options.Log}
		endAnchors = a.beside(ctx, "the anchors of the audit chain", anchors.Run)
	}
	return func() { endSeals(); endAnchors() }
}

// beside runs a part of the process until end is called.
func (a *App) beside(ctx context.Context, name string, part func(ctx context.Context)) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := guard.Keep(ctx, a.options.Log, name, func(ctx context.Context) error { part(ctx); return nil }); err != nil {
			a.options.Log.Error("a part of the process ended", "part", name, "err", err)
		}
	}()
	return func() { stop(); <-ended }
}

// AnchorFile is the file that anchors go to, or audit.Stdout.
func AnchorFile(c config.Config) string {
	to := c.Audit.Anchor
	if to == audit.Stdout || filepath.IsAbs(to) {
		return to
	}
	return filepath.Join(filepath.Dir(c.File), to)
}

// beginning bounds the notes about a start, so that no end waits for them.
const beginning = time.Second

// began notes the process and, where that is new, its configuration.
func (a *App) began(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, beginning)
	defer cancel()
	log := a.options.Log
	facts := map[string]string{"version": a.options.Version, "secrets": secretsOf(a.options.Config)}
	if err := audit.Note(ctx, a.store, audit.Entry{Kind: audit.KindStarted, Who: audit.Process(), What: "a process began to work", Facts: facts}); err != nil {
		log.Warn("cannot note the start in the audit chain", "err", err)
		return
	}
	if err := audit.Configured(ctx, a.store, a.options.Config.Values()); err != nil {
		log.Warn("cannot note the configuration in the audit chain", "err", err)
	}
}

// secretsOf names the secrets that a process has.
func secretsOf(c config.Config) string {
	var list []string
	for key, value := range c.Values() {
		if value == `"[secret]"` {
			list = append(list, strings.TrimSuffix(key, "_file"))
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
