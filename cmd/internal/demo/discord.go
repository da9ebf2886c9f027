package demo

// This file plays the demo on a local Discord: it turns what Ann says, clicks
// and sees into calls of discordtest.

import (
	"context"
	"io"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Discord is a local Discord.
func Discord() Platform { return &discordThread{Server: discordtest.New(discordtest.Config{})} }

type discordThread struct {
	*discordtest.Server

	thread string // the message that it began with has the same id
}

func (d *discordThread) configure(c *config.Config) {
	c.Discord.Token, c.Discord.APIURL = config.NewSecret(d.Token), d.URL()+"/api"
}

func (d *discordThread) wait(ctx context.Context, cond func() bool) error {
	return d.Wait(ctx, cond)
}

func (d *discordThread) say(goal string) {
	d.thread = d.Mention(discordtest.Ann, discordtest.General, goal)
}

func (d *discordThread) posts() []post {
	kinds := map[string]agent.PostKind{"c": agent.PostCard, "k": agent.PostCheckpoint, "r": agent.PostReport}
	var list []post
	for _, m := range d.Messages(d.thread) {
		if kind := kinds[m.Nonce[:min(1, len(m.Nonce))]]; kind != "" {
			list = append(list, post{m.ID, kind, d.RenderMessage(d.thread, m.ID)})
		}
	}
	return list
}

func (d *discordThread) click(id, label string) error {
	return d.Click(discordtest.Ann, d.thread, id, label)
}

func (d *discordThread) thanked() bool { return len(d.Ephemerals(discordtest.Ann)) > 0 }

func (d *discordThread) render(w io.Writer) error {
	if err := d.Render(w, discordtest.General); err != nil {
		return err
	}
	return d.Render(w, d.thread)
}
