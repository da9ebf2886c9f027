package slack

// This file reads back what was said while the bot was away: it lists the
// bot's channels and the threads of runs, and fetches the messages since the
// point up to which each channel was heard.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	maxThreads   = 200
	maxPages     = 10
	pageSize     = 200
	allKinds     = "public_channel,private_channel,mpim,im"
	threadPrefix = "thread/" + Platform + ":"
)

// backlog reads back what was said while the bot was away.
type backlog struct{ *Slack }

// channelBacklog is a channel that is read back.
type channelBacklog struct {
	id, kind string // kind as events name it: channel, im, mpim
	oldest   time.Time
	threads  []string // roots of threads to look into
}

// channels are those that the bot is in, with how far each was read. Where Slack
// does not list them, those are read that are known.
func (b *backlog) channels(ctx context.Context) ([]*channelBacklog, error) {
	since, err := b.in.Marks.Since(ctx)
	if err != nil || since.Nothing() {
		return nil, err
	}
	kinds, err := b.list(ctx)
	if err != nil {
		return nil, err
	}
	if kinds == nil {
		kinds = map[string]string{}
		for _, id := range since.Known() {
			kinds[id] = kindOf(id, false, false)
		}
	}
	channels := make([]*channelBacklog, 0, len(kinds))
	for id, kind := range kinds {
		if oldest := since.Of(id, overlap.Microseconds()); oldest > 0 {
			channels = append(channels, &channelBacklog{id: id, kind: kind, oldest: time.UnixMicro(oldest).UTC()})
		}
	}
	slices.SortFunc(channels, func(a, b *channelBacklog) int { return cmp.Compare(a.id, b.id) })
	return channels, nil
}

// list asks which channels the bot is in, and of which kind; nil: Slack
// does not say.
func (b *backlog) list(ctx context.Context) (map[string]string, error) {
	kinds := map[string]string{}
	params := slackapi.GetConversationsForUserParameters{Types: strings.Split(allKinds, ","), Limit: pageSize, ExcludeArchived: true}
	for {
		var channels []slackapi.Channel
		err := b.Patiently(ctx, func() (err error) {
			channels, params.Cursor, err = b.Web.GetConversationsForUserContext(ctx, &params)
			return err
		})
		switch code := api.CodeOf(err); {
		case code == "missing_scope" || code == "unknown_method":
			b.LogOnce("Slack does not list the bot's channels: only those are caught up where it heard something", "error", code, "scope", api.NeededScope(err))
			return nil, nil //nolint:nilnil // no list is an answer
		case err != nil:
			return nil, fmt.Errorf("list the bot's channels: %w", err)
		}
		for i := range channels {
			kinds[channels[i].ID] = kindOf(channels[i].ID, channels[i].IsIM, channels[i].IsMpIM)
		}
		if params.Cursor == "" {
			return kinds, nil
		}
	}
}

func kindOf(id string, im, mpim bool) string {
	switch {
	case im || strings.HasPrefix(id, "D"):
		return "im"
	case mpim:
		return "mpim"
	}
	return "channel"
}

// addThreads adds the threads in which runs live: a channel's history does not
// show what is said in them. Those of runs that have ended are read only if they
// were opened within the configured time before the bot went, and after the others.
func (b *backlog) addThreads(ctx context.Context, channels []*channelBacklog) error {
	names, err := b.cfg.Names.Values(ctx, threadPrefix+b.Team+":")
	if err != nil {
		return fmt.Errorf("the threads of the runs: %w", err)
	}
	live, err := b.live(ctx)
	if err != nil {
		return err
	}
	byID := map[string]*channelBacklog{}
	for _, c := range channels {
		byID[c.id] = c
	}
	var living, over []bot.Address
	for name, run := range names {
		a, err := bot.ParseAddress(strings.TrimPrefix(name, "thread/"))
		c := byID[a.Channel]
		switch {
		case err != nil || a.ID == "" || c == nil:
		case live[agent.RunID(run)]:
			living = append(living, a)
		case wire.TimeOf(a.ID).After(c.oldest.Add(-b.cfg.CatchUp)):
			over = append(over, a)
		}
	}
	newest := func(x, y bot.Address) int { return wire.TimeOf(y.ID).Compare(wire.TimeOf(x.ID)) }
	slices.SortFunc(living, newest)
	slices.SortFunc(over, newest)
	threads := slices.Concat(living, over)
	if len(threads) > maxThreads {
		b.log.Warn("too many threads to read back: the older ones are left out", "threads", len(threads), "read", maxThreads)
		threads = threads[:maxThreads]
	}
	for _, a := range threads {
		byID[a.Channel].threads = append(byID[a.Channel].threads, a.ID)
	}
	return nil
}

