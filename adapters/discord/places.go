package discord

// This file reads what became of places: the bot was let into a server or given
// a right there, a thread was opened again, a message, a thread or a channel was
// deleted. Nobody is answered for it.

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

// placeEvents are the events of the gateway that tell of places. A single
// message that is gone may be a person's, and is read with what people do.
var placeEvents = []string{
	"GUILD_CREATE", "GUILD_ROLE_UPDATE", "GUILD_MEMBER_UPDATE", "CHANNEL_UPDATE", "THREAD_UPDATE", "THREAD_LIST_SYNC",
	"CHANNEL_DELETE", "THREAD_DELETE", "MESSAGE_DELETE_BULK",
}

// ofPlace reports whether an event tells of places.
func ofPlace(kind string) bool { return slices.Contains(placeEvents, kind) }

// placeEvent is what any of these events holds, as far as it matters here.
type placeEvent struct {
	ID      string                `json:"id"`
	IDs     []string              `json:"ids"`
	Guild   string                `json:"guild_id"`
	Channel string                `json:"channel_id"`
	Parent  string                `json:"parent_id"`
	Type    discordgo.ChannelType `json:"type"`
	User    discordgo.User        `json:"user"`
}

// hearOfPlace tells of a place beside everything else. Where that fails, what
// waits for the place is tried again at its time.
func hearOfPlace(ctx context.Context, d *Discord, hear bot.Hear, p envelope) {
	var e placeEvent
	if err := json.Unmarshal(p.payload, &e); err != nil {
		d.in.Log.Warn(d.log, "an event of Discord's cannot be read and is ignored", "kind", p.kind, "why", err)
		return
	}
	for _, in := range becameOf(d, p.kind, e) {
		d.in.Later(ctx, answerWithin, func(ctx context.Context) {
			if _, err := hear(ctx, in); err != nil {
				d.log.Warn("what became of a place is not taken in", "where", in.Where.String(), "error", err)
			}
		})
	}
}

// becameOf is what an event says of places.
func becameOf(d *Discord, kind string, e placeEvent) []bot.Inbound {
	back := func(guild, channel string) []bot.Inbound {
		return []bot.Inbound{{Where: bot.Address{Platform: api.Platform, Workspace: guild, Channel: channel}, Act: bot.PlaceBack{}}}
	}
	switch kind {
	case "GUILD_CREATE":
		return back(e.ID, "")
	case "GUILD_ROLE_UPDATE", "THREAD_LIST_SYNC":
		return back(e.Guild, "")
	case "GUILD_MEMBER_UPDATE":
		if e.User.ID == d.botUser {
			return back(e.Guild, "")
		}
	case "CHANNEL_UPDATE":
		return back(e.Guild, e.ID)
	case "THREAD_UPDATE":
		return back(e.Guild, e.Parent)
	case "CHANNEL_DELETE":
		return []bot.Inbound{{Where: api.Address(e.Guild, e.ID, ""), Act: bot.PlaceGone{}}}
	case "THREAD_DELETE":
		gone := []bot.Inbound{{Where: api.Address(e.Guild, e.Parent, e.ID), Act: bot.PlaceGone{}}}
		if private := (api.Channel{Type: e.Type}).IsPrivate(); private {
			gone = append(gone, bot.Inbound{Where: api.Thread(e.Guild, e.Parent, e.ID, private), Act: bot.PlaceGone{}})
		}
		return gone
	case "MESSAGE_DELETE_BULK":
		return deletedMessages(d, e)
	}
	return nil
}

// deletedMessages are messages that are gone, of threads and conversations: the
// bot's own, or words that a run heard.
func deletedMessages(d *Discord, e placeEvent) []bot.Inbound {
	thread := api.Address("", e.Channel, e.Channel)
	if e.Guild != "" {
		c, known := d.directory.KnownChannel(e.Channel)
		if !known || !c.IsThread() {
			return nil
		}
		thread = api.Thread(e.Guild, c.Parent, e.Channel, c.IsPrivate())
	}
	var list []bot.Inbound
	for _, id := range e.IDs {
		m := api.Address(e.Guild, e.Channel, id)
		list = append(list, bot.Inbound{Keys: []string{m.String() + ":deleted"}, Where: thread, Message: m, Act: bot.Unsaid{}})
	}
	return list
}
