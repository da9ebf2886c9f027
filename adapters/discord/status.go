package discord

import (
	"context"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// Working shows that the bot types in the thread, for ten seconds as Discord
// has it. An empty text is nothing to do: it ends by itself.
func (d *Discord) Working(ctx context.Context, thread bot.Address, text string) error {
	if text == "" || thread.ID == "" && thread.Workspace != directSpace {
		return nil
	}
	err := d.api.Call(ctx, http.MethodPost, discordgo.EndpointChannelTyping(roomOf(thread)), nil, nil)
	return api.Failed("show that the bot types in "+thread.String(), err)
}
