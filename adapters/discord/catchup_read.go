package discord

// This file reads a server or a direct conversation back in steps of bounded
// size, the oldest first: its channels, its open threads, and those that were
// archived since, as all are that nobody writes in for a while.

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/directory"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// backlog reads back what was said while the bot was away.
type backlog struct {
	*account

	directory *directory.Directory
	log       *slog.Logger
	// runThreads are the threads of a channel in which runs live.
	runThreads func(ctx context.Context, guild, channel string) ([]string, error)
}

// missed is what was said in an area since it was read. Of very much the oldest
// is heard first, and the rest read afterwards.
func (b *backlog) missed(ctx context.Context, p *part) (found []*update, more []*part, err error) {
	channels := []api.Channel{{ID: p.direct, Type: discordgo.ChannelTypeDM}}
	if p.guild != "" {
		if channels, err = b.busyChannels(ctx, p.guild, p.after); err != nil {
			return nil, nil, fmt.Errorf("look where something was said in the server %s: %w", p.guild, err)
		}
	}
	oldest := &ingest.Oldest[*update]{At: func(n *update) int64 { return api.Number(n.id) }}
	for _, c := range channels {
		if err := b.missedIn(ctx, c, p.after, oldest); err != nil {
			return nil, nil, fmt.Errorf("read back what was said in the channel %s: %w", c.ID, err)
		}
	}
	found, p.upTo = oldest.Found()
	if p.upTo > 0 {
		next := *p
		next.after, next.upTo = p.upTo, 0
		more = []*part{&next}
	}
	return found, more, nil
}

// busyChannels are the channels and threads of a server in which something was
// said after an id.
func (b *backlog) busyChannels(ctx context.Context, guild string, after int64) ([]api.Channel, error) {
	var channels []api.Channel
	if err := b.readBack(ctx, discordgo.EndpointGuildChannels(guild), &channels); err != nil {
		return nil, b.unreadable("server", guild, err)
	}
	var active threadPage
	if err := b.readBack(ctx, discordgo.EndpointGuildActiveThreads(guild), &active); err != nil {
		return nil, b.unreadable("server", guild, err)
	}
	all := slices.Concat(channels, active.Threads)
	for _, c := range channels {
		archived, err := b.archivedThreads(ctx, guild, c, after)
		if err != nil {
			return nil, err
		}
		all = append(all, archived...)
	}
	slices.SortStableFunc(all, func(x, y api.Channel) int { return cmp.Compare(api.Number(x.ID), api.Number(y.ID)) })
	all = slices.CompactFunc(all, func(x, y api.Channel) bool { return x.ID == y.ID })
	var list []api.Channel
	for _, c := range all {
		c.Guild = guild
		b.directory.LearnChannel(c)
		if api.Number(c.Last) > after {
			list = append(list, c)
		}
	}
	return list, nil
}

// threadPage is some threads, as Discord lists them.
type threadPage struct {
	Threads []api.Channel `json:"threads"`
	More    bool          `json:"has_more"`
}

// archivedThreads are the threads of a channel that were archived since the
// time of an id. Where Discord does not list them, those of runs are asked for
// one by one.
func (b *backlog) archivedThreads(ctx context.Context, guild string, c api.Channel, after int64) ([]api.Channel, error) {
	since := api.Time(strconv.FormatInt(after, 10))
	var lists []string
	switch {
	case c.Type == discordgo.ChannelTypeGuildText:
		lists = []string{discordgo.EndpointChannelPublicArchivedThreads(c.ID), discordgo.EndpointChannelPrivateArchivedThreads(c.ID)}
	case c.Type == discordgo.ChannelTypeGuildNews || c.IsForum():
		lists = []string{discordgo.EndpointChannelPublicArchivedThreads(c.ID)}
	}
	var all []api.Channel
	for _, list := range lists {
		threads, err := b.archivedSince(ctx, list, since)
		if refused(err) && list == discordgo.EndpointChannelPrivateArchivedThreads(c.ID) {
			threads, err = b.joinedArchived(ctx, c.ID, since) // all of them are for moderators only
		}
		if refused(err) {
			threads, err = b.threadsOfRuns(ctx, guild, c.ID)
		}
		if err != nil {
			return nil, fmt.Errorf("list the archived threads of the channel %s: %w", c.ID, err)
		}
		all = append(all, threads...)
	}
	return all, nil
}

