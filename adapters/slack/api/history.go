package api

import (
	"context"
	"slices"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// History is what people and other bots said in a thread: the first message and
// the newest, at most limit. Of a channel it is the newest of the top level.
func (c *Client) History(ctx context.Context, thread bot.Address, limit int) ([]bot.Line, error) {
	if limit <= 0 {
		return nil, nil
	}
	said, err := c.said(ctx, thread, limit)
	if err != nil {
		return nil, c.Failed("read "+thread.String(), err)
	}
	lines := make([]bot.Line, 0, len(said))
	for _, m := range said {
		lines = append(lines, c.line(ctx, &m))
	}
	return lines, nil
}

// said are the messages of people and other bots: of a thread the first and the
// newest, of a channel the newest.
func (c *Client) said(ctx context.Context, thread bot.Address, limit int) ([]slackapi.Message, error) {
	var said []slackapi.Message
	cursor := ""
	for range findPages {
		list, next, err := c.Page(ctx, thread, "0", cursor)
		if err != nil {
			return nil, err
		}
		said = append(said, slices.DeleteFunc(list, func(m slackapi.Message) bool { return !c.readable(&m) })...)
		if len(said) > limit && thread.ID != "" {
			said = slices.Delete(said, 1, 1+len(said)-limit)
		}
		if next == "" || thread.ID == "" && len(said) >= limit {
			break
		}
		cursor = next
	}
	if thread.ID == "" {
		said = said[:min(len(said), limit)]
		slices.Reverse(said)
	}
	return said, nil
}

// readable reports whether a message is somebody's words, or files, for the bot
// to read.
func (c *Client) readable(m *slackapi.Message) bool {
	return !c.own(m) && m.SubType != "tombstone" && (m.Text != "" || len(m.Files) > 0)
}

// line is a message as people read it.
func (c *Client) line(ctx context.Context, m *slackapi.Message) bot.Line {
	name := func(user string) string { return c.NameFor(ctx, user) }
	l := bot.Line{At: wire.TimeOf(m.Timestamp), Text: c.Readable(m.Text, wire.Spelling{Name: name, Channel: wire.AsLabelled})}
	if m.User != "" && m.BotID == "" {
		l.By, l.Name = wire.Principal(m.User), name(m.User)
	} else {
		l.By, l.Name = wire.Principal(m.BotID), m.Username
		if l.Name == "" && m.BotProfile != nil {
			l.Name = m.BotProfile.Name
		}
		if l.Name == "" {
			l.Name = m.BotID
		}
	}
	for _, f := range m.Files {
		l.Text = strings.TrimSpace(l.Text + "\n[file: " + f.Name + "]")
	}
	return l
}
