package app

// This file makes what Deckhand remembers by the configuration: with vectors
// where a model gives some, with the skills of this installation, and for as long
// as each scope is kept.

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm/embedding"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/recall"
	"github.com/deckhand-bot/deckhand/tools/skill"
)

// NewMemory is what Deckhand remembers in a store. Nothing is read of it yet.
func NewMemory(c config.Config, s Store, log *slog.Logger) *recall.Memory {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	rc := recall.Config{Store: s, Log: log}
	if c.Model.Embedding != "" {
		rc.Embed = embedding.New(embedding.Config{BaseURL: c.Model.BaseURL, Key: c.Model.APIKey.Reveal(), Model: c.Model.Embedding, Timeout: c.Model.Timeout})
	}
	if dirs := c.SkillFolders(); len(dirs) > 0 {
		shelf, err := skill.Load(dirs)
		if err != nil {
			log.Warn("some skills cannot be read; they are left out", "err", err)
		}
		rc.Shelf = shelf.Records()
	}
	return recall.New(rc)
}

// kept is how long a record of the scope is kept, 0: for ever.
func kept(m config.Memory) func(records.Scope) time.Duration {
	return func(s records.Scope) time.Duration {
		what, _ := s.Parts()
		own := map[string]time.Duration{records.Person: m.Person, records.Channel: m.Channel, records.Workspace: m.Workspace}[what]
		return cmp.Or(own, m.Retention)
	}
}

// forgetOld removes what is remembered longer than it is to be.
func (a *App) forgetOld(ctx context.Context) {
	n, err := a.memory.Sweep(ctx, kept(a.options.Config.Memory))
	switch {
	case ctx.Err() != nil:
	case err != nil:
		a.options.Log.Error("cannot remove what was remembered long enough; trying again in an hour", "err", err)
	case n > 0:
		a.options.Log.Info("forgot what was remembered long enough", "records", n)
	}
}

// fillEvery is how often what is new gets its vectors.
const fillEvery = 30 * time.Second

// fill gives what is remembered its vectors, and goes on where it stopped.
func (a *App) fill(ctx context.Context) {
	tick := time.NewTicker(fillEvery)
	defer tick.Stop()
	for {
		if n, err := a.memory.Fill(ctx); err != nil && ctx.Err() == nil {
			a.options.Log.Warn("not everything that is remembered has its vector; recall goes on by words, trying again soon", "given", n, "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
