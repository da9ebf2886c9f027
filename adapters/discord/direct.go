package discord

import (
	"context"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// Direct opens the direct conversation with a person. The conversation is its
// own thread.
func (d *Discord) Direct(ctx context.Context, who string) (bot.Address, error) {
	id, is := api.UserID(who)
	if !is {
		return bot.Address{}, fmt.Errorf("talk to %q alone: that is no person of Discord: %w", who, bot.ErrGone)
	}
	ctx, cancel := context.WithTimeout(ctx, d.cfg.PostTimeout)
	defer cancel()
	var c struct {
		ID string `json:"id"`
	}
	err := d.api.Call(ctx, http.MethodPost, discordgo.EndpointUserChannels("@me"), map[string]string{"recipient_id": id}, &c)
	if err != nil {
		return bot.Address{}, api.Failed("open the direct conversation with "+who, err)
	}
	if c.ID == "" {
		return bot.Address{}, fmt.Errorf("open the direct conversation with %s: Discord names no channel: %w", who, bot.ErrLost)
	}
	return place("", c.ID, c.ID), nil
}