// live are the runs that have not ended, as far as that is known.
func (b *backlog) live(ctx context.Context) (map[agent.RunID]bool, error) {
	if b.cfg.Live == nil {
		return nil, nil //nolint:nilnil // none is known
	}
	runs, err := b.cfg.Live(ctx)
	if err != nil {
		return nil, fmt.Errorf("which runs are live: %w", err)
	}
	live := make(map[agent.RunID]bool, len(runs))
	for _, run := range runs {
		live[run] = true
	}
	return live, nil
}

// read is what was said in a channel and its threads.
func (b *backlog) read(ctx context.Context, c *channelBacklog) ([]*wire.Update, error) {
	var list []*wire.Update
	keep := func(m slackapi.Message) {
		if m.ReplyCount > 0 && m.ThreadTimestamp == m.Timestamp && !slices.Contains(c.threads, m.Timestamp) {
			c.threads = append(c.threads, m.Timestamp)
		}
		u, err := b.Said(c.id, c.kind, messageOf(m))
		if err == nil && u != nil && u.Heard() && u.In.At.After(c.oldest) {
			list = append(list, u)
		}
	}
	if err := b.history(ctx, c, keep); err != nil {
		return list, b.unreadable(c, err)
	}
	for _, root := range c.threads {
		if err := b.replies(ctx, c, root, keep); err != nil && b.unreadable(c, err) != nil {
			return list, err
		}
	}
	return list, nil
}

// unreadable is nil for a channel or thread that cannot be read at all, which
// is no reason to leave out the others.
func (b *backlog) unreadable(c *channelBacklog, err error) error {
	switch code := api.CodeOf(err); code {
	case "channel_not_found", "not_in_channel", "missing_scope", "is_archived", "thread_not_found", "no_permission", "method_not_supported_for_channel_type":
		b.log.Warn("a channel cannot be read back and is left out", "channel", c.id, "error", code, "scope", api.NeededScope(err))
		return nil
	}
	return err
}

func (b *backlog) history(ctx context.Context, c *channelBacklog, keep func(slackapi.Message)) error {
	params := slackapi.GetConversationHistoryParameters{ChannelID: c.id, Oldest: wire.StampOf(c.oldest), Limit: pageSize}
	for range maxPages {
		var page *slackapi.GetConversationHistoryResponse
		err := b.Patiently(ctx, func() (err error) {
			page, err = b.Web.GetConversationHistoryContext(ctx, &params)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			keep(m)
		}
		if params.Cursor = page.ResponseMetaData.NextCursor; params.Cursor == "" || !page.HasMore {
			return nil
		}
	}
	b.log.Warn("too much was said to read it all back: the oldest is left out", "channel", c.id, "read", maxPages*pageSize)
	return nil
}

func (b *backlog) replies(ctx context.Context, c *channelBacklog, root string, keep func(slackapi.Message)) error {
	params := slackapi.GetConversationRepliesParameters{ChannelID: c.id, Timestamp: root, Oldest: wire.StampOf(c.oldest), Limit: pageSize}
	for range maxPages {
		var list []slackapi.Message
		more, next := false, ""
		err := b.Patiently(ctx, func() (err error) {
			list, more, next, err = b.Web.GetConversationRepliesContext(ctx, &params)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range list {
			if m.Timestamp != root { // the history has it
				keep(m)
			}
		}
		if params.Cursor = next; next == "" || !more {
			return nil
		}
	}
	b.log.Warn("too much was said in a thread to read it all back", "channel", c.id, "thread", root, "read", maxPages*pageSize)
	return nil
}

// messageOf is a message of the library in our terms.
func messageOf(m slackapi.Message) wire.Message {
	own := wire.Message{Subtype: m.SubType, User: m.User, BotID: m.BotID, Username: m.Username, Text: m.Text, TS: m.Timestamp, ThreadTS: m.ThreadTimestamp}
	for i := range m.Files {
		f := &m.Files[i]
		own.Files = append(own.Files, wire.File{ID: f.ID, Name: f.Name, Title: f.Title, Mode: f.Mode, Size: float64(f.Size), URL: f.URLPrivate, Download: f.URLPrivateDownload})
	}
	return own
}
