package main

// This file defines `deckhand manifest`, which prints what an administrator
// needs to set up the Slack or Discord app, and registers the Discord
// commands where a token is set.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
)

func manifestCommand(a *cli) *cobra.Command {
	c := &cobra.Command{
		Use: "manifest slack|discord", Short: "Print what a chat platform needs to make the app: scopes, events, commands",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage("manifest needs a platform: deckhand manifest slack, or deckhand manifest discord")
			}
			return usage("there is no manifest of %q: deckhand manifest slack, or deckhand manifest discord", args[0])
		},
	}
	c.AddCommand(&cobra.Command{
		Use: "slack", Short: "Print the Slack app manifest (YAML), each scope with its reason", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(a.out, slack.Manifest)
			return err
		},
	})
	c.AddCommand(&cobra.Command{
		Use: "discord", Short: "Print the bot's invitation, permissions, intents and commands (JSON), and register the commands where DISCORD_TOKEN is set", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.manifestDiscord(cmd.Context()) },
	})
	return c
}

// manifestDiscord prints what Discord has to be told. The address to open comes
// last and by itself: the commands above it fill more than one screen.
func (a *cli) manifestDiscord(ctx context.Context) error {
	cfg, err := a.load()
	if err != nil {
		return err
	}
	appID, done := cfg.Discord.AppID, ""
	var unregistered error
	if cfg.Discord.Token.Present() {
		var known string
		done, known, unregistered = discord.Register(ctx, app.DiscordConfig(cfg, slog.New(slog.DiscardHandler)))
		appID = cmp.Or(appID, known)
	}
	text, err := discord.Manifest(appID, cfg.Discord.GuildID)
	if err != nil {
		return &exit{exitFailed, err}
	}
	if _, err = fmt.Fprint(a.out, text); err != nil {
		return err
	}
	if done != "" {
		fmt.Fprintln(a.err, done)
	}
	if appID != "" {
		fmt.Fprintln(a.err, "to invite it, open "+discord.Invitation(appID))
	} else {
		fmt.Fprintln(a.err, "set DISCORD_APP_ID to the Application ID (General Information), and this prints the address that invites the bot")
	}
	if errors.Is(unregistered, bot.ErrRefused) {
		return usage("the commands are not registered, Discord refuses it: %w", unregistered)
	}
	if unregistered != nil {
		return &exit{exitFailed, fmt.Errorf("the commands are not registered, since Discord did not answer as it should; `serve` registers them too, or try again: %w", unregistered)}
	}
	return nil
}