// archivedSince reads a list of archived threads, those first that were archived
// last, as far as the time.
func (b *backlog) archivedSince(ctx context.Context, list string, since time.Time) ([]api.Channel, error) {
	var all []api.Channel
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for {
		var page threadPage
		if err := b.readBack(ctx, list+"?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		for _, t := range page.Threads {
			at, err := time.Parse(time.RFC3339, t.Thread.Archived)
			if err == nil && at.Before(since) {
				return all, nil
			}
			all = append(all, t)
		}
		if !page.More || len(page.Threads) == 0 {
			return all, nil
		}
		query.Set("before", page.Threads[len(page.Threads)-1].Thread.Archived)
	}
}

// joinedArchived are the archived private threads that the bot is in. Discord
// lists them by their ids: all have to be looked through.
func (b *backlog) joinedArchived(ctx context.Context, channel string, since time.Time) ([]api.Channel, error) {
	var all []api.Channel
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	for {
		var page threadPage
		if err := b.readBack(ctx, discordgo.EndpointChannelJoinedPrivateArchivedThreads(channel)+"?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		for _, t := range page.Threads {
			if at, err := time.Parse(time.RFC3339, t.Thread.Archived); err != nil || !at.Before(since) {
				all = append(all, t)
			}
		}
		if !page.More || len(page.Threads) == 0 {
			return all, nil
		}
		query.Set("before", page.Threads[len(page.Threads)-1].ID)
	}
}

// threadsOfRuns are the threads of a channel in which runs live, as far as the
// bot may look into them.
func (b *backlog) threadsOfRuns(ctx context.Context, guild, channel string) ([]api.Channel, error) {
	ids, err := b.runThreads(ctx, guild, channel)
	if err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, nil
	}
	b.log.Info("Discord does not list the archived threads of a channel: those of runs are looked into", "channel", channel, "threads", len(ids),
		"permission", "Read Message History")
	var all []api.Channel
	for _, id := range ids {
		var c api.Channel
		err := b.readBack(ctx, discordgo.EndpointChannel(id), &c)
		if err != nil && !refused(err) {
			return nil, err
		}
		if err == nil {
			all = append(all, c)
		}
	}
	return all, nil
}

// missedIn keeps what was said in a channel after an id, as far as it concerns
// the bot and is not too much.
func (b *backlog) missedIn(ctx context.Context, c api.Channel, after int64, oldest *ingest.Oldest[*update]) error {
	for {
		var page []json.RawMessage
		endpoint := fmt.Sprintf("%s?limit=%d&after=%d", discordgo.EndpointChannelMessages(c.ID), pageSize, after)
		if err := b.readBack(ctx, endpoint, &page); err != nil {
			return b.unreadable("channel", c.ID, err)
		}
		before := after
		for _, raw := range page {
			n, id := b.said(raw, c)
			after = max(after, id)
			if n != nil {
				oldest.Keep(n)
			}
		}
		if len(page) < pageSize || after == before || oldest.Full(after) {
			return nil
		}
	}
}

// said is a message that is to be heard, nil for any other, and its id. One that
// cannot be read is no reason to leave out the others.
func (b *backlog) said(raw []byte, c api.Channel) (n *update, id int64) {
	guard.Run(b.log, "a message that is read back", func() {
		var s api.Message
		if json.Unmarshal(raw, &s) != nil {
			return
		}
		id = api.Number(s.ID)
		s.Channel, s.Guild = c.ID, c.Guild
		if read, err := b.readMessage(&s, false); err == nil && read != nil && read.isEvent() {
			n = read
		}
	}, "channel", c.ID)
	return n, id
}

// refused reports whether Discord refuses something for good.
func refused(err error) bool {
	status := api.Status(err)
	return status == http.StatusForbidden || status == http.StatusNotFound
}

// unreadable is nil for what cannot be read at all, which is no reason to leave
// out the rest.
func (b *backlog) unreadable(what, id string, err error) error {
	if refused(err) {
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
