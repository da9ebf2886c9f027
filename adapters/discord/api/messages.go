package api

// This file reads a channel's messages a page at a time and searches an
// author's recent ones, for example to find out whether a post whose answer
// was lost was made.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/bwmarrin/discordgo"
)

// Bounds of a search.
const (
	ClockSkew = 30 * time.Second // between Discord's clock and the store's
	PageSize  = 100
	MaxPages  = 15
)

var errTooMany = errors.New("there are too many messages to look through")

// Page is some messages of a channel or thread, the oldest first.
func (c *Client) Page(ctx context.Context, channel, query string) ([]Message, error) {
	var list []Message
	err := c.Read(ctx, discordgo.EndpointChannelMessages(channel)+"?"+query, &list)
	slices.SortFunc(list, func(a, b Message) int { return cmp.Compare(Number(a.ID), Number(b.ID)) })
	return list, err
}

// Search shows an author's messages of a channel or thread that were made since
// a little before the time, the oldest first, until one is the right one.
func (c *Client) Search(ctx context.Context, channel, author string, since time.Time, right func(*Message) bool) error {
	after := strconv.FormatInt(FirstID(since.Add(-ClockSkew)), 10)
	for range MaxPages {
		list, err := c.Page(ctx, channel, fmt.Sprintf("limit=%d&after=%s", PageSize, after))
		if err != nil {
			return err
		}
		for _, m := range list {
			if m.Author.ID == author && right(&m) {
				return nil
			}
			after = m.ID
		}
		if len(list) < PageSize {
			return nil
		}
	}
	return fmt.Errorf("%w: more than %d", errTooMany, MaxPages*PageSize)
}
