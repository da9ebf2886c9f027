package main

// This file defines `deckhand journal`, which prints all events of a run as
// JSON lines, for scripts and for finding out what happened.

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

func journalCommand(a *cli) *cobra.Command {
	return &cobra.Command{
		Use: "journal RUN", Short: "Print a run's journal as JSON lines", Args: single("RUN", "`deckhand status` lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.beside(cmd.Context(), func(_ config.Config, s app.Store) error {
				return a.printJournal(cmd.Context(), s, agent.RunID(args[0]))
			})
		},
	}
}

// printJournal prints a run's events as JSON lines, also those before a damaged
// one.
func (a *cli) printJournal(ctx context.Context, journals runs.Journals, run agent.RunID) error {
	events, unread := journals.Read(ctx, run, 0)
	enc := format.Encoder(a.out)
	for _, e := range events {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	if unread != nil {
		return notFound(run, unread)
	}
	return nil
}
