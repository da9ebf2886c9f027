package discord

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	overlap    = time.Minute     // events of a server come in no certain order
	batchFor   = 5 * time.Second // what was found in this time is heard in its order
	maxPages   = 10
	pageSize   = 100
	readWithin = 10 * time.Second // one request
)

// lately is a channel, thread or conversation in which something was said since.
type lately struct {
	api.Channel

	after int64
}

// catchUps reads back what was missed, each time that something is owed.
func (d *Discord) catchUps(ctx, late context.Context, hear bot.Hear) {
	d.in.missed.Run(ctx, ingest.CatchUp{
		Read:    func() error { return d.catchUp(ctx, late, hear) },
		Saved:   func() { d.saveMarks(ctx, d.connected()) },
		Backoff: d.in.times.pauses(), Failed: d.in.times.failed, Log: d.log,
	})
}

// catchUp reads everything that was said since it was read last, and hears what
// concerns the bot in the order in which it was said. Where nothing is known of
// earlier times, there is nothing to catch up.
func (d *Discord) catchUp(ctx, late context.Context, hear bot.Hear) error {
	began := time.Now()
	d.saveMarks(ctx, false)
	since, err := d.readSince(ctx)
	if err != nil || since == nil {
		return err
	}
	areas, err := d.areas(ctx, since)
	if err != nil {
		return err
	}
	var found []*notice
	var read []string
	flush := func() error {
		if err := d.hearMissed(ctx, late, hear, began, found); err != nil {
			return err
		}
		for _, area := range read {
			d.in.marks.CaughtUp(area, api.FirstID(began))
		}
		found, read = nil, nil
		return nil
	}
	last := time.Now()
	for _, a := range areas {
		after := since.of(a.name)
		if after == 0 {
			continue
		}
		list, err := d.missed(ctx, a, after)
		if err != nil {
			return err
		}
		found, read = append(found, list...), append(read, a.name)
		if time.Since(last) > batchFor {
			if err := flush(); err != nil {
				return err
			}
			last = time.Now()
		}
	}
	return flush()
}

// area is a server, or a direct conversation.
type area struct{ name, guild, direct string }

// areas are all servers that the bot is in, and the conversations that it had.
func (d *Discord) areas(ctx context.Context, since *readings) ([]area, error) {
	guilds, err := d.guilds(ctx)
	if err != nil {
		return nil, err
	}
	var list []area
	for _, id := range guilds {
		list = append(list, area{name: areaOf(id, ""), guild: id})
	}
	for _, id := range since.direct() {
		list = append(list, area{name: areaOf("", id), direct: id})
	}
	return list, nil
}

// missed is what was said in an area after an id.
func (d *Discord) missed(ctx context.Context, a area, after int64) (found []*notice, err error) {
	channels := []lately{{Channel: api.Channel{ID: a.direct, Type: discordgo.ChannelTypeDM}, after: after}}
	if a.guild != "" {
		if channels, err = d.busyChannels(ctx, a.guild, after); err != nil {
			return nil, fmt.Errorf("look where something was said in the server %s: %w", a.guild, err)
		}
	}
	for _, c := range channels {
		list, err := d.missedIn(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("read back what was said in the channel %s: %w", c.ID, err)
		}
		found = append(found, list...)
	}
	return found, nil
}

// readings are how far was read.
type readings struct {
	kept    ingest.SavedMarks
	unheard map[string]int64 // by area: the id before what could not be heard since the start
	oldest  int64            // nothing before it is read
}

// readSince is how far was read; nil: nothing is known of earlier times. What
// could not be heard since the start is read again in any case.
func (d *Discord) readSince(ctx context.Context) (*readings, error) {
	kept, err := d.in.marks.Load(ctx)
	if err != nil {
		return nil, err
	}
	r := &readings{kept: kept, unheard: d.in.marks.Unheard(), oldest: api.FirstID(time.Now().Add(-d.cfg.CatchUp - 30*24*time.Hour))}
	if kept.Online == 0 && len(kept.Places) == 0 && len(r.unheard) == 0 {
		return nil, nil //nolint:nilnil // the first start
	}
	return r, nil
}

