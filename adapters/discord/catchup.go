package discord

// This file reads back what people wrote while the bot was away and has it
// heard in order, because the gateway itself makes up only for short breaks.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	overlap    = time.Minute // events of a server come in no certain order
	pageSize   = 100
	readWithin = 10 * time.Second // one request
)

// catchUp reads everything that was said since it was read last, and hears what
// concerns the bot in the order in which it was said. Where nothing is known of
// earlier times, there is nothing to catch up.
func (d *Discord) catchUp(ctx, late context.Context, hear bot.Hear) error {
	began, err := ingest.Now(ctx, d.cfg.Clock)
	if err != nil {
		return err
	}
	d.in.SaveMarks(ctx, false)
	since, err := d.in.Marks.Since(ctx, api.FirstID(began.Add(ingest.Ahead)))
	if err != nil || since.Nothing() {
		return err
	}
	areas, err := d.areas(ctx, since, began)
	if err != nil {
		return err
	}
	unread := &backlog{account: &d.account, directory: d.directory, log: d.log, runThreads: d.runThreads}
	parts := make([]*part, len(areas))
	for i, a := range areas {
		parts[i] = &part{area: a}
	}
	return ingest.Replay[*part, *update]{
		Read:  func(p *part) ([]*update, []*part, error) { return unread.missed(ctx, p) },
		Order: inOrder,
		Hear:  func(n *update) error { return d.hearMissed(late, hear, began, n) },
		Done: func(p *part) {
			upTo, more := api.FirstID(began), p.upTo > 0
			if more {
				upTo = p.upTo
			}
			if gone := d.in.Marks.CaughtUp(p.name, upTo, more); gone > 0 {
				d.log.Warn("messages that could not be taken in are not in Discord any more", "area", p.name, "messages", gone)
			}
		},
	}.All(ctx, parts)
}

// part is one step in which an area is read back.
type part struct {
	area

	upTo int64 // it was read so far, and there is more; 0: all of it
}

// area is a server, or a direct conversation, with the id after which it is read.
type area struct {
	name, guild, direct string
	after               int64
}

// areas are all servers that the bot is in, and the conversations that it had.
func (d *Discord) areas(ctx context.Context, since ingest.Since, now time.Time) ([]area, error) {
	guilds, err := d.directory.Guilds(ctx)
	if err != nil {
		return nil, err
	}
	return areasSince(guilds, since, api.FirstID(now.Add(-d.cfg.CatchUp-30*24*time.Hour))), nil
}

// areasSince are the areas of which something is known from earlier times.
// Nothing before the oldest id is read.
func areasSince(guilds []string, since ingest.Since, oldest int64) []area {
	var list []area
	for _, id := range guilds {
		list = append(list, area{name: areaOf(id, ""), guild: id})
	}
	for _, name := range since.Known() {
		if id, is := strings.CutPrefix(name, api.DirectSpace+":"); is {
			list = append(list, area{name: name, direct: id})
		}
	}
	for i, a := range list {
		if after := since.Of(a.name, 0); after > 0 {
			list[i].after = max(api.FirstID(api.Time(strconv.FormatInt(after, 10)).Add(-overlap)), oldest)
		}
	}
	return slices.DeleteFunc(list, func(a area) bool { return a.after == 0 })
}

// skew is how far Discord's clock may be ahead of this one.
const skew = time.Second

// inOrder are messages in the order in which they were said.
func inOrder(found []*update) []*update {
	slices.SortStableFunc(found, func(a, b *update) int { return cmp.Compare(api.Number(a.id), api.Number(b.id)) })
	return found
}

// hearMissed hears a message that was found. What was said since the bot is
// back is not missed: it only came another way.
func (d *Discord) hearMissed(late context.Context, hear bot.Hear, began time.Time, n *update) error {
	n.again = true
	n.in.Missed = n.in.At.Before(began.Add(skew))
	var answer bot.Answer
	if err := d.in.HearMissed(late, d.markOf(n), d.hearing(hear, n, &answer)); err != nil {
		return fmt.Errorf("write down what was said at %s: %w", n.in.Message, err)
	}
	d.answers.answer(late, n, answer)
	return nil
}

// runThreads are the threads of a server's channel in which runs live.
func (d *Discord) runThreads(ctx context.Context, guild, channel string) ([]string, error) {
	var list []string
	at := api.Address(guild, channel, "")
	for _, prefix := range []string{threadName(at), agent.ThreadName(at.Place() + agent.Inner)} {
		names, err := d.cfg.Names.Values(ctx, prefix)
		if err != nil {
			return nil, fmt.Errorf("the threads of the runs: %w", err)
		}
		for name := range names {
			list = append(list, name[strings.LastIndexByte(name, ':')+1:])
		}
	}
	return list, nil
}

// ids are Discord's ids as positions: they grow with time.
var ids = ingest.Positions{
	Write: func(id int64) string { return strconv.FormatInt(id, 10) },
	Read:  api.Number,
}

// seenName is the name under which a store keeps how far was heard. Bots differ:
// a store may serve a new one after the old.
func (a *account) seenName() string { return "seen/" + Platform + ":" + a.botUser }

// areaOf is what a message counts for: ids grow over all channels of a server,
// and direct conversations have to be remembered one by one.
func areaOf(guild, channel string) string {
	if guild == "" {
		return api.DirectSpace + ":" + channel
	}
	return guild
}

// markOf is where a message stands among those of its area. Interactions cannot
// be read back: they have a lane alone.
func (d *Discord) markOf(n *update) ingest.Mark {
	if n.reply != nil {
		return ingest.Mark{Lane: n.channel}
	}
	m := ingest.Mark{Place: areaOf(n.guild, n.channel), At: api.Number(n.id), Lane: n.channel}
	if c, known := d.directory.KnownChannel(n.channel); known && !c.IsThread() && !c.IsDirect() && n.root != "" {
		m.Lane = n.root // the thread that begins there
	}
	return m
}
