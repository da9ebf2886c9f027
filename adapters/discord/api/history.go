package api

import (
	"context"
	"fmt"
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// History is what others than the bot, whose user is self, said in a thread: the
// message that it began at and the newest, at most limit, the oldest first.
func (c *Client) History(ctx context.Context, thread bot.Address, self string, limit int) ([]Message, error) {
	list, err := c.beginning(ctx, thread, self)
	if err != nil || limit <= 1 && len(list) > 0 {
		return list, err
	}
	newest, err := c.newest(ctx, ChannelOf(thread), self, limit-len(list), list)
	if Code(err) == discordgo.ErrCodeUnknownChannel && begins(thread) {
		err = nil // the thread was not opened yet
	}
	return append(list, newest...), err
}

// beginning is the message that a thread began at, if somebody wrote it: it
// stands in the parent channel and has the thread's id.
func (c *Client) beginning(ctx context.Context, thread bot.Address, self string) ([]Message, error) {
	if thread.Inner() {
		return c.oldest(ctx, ChannelOf(thread), self)
	}
	if !begins(thread) {
		return nil, nil
	}
	var m Message
	err := c.Read(ctx, discordgo.EndpointChannelMessage(thread.Channel, thread.ID), &m)
	if code := Code(err); code == discordgo.ErrCodeUnknownMessage || code == discordgo.ErrCodeMissingAccess {
		return c.oldest(ctx, thread.ID, self)
	}
	if err != nil || !said(&m, self) {
		return nil, err
	}
	return []Message{m}, nil
}

// oldest is the first message within a thread that did not begin at one.
func (c *Client) oldest(ctx context.Context, channel, self string) ([]Message, error) {
	list, err := c.Page(ctx, channel, fmt.Sprintf("limit=%d&after=0", PageSize))
	for _, m := range list {
		if said(&m, self) {
			return []Message{m}, err
		}
	}
	return nil, err
}

// newest are the last messages of a channel or thread, without those that are
// known already.
func (c *Client) newest(ctx context.Context, channel, self string, limit int, already []Message) ([]Message, error) {
	var list []Message
	query := fmt.Sprintf("limit=%d", PageSize)
	for range MaxPages {
		page, err := c.Page(ctx, channel, query)
		if err != nil {
			return nil, err
		}
		some := slices.DeleteFunc(slices.Clone(page), func(m Message) bool {
			return !said(&m, self) || slices.ContainsFunc(already, func(a Message) bool { return a.ID == m.ID })
		})
		list = append(some, list...)
		if len(list) >= limit || len(page) < PageSize {
			break
		}
		query = fmt.Sprintf("limit=%d&before=%s", PageSize, page[0].ID)
	}
	return list[max(len(list)-limit, 0):], nil
}

// said reports whether a message is somebody's words, or files, for the bot to read.
func said(m *Message, self string) bool {
	return m.Author.ID != self && m.Written() && (m.Content != "" || len(m.Files) > 0)
}