// of is the id after which an area is read; zero: nothing is known of earlier
// times. When all was well nothing had failed anywhere here; what was being
// written down just then lies within the overlap.
func (r *readings) of(area string) int64 {
	after := max(r.kept.Places[area], r.kept.Online)
	if at, failed := r.unheard[area]; failed && (after == 0 || at < after) {
		after = at // another replica read on
	}
	if after == 0 {
		return 0
	}
	return max(api.FirstID(api.Time(strconv.FormatInt(after, 10)).Add(-overlap)), r.oldest)
}

// direct are the conversations in which something was said before.
func (r *readings) direct() []string {
	var list []string
	for _, areas := range []map[string]int64{r.kept.Places, r.unheard} {
		for area := range areas {
			if id, is := strings.CutPrefix(area, directSpace+":"); is {
				list = append(list, id)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// busyChannels are the channels and open threads of a server in which something
// was said after an id. A thread that something is said in is open.
func (d *Discord) busyChannels(ctx context.Context, guild string, after int64) ([]lately, error) {
	var channels []api.Channel
	if err := d.readBack(ctx, discordgo.EndpointGuildChannels(guild), &channels); err != nil {
		return nil, d.unreadable("server", guild, err)
	}
	var active struct {
		Threads []api.Channel `json:"threads"`
	}
	if err := d.readBack(ctx, discordgo.EndpointGuildActiveThreads(guild), &active); err != nil {
		return nil, d.unreadable("server", guild, err)
	}
	var list []lately
	for _, c := range append(channels, active.Threads...) {
		c.Guild = guild
		d.in.halls.learn(c)
		if api.Number(c.Last) > after {
			list = append(list, lately{c, after})
		}
	}
	return list, nil
}

// missedIn is what was said in a channel after an id, as far as it concerns the bot.
func (d *Discord) missedIn(ctx context.Context, c lately) ([]*notice, error) {
	var list []*notice
	after := c.after
	for range maxPages {
		var page []json.RawMessage
		endpoint := fmt.Sprintf("%s?limit=%d&after=%d", discordgo.EndpointChannelMessages(c.ID), pageSize, after)
		if err := d.readBack(ctx, endpoint, &page); err != nil {
			return list, d.unreadable("channel", c.ID, err)
		}
		for _, raw := range page {
			var s api.Message
			if json.Unmarshal(raw, &s) != nil {
				continue // one that cannot be read is no reason to leave out the others
			}
			after = max(after, api.Number(s.ID))
			s.Channel, s.Guild = c.ID, c.Guild
			if n, err := d.spoken(&s, false); err == nil && n != nil && n.heard() {
				list = append(list, n)
			}
		}
		if len(page) < pageSize {
			return list, nil
		}
	}
	d.log.Warn("too much was said to read it all back: the newest is left out", "channel", c.ID, "read", maxPages*pageSize)
	return list, nil
}

// unreadable is nil for what cannot be read at all, which is no reason to leave
// out the rest.
func (d *Discord) unreadable(what, id string, err error) error {
	if status := api.Status(err); status == http.StatusForbidden || status == http.StatusNotFound {
		d.log.Info("something cannot be read back and is left out", "kind", what, "id", id, "error", api.Code(err))
		return nil
	}
	return err
}

// readBack asks again while Discord is busy or out of order.
func (d *Discord) readBack(ctx context.Context, endpoint string, out any) error {
	return api.Retry(ctx, true, func() error {
		once, cancel := context.WithTimeout(ctx, readWithin)
		defer cancel()
		return d.api.Call(once, http.MethodGet, endpoint, nil, out)
	})
}

// skew is how far Discord's clock may be ahead of this one.
const skew = time.Second

// hearMissed hears what was found, in the order in which it was said. What was
// said since the bot is back is not missed: it only came another way.
func (d *Discord) hearMissed(ctx, late context.Context, hear bot.Hear, began time.Time, found []*notice) error {
	slices.SortStableFunc(found, func(a, b *notice) int { return cmp.Compare(api.Number(a.id), api.Number(b.id)) })
	for _, n := range found {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		n.again = true
		n.in.Missed = n.in.At.Before(began.Add(skew))
		answer, err := d.tell(late, hear, n)
		if err != nil {
			return fmt.Errorf("write down what was said at %s: %w", n.in.Message, err)
		}
		d.answer(late, n, answer)
	}
	return nil
}
