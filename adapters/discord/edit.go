package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

const codeArchived = 50083

// Edit replaces what a message shows. It notifies nobody. A thread that went to
// the archive is taken out for it, unless it is locked.
func (d *Discord) Edit(ctx context.Context, message bot.Address, c bot.Card) error {
	err := d.edit(ctx, message, c)
	if codeOf(err) == codeArchived {
		if err = d.reopen(ctx, message.Channel); err == nil {
			err = d.edit(ctx, message, c)
		}
	}
	return d.failed("edit "+message.String(), err)
}

func (d *Discord) edit(ctx context.Context, at bot.Address, c bot.Card) error {
	return d.show(ctx, c, true, func(ctx context.Context, body message, f *file) error {
		var m sent
		return d.deliver(ctx, http.MethodPatch, discordgo.EndpointChannelMessage(at.Channel, at.ID), body, f, &m)
	})
}
