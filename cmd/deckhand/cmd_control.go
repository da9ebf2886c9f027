package main

// This file defines `deckhand pause` and `deckhand cancel`, with which a
// person stops a run for a while or for good, whichever process works it.

import (
	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/agent"
)

func pauseCommand(a *cli) *cobra.Command {
	return &cobra.Command{
		Use: "pause RUN", Short: "Pause a run", Args: single("RUN", "`deckhand status` lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.control(cmd.Context(), agent.RunID(args[0]), agent.RunControlled{Word: agent.WordPause}, "paused; go on with: deckhand resume "+args[0])
		},
	}
}

func cancelCommand(a *cli) *cobra.Command {
	return &cobra.Command{
		Use: "cancel RUN", Short: "End a run for good", Args: single("RUN", "`deckhand status` lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.control(cmd.Context(), agent.RunID(args[0]), agent.RunControlled{Word: agent.WordCancel},
				"cancelled; whoever works on it ends what is under way and reports what there is")
		},
	}
}
