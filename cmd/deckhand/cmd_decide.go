package main

// This file defines `deckhand approve` and `deckhand deny`, which answer what
// a run asks from the command line, whichever process works the run.

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

func approveCommand(a *cli) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "approve CHECKPOINT", Short: "Approve what a run asks for", Args: single("CHECKPOINT", "`deckhand status` lists what is asked"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd.Context(), agent.CheckpointID(args[0]), agent.DecideApprove, reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`TEXT` that is kept with the decision")
	return c
}

func denyCommand(a *cli) *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use: "deny CHECKPOINT", Short: "Deny what a run asks for", Args: single("CHECKPOINT", "`deckhand status` lists what is asked"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.decide(cmd.Context(), agent.CheckpointID(args[0]), agent.DecideDeny, reason)
		},
	}
	c.Flags().StringVar(&reason, "reason", "", "`TEXT` that the agent is told")
	return c
}

// decide answers a checkpoint from the command line.
func (a *cli) decide(ctx context.Context, id agent.CheckpointID, decision, reason string) error {
	return a.beside(ctx, func(cfg config.Config, s app.Store) error {
		err := app.NewClient(cfg, s).Decide(ctx, bot.Person{ID: bot.Terminal, Full: true}, agent.CheckpointDecided{ID: id, Decision: decision, Text: reason})
		switch {
		case errors.Is(err, runs.ErrNoCheckpoint):
			return usage("%w: `deckhand status` lists what is asked", err)
		case err != nil:
			return &exit{exitFailed, err}
		}
		_, err = fmt.Fprintf(a.err, "%s: %s\n", id, decision)
		return err
	})
}
