package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/slack"
)

func (a *app) manifestCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "manifest slack", Short: "Print what a chat platform needs to make the app: scopes, events, commands",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("manifest needs a platform: deckhand manifest slack")
			}
			return usage("there is no manifest of %q: deckhand manifest slack", args[0])
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "slack", Short: "Print the Slack app manifest (YAML), each scope with its reason", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.out, slack.Manifest)
			return err
		},
	})
	return c
}
