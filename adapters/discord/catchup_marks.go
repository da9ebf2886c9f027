package discord

import (
	"context"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent/wait"
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
		return directSpace + ":" + channel
	}
	return guild
}

// begin notes that a message arrived. Interactions cannot be read back.
func (d *Discord) begin(n *notice) {
	if n.reply == nil {
		d.in.marks.Begin(areaOf(n.guild, n.channel), api.Number(n.id))
	}
}

// end notes that it is written down, or is not.
func (d *Discord) end(n *notice, ok bool) {
	if n.reply == nil {
		d.in.marks.End(areaOf(n.guild, n.channel), api.Number(n.id), ok)
	}
}

// skip notes what there is nothing to hear in.
func (d *Discord) skip(n *notice) { d.in.marks.Skip(areaOf(n.guild, n.channel), api.Number(n.id)) }

// keepMarks saves the marks every few seconds.
func (d *Discord) keepMarks(ctx context.Context) {
	for wait.Sleep(ctx, d.in.times.save) {
		d.saveMarks(ctx, d.connected())
	}
}

// saveMarks writes down how far was heard, and when all was well.
func (d *Discord) saveMarks(ctx context.Context, connected bool) {
	online := int64(0)
	if connected {
		online = api.FirstID(time.Now())
	}
	if err := d.in.marks.Save(ctx, online); err != nil {
		d.in.quiet.Warn(d.log, "how far was read could not be saved", "error", err)
	}
}
