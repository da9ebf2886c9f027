package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

func (a *app) demoDiscordCommand() *cobra.Command {
	return a.demoChatCommand(discord.Platform, "Discord", "REST and gateway", func() (theatre, string) {
		far := discordtest.New(discordtest.Config{})
		return &discordTheatre{far: far}, far.URL()
	})
}

// discordTheatre is the demo's Discord.
type discordTheatre struct {
	far    *discordtest.Server
	thread string // the message that it began with has the same id
}

func (t *discordTheatre) connect(ctx context.Context, s store, log *slog.Logger) (bot.Platform, error) {
	return discord.New(ctx, discord.Config{Token: t.far.Token, APIURL: t.far.URL() + "/api", Gateway: true, Names: s, Log: log})
}

func (t *discordTheatre) connected() bool {
	return t.far.Connections() > 0 && len(t.far.Commands("")) > 0
}

func (t *discordTheatre) wait(ctx context.Context, cond func() bool) error {
	return t.far.Wait(ctx, cond)
}

func (t *discordTheatre) say(goal string) {
	t.thread = t.far.Mention(discordtest.Ann, discordtest.General, goal)
}

func (t *discordTheatre) posts() []played {
	kinds := map[string]agent.PostKind{"c": agent.PostCard, "k": agent.PostCheckpoint, "r": agent.PostReport}
	var list []played
	for _, m := range t.far.Messages(t.thread) {
		if kind := kinds[m.Nonce[:min(1, len(m.Nonce))]]; kind != "" {
			list = append(list, played{m.ID, kind, t.far.RenderMessage(t.thread, m.ID)})
		}
	}
	return list
}

func (t *discordTheatre) click(id, label string) error {
	return t.far.Click(discordtest.Ann, t.thread, id, label)
}

func (t *discordTheatre) thanked() bool { return len(t.far.Ephemerals(discordtest.Ann)) > 0 }

func (t *discordTheatre) render(w io.Writer) error {
	if err := t.far.Render(w, discordtest.General); err != nil {
		return err
	}
	return t.far.Render(w, t.thread)
}

func (t *discordTheatre) close() { t.far.Close() }
