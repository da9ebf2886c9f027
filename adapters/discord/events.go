package discord

import (
	"encoding/json"
	"errors"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/gateway"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
)

// connection is the gateway connection as this bot needs it.
func (d *Discord) connection() gateway.Config {
	intents := discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if d.cfg.Content {
		intents |= discordgo.IntentsMessageContent
	}
	t := d.in.times
	return gateway.Config{
		Client: d.api, Intents: intents, Linked: d.in.link, Unlinked: d.in.unlink, Event: d.event, Refused: d.noteToken,
		Hello: t.hello, Invalid: t.invalid, Settled: t.settled, Backoff: t.pauses(), Limiter: &d.in.Log, Log: d.log,
	}
}

// event takes an event of the gateway: what people did is received, what tells
// of channels, servers and roles is remembered. All others are of no concern,
// as is what cannot be read.
func (d *Discord) event(kind string, payload json.RawMessage) {
	switch kind {
	case eventMessage, eventEdit, eventInteraction:
		if err := d.in.Take(parcel{kind: kind, payload: payload}); errors.Is(err, ingest.ErrNotListening) {
			d.in.Log.Warn(d.log, "an event came too late: it is read back after the next start", "kind", kind)
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c api.Channel
		if json.Unmarshal(payload, &c) == nil {
			d.in.halls.learn(c)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var c api.Channel
		if json.Unmarshal(payload, &c) == nil {
			d.in.halls.forget(c.ID)
		}
	case "GUILD_CREATE", "GUILD_DELETE":
		d.guildEvent(kind, payload)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		d.roleEvent(payload)
	}
}

// guildEvent learns the channels of a server, and that the bot came or went.
func (d *Discord) guildEvent(kind string, payload json.RawMessage) {
	var g struct {
		ID          string           `json:"id"`
		Unavailable bool             `json:"unavailable"`
		Channels    []api.Channel    `json:"channels"`
		Threads     []api.Channel    `json:"threads"`
		Roles       []discordgo.Role `json:"roles"`
	}
	if json.Unmarshal(payload, &g) != nil {
		return
	}
	for _, c := range append(g.Channels, g.Threads...) {
		c.Guild = g.ID
		d.in.halls.learn(c)
	}
	d.in.people.recount()
	d.in.roles.learn(g.ID, g.Roles)
	if kind == "GUILD_DELETE" && !g.Unavailable {
		d.in.roles.forget(g.ID, "")
		d.log.Warn("the bot was taken out of a server", "guild", g.ID)
	}
}

// roleEvent learns a role that came, changed or went.
func (d *Discord) roleEvent(payload json.RawMessage) {
	var e struct {
		Guild string         `json:"guild_id"`
		Role  discordgo.Role `json:"role"`
		Gone  string         `json:"role_id"`
	}
	switch {
	case json.Unmarshal(payload, &e) != nil:
	case e.Gone != "":
		d.in.roles.forget(e.Guild, e.Gone)
	case e.Role.ID != "":
		d.in.roles.learn(e.Guild, []discordgo.Role{e.Role})
	}
}
