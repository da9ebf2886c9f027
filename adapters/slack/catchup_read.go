package slack

// This file reads a channel back in steps of bounded size: its top level up to
// a time, then the threads with replies of that time, then further.

import (
	"context"
	"maps"
	"slices"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// part is what is read of a channel in one step: its top level after a time, or
// replies in some of its threads.
type part struct {
	*channelBacklog

	after, upTo time.Time // upTo zero: until now
	threads     []string  // nil: the top level
	cursor      string    // in the first thread, of which some was read already
	// closes says that the channel was heard up to upTo when this is done.
	closes bool
}

// read is what was said in a part, and what is to be read after it.
func (b *backlog) read(ctx context.Context, p *part) (found []*wire.Update, more []*part, err error) {
	if p.threads != nil {
		found, more, err = b.readThreads(ctx, p)
	} else {
		found, more, err = b.readTop(ctx, p)
	}
	return found, more, err
}

// done notes that a part was read and heard.
func (b *backlog) done(p *part) {
	if !p.closes {
		return
	}
	at, more := b.began, !p.upTo.IsZero()
	if more {
		at = p.upTo
	}
	if gone := b.in.Marks.CaughtUp(p.id, at.UnixMicro(), more); gone > 0 {
		b.log.Warn("messages that could not be taken in are not in Slack any more", "channel", p.id, "messages", gone)
	}
}

// readTop reads the top level of a channel. Of very much the oldest is heard
// first, and the rest read afterwards.
func (b *backlog) readTop(ctx context.Context, p *part) ([]*wire.Update, []*part, error) {
	oldest := ingest.Oldest[*wire.Update]{At: func(u *wire.Update) int64 { return u.In.At.UnixMicro() }}
	err := b.history(ctx, p.channelBacklog, p.after, time.Time{}, pageSize, func(m slackapi.Message) {
		p.noteParent(m)
		if u := b.said(p, m); u != nil {
			oldest.Keep(u)
		}
	})
	if err == nil && !p.looked {
		p.looked = true
		err = b.history(ctx, p.channelBacklog, p.oldest.Add(-b.in.times.parents), p.oldest, largePage, p.noteParent)
	}
	if err = b.unreadable(p.channelBacklog, err); err != nil {
		return nil, nil, err
	}
	found, upTo := oldest.Found()
	window := part{channelBacklog: p.channelBacklog, after: p.after}
	if upTo > 0 {
		window.upTo = time.UnixMicro(upTo).UTC()
	}
	p.upTo = window.upTo
	last := p
	var more []*part
	for group := range slices.Chunk(p.repliesAfter(p.after), groupSize) {
		next := window
		next.threads = group
		last, more = &next, append(more, &next)
	}
	last.closes = true
	if upTo > 0 {
		more = append(more, &part{channelBacklog: p.channelBacklog, after: window.upTo})
	}
	return found, more, nil
}

// noteParent remembers a message that has replies.
func (c *channelBacklog) noteParent(m slackapi.Message) {
	if m.ReplyCount == 0 || m.ThreadTimestamp != m.Timestamp {
		return
	}
	if c.parents == nil {
		c.parents = map[string]time.Time{}
	}
	c.parents[m.Timestamp] = wire.TimeOf(m.LatestReply)
}

// repliesAfter are the threads in which something was said after a time, as far
// as that is known: those where it matters most first.
func (c *channelBacklog) repliesAfter(after time.Time) []string {
	list := slices.Clone(c.threads)
	for _, root := range slices.Sorted(maps.Keys(c.parents)) {
		if latest := c.parents[root]; (latest.IsZero() || latest.After(after)) && !slices.Contains(c.threads, root) {
			list = append(list, root)
		}
	}
	return list
}

// said is a message that is to be heard, nil for any other. One that cannot be
// read is no reason to leave out the others.
func (b *backlog) said(p *part, m slackapi.Message) (u *wire.Update) {
	guard.Run(b.log, "a message that is read back", func() {
		read, err := b.Said(p.id, p.kind, messageOf(m))
		if err == nil && read != nil && read.Heard() && read.In.At.After(p.after) {
			u = read
		}
	}, "channel", p.id, "message", m.Timestamp)
	return u
}

// readThreads reads the replies in threads, as far as they are not too many for
// one step.
func (b *backlog) readThreads(ctx context.Context, p *part) (found []*wire.Update, more []*part, err error) {
	for i, root := range p.threads {
		cursor := ""
		if i == 0 {
			cursor = p.cursor
		}
		for {
			list, next, err := b.replies(ctx, p, root, cursor)
			if err = b.unreadable(p.channelBacklog, err); err != nil {
				return nil, nil, err
			}
			for _, m := range list {
				if u := b.said(p, m); u != nil && m.Timestamp != root { // the history has that
					found = append(found, u)
				}
			}
			if cursor = next; cursor == "" {
				break
			}
			if len(found) >= ingest.MaxFound {
				rest := *p
				rest.threads, rest.cursor, p.closes = p.threads[i:], cursor, false
				return found, []*part{&rest}, nil
			}
		}
	}
	return found, nil, nil
}

// history shows every message at the top level of a channel between two times,
// the newest first; until zero: now.
func (b *backlog) history(ctx context.Context, c *channelBacklog, since, until time.Time, limit int, show func(slackapi.Message)) error {
	params := slackapi.GetConversationHistoryParameters{ChannelID: c.id, Oldest: wire.StampOf(since), Limit: limit}
	if !until.IsZero() {
		params.Latest, params.Inclusive = wire.StampOf(until), true
	}
	for {
		var page *slackapi.GetConversationHistoryResponse
		err := b.Patiently(ctx, func() (err error) {
			page, err = b.Web.GetConversationHistoryContext(ctx, &params)
			return err
		})
		if err != nil {
			return err
		}
		for _, m := range page.Messages {
			show(m)
		}
		if params.Cursor = page.ResponseMetaData.NextCursor; params.Cursor == "" || !page.HasMore {
			return nil
		}
	}
}

// replies is one page of a thread, the oldest first; next is empty at its end.
func (b *backlog) replies(ctx context.Context, p *part, root, cursor string) (list []slackapi.Message, next string, err error) {
	params := slackapi.GetConversationRepliesParameters{ChannelID: p.id, Timestamp: root, Oldest: wire.StampOf(p.after), Cursor: cursor, Limit: pageSize}
	if !p.upTo.IsZero() {
		params.Latest, params.Inclusive = wire.StampOf(p.upTo), true
	}
	err = b.Patiently(ctx, func() error {
		var more bool
		if list, more, next, err = b.Web.GetConversationRepliesContext(ctx, &params); !more {
			next = ""
		}
		return err
	})
	return list, next, err
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
