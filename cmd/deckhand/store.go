package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// beside opens the store to look and to append facts, beside a worker.
func (a *cli) beside(ctx context.Context, use func(cfg config.Config, s app.Store) error) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	s, err := app.OpenStore(ctx, cfg, sqlite.Guest, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	return use(cfg, s)
}

// control appends a control word, and says so.
func (a *cli) control(ctx context.Context, run agent.RunID, word agent.RunControlled, done string) error {
	return a.beside(ctx, func(cfg config.Config, s app.Store) error {
		err := app.NewClient(cfg, s).Control(ctx, run, bot.Person{ID: bot.Terminal, Full: true}, word)
		if errors.Is(err, runs.ErrEnded) {
			return &exit{exitFailed, err}
		}
		if err != nil {
			return notFound(run, err)
		}
		_, err = fmt.Fprintln(a.err, done)
		return err
	})
}

// notFound tells a run that does not exist from a store that cannot be read.
func notFound(run agent.RunID, err error) error {
	if errors.Is(err, agent.ErrNoRun) {
		return usage("there is no run %q in this store: `deckhand status` lists them", run)
	}
	return &exit{exitFailed, err}
}

// heldBy is the pid of the process that holds the embedded store, 0 if the
// error says something else.
func heldBy(err error) int {
	if held, is := errors.AsType[*sqlite.HeldError](err); is {
		return held.PID
	}
	return 0
}
