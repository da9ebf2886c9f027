package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/bot"
)

// Edit replaces what a message shows. It notifies nobody. A thread that went to
// the archive is taken out for it, unless it is locked.
func (d *Discord) Edit(ctx context.Context, message bot.Address, c bot.Card) error {
	err := d.edit(ctx, message, c)
	if api.Code(err) == discordgo.ErrCodePerformedOperationOnArchivedThread {
		if err = d.reopen(ctx, message.Channel); err == nil {
			err = d.edit(ctx, message, c)
		}
	}
	return api.Failed("edit "+message.String(), err)
}

func (d *Discord) edit(ctx context.Context, at bot.Address, c bot.Card) error {
	return d.show(ctx, c, true, func(ctx context.Context, body draw.Message, f *api.File) error {
		var m api.Sent
		return d.api.Deliver(ctx, http.MethodPatch, discordgo.EndpointChannelMessage(at.Channel, at.ID), body, f, &m)
	})
}
