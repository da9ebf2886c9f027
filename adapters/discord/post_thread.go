package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/bot"
)

// Bounds of posts and threads.
const (
	paceEvery = 1200 * time.Millisecond // Discord takes 5 within 5 s
	paceBurst = 4

	archiveAfter = 10080 // minutes: the longest; an edit does not keep a thread open
)

// postBelow posts a card to a thread of its own. In a forum it is a post.
func (d *Discord) postBelow(ctx context.Context, what string, to bot.Address, c bot.Card) (bot.Posted, error) {
	head := draw.Headline(c)
	id, err := d.headline(ctx, to, head)
	if api.NoMessages(err) {
		return d.postForum(ctx, what, to, c)
	}
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	if err := d.openThread(ctx, to.Channel, id, c); err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	m, err := d.postCard(ctx, id, c)
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	return bot.Posted{Message: place(to.Workspace, m.Channel, m.ID), Thread: to.At(id)}, nil
}

// headline is the message that a thread begins at: the one that an earlier
// attempt has left, or a new one. A nonce is forgotten after minutes, so the
// newest messages are looked at; where the bot may not, the nonce has to do.
func (d *Discord) headline(ctx context.Context, to bot.Address, head bot.Card) (id string, err error) {
	id, err = d.headlineNow(ctx, to.Channel, head.Key)
	if id != "" || err != nil && api.Code(err) != discordgo.ErrCodeMissingAccess && !api.NoMessages(err) {
		return id, err
	}
	m, err := d.postCard(ctx, to.Channel, head)
	return m.ID, err
}

// headlineNow is the headline if it is among the newest messages, else empty.
func (d *Discord) headlineNow(ctx context.Context, channel string, k bot.Key) (id string, err error) {
	list, err := d.api.Page(ctx, channel, fmt.Sprintf("limit=%d", api.PageSize))
	for _, m := range list {
		if m.Author.ID == d.botUser && draw.Carries(&m, k) {
			return m.ID, nil
		}
	}
	return "", err
}

type newThread struct {
	Name    string        `json:"name"`
	Archive int           `json:"auto_archive_duration"`
	Message *draw.Message `json:"message,omitempty"`
}

// openThread opens the thread of a message; that it is open is no error.
func (d *Discord) openThread(ctx context.Context, channel, messageID string, c bot.Card) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.PostTimeout)
	defer cancel()
	err := d.api.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessageThread(channel, messageID), newThread{Name: draw.ThreadName(c), Archive: archiveAfter}, nil)
	if api.Code(err) == discordgo.ErrCodeThreadAlreadyCreatedForThisMessage {
		return nil
	}
	return err
}

// postForum makes a post of a forum: a thread that begins with the card. It
// takes no nonce; Find finds it by its mark.
func (d *Discord) postForum(ctx context.Context, what string, to bot.Address, c bot.Card) (bot.Posted, error) {
	var t struct {
		ID      string   `json:"id"`
		Message api.Sent `json:"message"`
	}
	err := d.show(ctx, c, false, func(ctx context.Context, body draw.Message, f *api.File) error {
		return d.api.Deliver(ctx, http.MethodPost, discordgo.EndpointChannelThreads(to.Channel),
			newThread{Name: draw.ThreadName(c), Archive: archiveAfter, Message: &body}, f, &t)
	})
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	if t.Message.ID == "" {
		t.Message.ID = t.ID // a forum's post has the id of its first message
	}
	return bot.Posted{Message: place(to.Workspace, t.ID, t.Message.ID), Thread: to.At(t.ID)}, nil
}

// reopen takes a thread out of the archive, for an edit.
func (d *Discord) reopen(ctx context.Context, thread string) error {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.PostTimeout)
	defer cancel()
	var state api.Channel
	if err := d.api.Call(ctx, http.MethodGet, discordgo.EndpointChannel(thread), nil, &state); err != nil {
		return err
	}
	if state.Thread.Locked {
		return fmt.Errorf("the thread is locked: %w", bot.ErrGone)
	}
	return d.api.Call(ctx, http.MethodPatch, discordgo.EndpointChannel(thread), json.RawMessage(`{"archived":false}`), nil)
}

// forumPosts are the first messages of the bot's own posts in a forum that are
// not older than the id, with the thread that each begins.
func (d *Discord) forumPosts(ctx context.Context, forum bot.Address, after int64) ([]api.Message, error) {
	var active struct {
		Threads []api.Channel `json:"threads"`
	}
	if err := d.api.Read(ctx, discordgo.EndpointGuildActiveThreads(forum.Workspace), &active); err != nil {
		return nil, err
	}
	var list []api.Message
	for _, t := range active.Threads {
		if t.Parent != forum.Channel || t.Owner != d.botUser || api.Number(t.ID) < after {
			continue
		}
		first, err := d.api.Page(ctx, t.ID, fmt.Sprintf("limit=1&after=%d", api.Number(t.ID)-1))
		if api.Code(err) == discordgo.ErrCodeUnknownChannel {
			continue // deleted in between
		}
		if err != nil {
			return nil, err
		}
		list = append(list, first...)
	}
	return list, nil
}
