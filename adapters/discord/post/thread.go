package post

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/bot"
)

// Bounds of posts and threads.
const (
	// ArchiveAfter is how long a thread stays open, in minutes: the longest that
	// there is, since an edit does not keep it open.
	ArchiveAfter = 10080
)

// postBelow posts a card to a thread of its own. In a forum it is a post.
func (p *Poster) postBelow(ctx context.Context, what string, to bot.Address, c bot.Card) (bot.Posted, error) {
	head := draw.Headline(c)
	id, err := p.headline(ctx, to, head)
	if api.NoMessages(err) {
		return p.postForum(ctx, what, to, c)
	}
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	if err := p.OpenThread(ctx, to.Channel, id, c); err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	m, err := p.postCard(ctx, id, c)
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	return bot.Posted{Message: api.Address(to.Workspace, m.Channel, m.ID), Thread: to.At(id), At: api.Time(m.ID)}, nil
}

// headline is the message that a thread begins at: the one that an earlier
// attempt has left, or a new one. A nonce is forgotten after minutes, so the
// newest messages are looked at; where the bot may not, the nonce has to do.
func (p *Poster) headline(ctx context.Context, to bot.Address, head bot.Card) (id string, err error) {
	id, err = p.headlineNow(ctx, to.Channel, head.Key)
	if id != "" || err != nil && api.Code(err) != discordgo.ErrCodeMissingAccess && !api.NoMessages(err) {
		return id, err
	}
	m, err := p.postCard(ctx, to.Channel, head)
	return m.ID, err
}

// headlineNow is the headline if it is among the newest messages, else empty.
func (p *Poster) headlineNow(ctx context.Context, channel string, k bot.Key) (id string, err error) {
	list, err := p.client.Page(ctx, channel, fmt.Sprintf("limit=%d", api.PageSize))
	for _, m := range list {
		if m.Author.ID == p.self && draw.Carries(&m, k) {
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

// OpenThread opens the thread of a message; that it is open is no error.
func (p *Poster) OpenThread(ctx context.Context, channel, messageID string, c bot.Card) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err := p.client.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessageThread(channel, messageID), newThread{Name: draw.ThreadName(c), Archive: ArchiveAfter}, nil)
	if api.Code(err) == discordgo.ErrCodeThreadAlreadyCreatedForThisMessage {
		return nil
	}
	return err
}

// postForum makes a post of a forum: a thread that begins with the card. It
// takes no nonce; Find finds it by its mark.
func (p *Poster) postForum(ctx context.Context, what string, to bot.Address, c bot.Card) (bot.Posted, error) {
	var t struct {
		ID      string   `json:"id"`
		Message api.Sent `json:"message"`
	}
	err := p.show(ctx, c, false, func(ctx context.Context, body draw.Message, f *api.File) error {
		return p.client.Deliver(ctx, http.MethodPost, discordgo.EndpointChannelThreads(to.Channel),
			newThread{Name: draw.ThreadName(c), Archive: ArchiveAfter, Message: &body}, f, &t)
	})
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	if t.Message.ID == "" {
		t.Message.ID = t.ID // a forum's post has the id of its first message
	}
	return bot.Posted{Message: api.Address(to.Workspace, t.ID, t.Message.ID), Thread: to.At(t.ID), At: api.Time(t.Message.ID)}, nil
}

// reopen takes a thread out of the archive, for an edit.
func (p *Poster) reopen(ctx context.Context, thread string) error {
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var state api.Channel
	if err := p.client.Call(ctx, http.MethodGet, discordgo.EndpointChannel(thread), nil, &state); err != nil {
		return err
	}
	if state.Thread.Locked {
		return fmt.Errorf("the thread is locked: %w", bot.ErrBarred)
	}
	return p.client.Call(ctx, http.MethodPatch, discordgo.EndpointChannel(thread), json.RawMessage(`{"archived":false}`), nil)
}

// forumPosts are the first messages of the bot's own posts in a forum that are
// not older than the id, with the thread that each begins.
func (p *Poster) forumPosts(ctx context.Context, forum bot.Address, after int64) ([]api.Message, error) {
	var active struct {
		Threads []api.Channel `json:"threads"`
	}
	if err := p.client.Read(ctx, discordgo.EndpointGuildActiveThreads(forum.Workspace), &active); err != nil {
		return nil, err
	}
	var list []api.Message
	for _, t := range active.Threads {
		if t.Parent != forum.Channel || t.Owner != p.self || api.Number(t.ID) < after {
			continue
		}
		first, err := p.client.Page(ctx, t.ID, fmt.Sprintf("limit=1&after=%d", api.Number(t.ID)-1))
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
