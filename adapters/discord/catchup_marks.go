package discord

import (
	"strconv"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
)

// ids are Discord's ids as positions: they grow with time.
var ids = ingest.Positions{
	Write: func(id int64) string { return strconv.FormatInt(id, 10) },
	Read:  api.Number,
}

// seenName is the name under which a store keeps how far was heard. Bots differ:
// a store may serve a new one after the old.
func (d *Discord) seenName() string { return "seen/" + Platform + ":" + d.botUser }

// areaOf is what a message counts for: ids grow over all channels of a server,
// and direct conversations have to be remembered one by one.
func areaOf(guild, channel string) string {
	if guild == "" {
		return api.DirectSpace + ":" + channel
	}
	return guild
}

// watermarkOf is where a message stands among those of its area. Interactions
// have none: they cannot be read back.
func watermarkOf(n *notice) ingest.Mark {
	if n.reply != nil {
		return ingest.Mark{}
	}
	return ingest.Mark{Place: areaOf(n.guild, n.channel), At: api.Number(n.id)}
}
