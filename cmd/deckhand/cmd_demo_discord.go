package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

func (a *cli) demoDiscordCommand() *cobra.Command {
	return a.demoChatCommand(discord.Platform, "Discord", "REST and gateway", func() (demoPlatform, string) {
		far := discordtest.New(discordtest.Config{})
		return &discordDemo{far: far}, far.URL()
	})
}

// discordDemo is the demo's Discord.
type discordDemo struct {
	far    *discordtest.Server
	thread string // the message that it began with has the same id
}

func (p *discordDemo) configure(c *config.Config) {
	c.Discord.Token, c.Discord.APIURL = config.NewSecret(p.far.Token), p.far.URL()+"/api"
}

func (p *discordDemo) connected() bool {
	return p.far.Connections() > 0 && len(p.far.Commands("")) > 0
}

func (p *discordDemo) wait(ctx context.Context, cond func() bool) error {
	return p.far.Wait(ctx, cond)
}

func (p *discordDemo) say(goal string) {
	p.thread = p.far.Mention(discordtest.Ann, discordtest.General, goal)
}

func (p *discordDemo) posts() []played {
	kinds := map[string]agent.PostKind{"c": agent.PostCard, "k": agent.PostCheckpoint, "r": agent.PostReport}
	var list []played
	for _, m := range p.far.Messages(p.thread) {
		if kind := kinds[m.Nonce[:min(1, len(m.Nonce))]]; kind != "" {
			list = append(list, played{m.ID, kind, p.far.RenderMessage(p.thread, m.ID)})
		}
	}
	return list
}

func (p *discordDemo) click(id, label string) error {
	return p.far.Click(discordtest.Ann, p.thread, id, label)
}

func (p *discordDemo) thanked() bool { return len(p.far.Ephemerals(discordtest.Ann)) > 0 }

func (p *discordDemo) render(w io.Writer) error {
	if err := p.far.Render(w, discordtest.General); err != nil {
		return err
	}
	return p.far.Render(w, p.thread)
}

func (p *discordDemo) close() { p.far.Close() }
