package discord

// This file reads back what people wrote while the bot was away and has it
// heard in order, because the gateway itself makes up only for short breaks.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/directory"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	overlap    = time.Minute // events of a server come in no certain order
	maxPages   = 10
	pageSize   = 100
	readWithin = 10 * time.Second // one request
)

// busyChannel is a channel, thread or conversation in which something was said since.
type busyChannel struct {
	api.Channel

	after int64
}

// catchUp reads everything that was said since it was read last, and hears what
// concerns the bot in the order in which it was said. Where nothing is known of
// earlier times, there is nothing to catch up.
func (d *Discord) catchUp(ctx, late context.Context, hear bot.Hear) error {
	began := time.Now()
	d.in.SaveMarks(ctx, false)
	since, err := d.in.Marks.Since(ctx)
	if err != nil || since.Nothing() {
		return err
	}
	areas, err := d.areas(ctx, since)
	if err != nil {
		return err
	}
	unread := &backlog{account: &d.account, directory: d.directory, log: d.log}
	return ingest.Replay[area, *update]{
		Read:  func(a area) ([]*update, error) { return unread.missed(ctx, a) },
		Order: inOrder,
		Hear:  func(n *update) error { return d.hearMissed(late, hear, began, n) },
		Done:  func(a area) { d.in.Marks.CaughtUp(a.name, api.FirstID(began)) },
	}.All(ctx, areas)
}

// area is a server, or a direct conversation, with the id after which it is read.
type area struct {
	name, guild, direct string
	after               int64
}

// areas are all servers that the bot is in, and the conversations that it had.
func (d *Discord) areas(ctx context.Context, since ingest.Since) ([]area, error) {
	guilds, err := d.directory.Guilds(ctx)
	if err != nil {
		return nil, err
	}
	return areasSince(guilds, since, api.FirstID(time.Now().Add(-d.cfg.CatchUp-30*24*time.Hour))), nil
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

// backlog reads back what was said while the bot was away.
type backlog struct {
	*account

	directory *directory.Directory
	log       *slog.Logger
}

// missed is what was said in an area since it was read.
func (b *backlog) missed(ctx context.Context, a area) (found []*update, err error) {
	channels := []busyChannel{{Channel: api.Channel{ID: a.direct, Type: discordgo.ChannelTypeDM}, after: a.after}}
	if a.guild != "" {
		if channels, err = b.busyChannels(ctx, a.guild, a.after); err != nil {
			return nil, fmt.Errorf("look where something was said in the server %s: %w", a.guild, err)
		}
	}
	for _, c := range channels {
		list, err := b.missedIn(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("read back what was said in the channel %s: %w", c.ID, err)
		}
		found = append(found, list...)
	}
	return found, nil
}

// busyChannels are the channels and open threads of a server in which something
// was said after an id. A thread that something is said in is open.
func (b *backlog) busyChannels(ctx context.Context, guild string, after int64) ([]busyChannel, error) {
	var channels []api.Channel
	if err := b.readBack(ctx, discordgo.EndpointGuildChannels(guild), &channels); err != nil {
		return nil, b.unreadable("server", guild, err)
	}
	var active struct {
		Threads []api.Channel `json:"threads"`
	}
	if err := b.readBack(ctx, discordgo.EndpointGuildActiveThreads(guild), &active); err != nil {
		return nil, b.unreadable("server", guild, err)
	}
	var list []busyChannel
	for _, c := range append(channels, active.Threads...) {
		c.Guild = guild
		b.directory.LearnChannel(c)
		if api.Number(c.Last) > after {
			list = append(list, busyChannel{c, after})
		}
	}
	return list, nil
}

// missedIn is what was said in a channel after an id, as far as it concerns the bot.
func (b *backlog) missedIn(ctx context.Context, c busyChannel) ([]*update, error) {
	var list []*update
	after := c.after
	for range maxPages {
		var page []json.RawMessage
		endpoint := fmt.Sprintf("%s?limit=%d&after=%d", discordgo.EndpointChannelMessages(c.ID), pageSize, after)
		if err := b.readBack(ctx, endpoint, &page); err != nil {
			return list, b.unreadable("channel", c.ID, err)
		}
		for _, raw := range page {
			var s api.Message
			if json.Unmarshal(raw, &s) != nil {
				continue // one that cannot be read is no reason to leave out the others
			}
			after = max(after, api.Number(s.ID))
			s.Channel, s.Guild = c.ID, c.Guild
			if n, err := b.readMessage(&s, false); err == nil && n != nil && n.isEvent() {
				list = append(list, n)
			}
		}
		if len(page) < pageSize {
			return list, nil
		}
	}
	b.log.Warn("too much was said to read it all back: the newest is left out", "channel", c.ID, "read", maxPages*pageSize)
	return list, nil
}

// unreadable is nil for what cannot be read at all, which is no reason to leave
// out the rest.
func (b *backlog) unreadable(what, id string, err error) error {
	if status := api.Status(err); status == http.StatusForbidden || status == http.StatusNotFound {
		b.log.Info("something cannot be read back and is left out", "kind", what, "id", id, "error", api.Code(err))
		return nil
	}
	return err
}

// readBack asks again while Discord is busy or out of order.
func (b *backlog) readBack(ctx context.Context, endpoint string, out any) error {
	return api.Retry(ctx, true, func() error {
		once, cancel := context.WithTimeout(ctx, readWithin)
		defer cancel()
		return b.api.Call(once, http.MethodGet, endpoint, nil, out)
	})
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
	answer, err := d.hear(late, hear, n)
	if err != nil {
		return fmt.Errorf("write down what was said at %s: %w", n.in.Message, err)
	}
	d.answers.answer(late, n, answer)
	return nil
}

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
func watermarkOf(n *update) ingest.Mark {
	if n.reply != nil {
		return ingest.Mark{}
	}
	return ingest.Mark{Place: areaOf(n.guild, n.channel), At: api.Number(n.id)}
}
