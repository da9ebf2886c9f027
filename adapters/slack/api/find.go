package api

// This file finds the bot's earlier posts by the metadata that each carries.
// After a crash or a lost answer this tells whether a post was made, so that
// it is made once.

import (
	"context"
	"fmt"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// Bounds of a search.
const (
	clockSkew = 30 * time.Second // between Slack's clock and the store's
	findPage  = 200
	findPages = 10
)

// EventType marks the metadata of a post (CONTRACT.md, "Chat").
const EventType = "deckhand_post"

// Metadata is what a post carries unseen: Find finds it by that.
func Metadata(k bot.Key) slackapi.SlackMetadata {
	return slackapi.SlackMetadata{EventType: EventType, EventPayload: map[string]any{
		"run": string(k.Run), "key": k.Name, "kind": string(k.Kind),
	}}
}

// Find looks for a post of the bot's that carries the key.
func (c *Client) Find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (p bot.Posted, found bool, err error) {
	err = c.search(ctx, to, since, func(m *slackapi.Message) bool {
		payload := m.Metadata.EventPayload
		found = m.Metadata.EventType == EventType && payload["run"] == string(key.Run) && payload["key"] == key.Name
		if found {
			p = c.posted(to, m)
		}
		return found
	})
	if err != nil {
		return bot.Posted{}, false, fmt.Errorf("look for post %s of run %s: %w", key.Name, key.Run, err)
	}
	return p, found, nil
}

func (c *Client) posted(to bot.Address, m *slackapi.Message) bot.Posted {
	thread := m.ThreadTimestamp
	if thread == "" {
		thread = m.Timestamp
	}
	return bot.Posted{Message: c.Address(to.Channel, m.Timestamp), Thread: c.Address(to.Channel, thread), At: wire.TimeOf(m.Timestamp)}
}

// search shows the bot's own messages of a thread, or of a channel's top level,
// that were made since a little before the time, until one is the right one.
func (c *Client) search(ctx context.Context, in bot.Address, since time.Time, right func(*slackapi.Message) bool) error {
	oldest := "0"
	if since = since.Add(-clockSkew); since.Unix() > 0 {
		oldest = wire.StampOf(since)
	}
	cursor := ""
	for range findPages {
		messages, next, err := c.Page(ctx, in, oldest, cursor)
		if err != nil {
			return c.Failed("read "+in.String(), err)
		}
		for i := range messages {
			if c.own(&messages[i]) && right(&messages[i]) {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
	return fmt.Errorf("read %s: more than %d messages since %s", in, findPages*findPage, oldest)
}

// Page is one page of a thread (the oldest first) or of a channel (the newest first).
func (c *Client) Page(ctx context.Context, in bot.Address, oldest, cursor string) (list []slackapi.Message, next string, err error) {
	if in.ID != "" {
		list, _, next, err = c.Web.GetConversationRepliesContext(ctx, &slackapi.GetConversationRepliesParameters{
			ChannelID: in.Channel, Timestamp: in.ID, Oldest: oldest, Cursor: cursor, Limit: findPage, Inclusive: true, IncludeAllMetadata: true,
		})
		return list, next, err
	}
	h, err := c.Web.GetConversationHistoryContext(ctx, &slackapi.GetConversationHistoryParameters{
		ChannelID: in.Channel, Oldest: oldest, Cursor: cursor, Limit: findPage, IncludeAllMetadata: true,
	})
	if err != nil {
		return nil, "", err
	}
	return h.Messages, h.ResponseMetaData.NextCursor, nil
}

// own reports whether the bot wrote the message.
func (c *Client) own(m *slackapi.Message) bool {
	return m.User == c.BotUser || (m.BotID != "" && m.BotID == c.BotID)
}
