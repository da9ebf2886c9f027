package directory

import (
	"encoding/json"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
)

// Learn takes an event of the gateway that tells of channels, servers or roles.
// All others are of no concern, as is what cannot be read.
func (d *Directory) Learn(kind string, payload json.RawMessage) {
	switch kind {
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c api.Channel
		if json.Unmarshal(payload, &c) == nil {
			d.channels.learn(c)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var c api.Channel
		if json.Unmarshal(payload, &c) == nil {
			d.channels.forget(c.ID)
		}
	case "GUILD_CREATE", "GUILD_DELETE":
		d.learnGuild(kind, payload)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		d.learnRole(payload)
	}
}

// learnGuild learns the channels of a server, and that the bot came or went.
func (d *Directory) learnGuild(kind string, payload json.RawMessage) {
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
		d.channels.learn(c)
	}
	d.guilds.Expire("")
	d.roles.learn(g.ID, g.Roles)
	if kind == "GUILD_DELETE" && !g.Unavailable {
		d.roles.forget(g.ID, "")
		d.log.Warn("the bot was taken out of a server", "guild", g.ID)
	}
}

// learnRole learns a role that came, changed or went.
func (d *Directory) learnRole(payload json.RawMessage) {
	var e struct {
		Guild string         `json:"guild_id"`
		Role  discordgo.Role `json:"role"`
		Gone  string         `json:"role_id"`
	}
	switch {
	case json.Unmarshal(payload, &e) != nil:
	case e.Gone != "":
		d.roles.forget(e.Guild, e.Gone)
	case e.Role.ID != "":
		d.roles.learn(e.Guild, []discordgo.Role{e.Role})
	}
}
