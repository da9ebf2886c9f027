package post

import (
	"context"
	"fmt"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/bot"
)

// Find looks for a post of the bot's that carries the key. An address without a
// thread is searched for the card's headline, and the thread below it for the card.
func (p *Poster) Find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (posted bot.Posted, is bool, err error) {
	posted, is, err = p.find(ctx, to, key, since)
	if err != nil {
		return bot.Posted{}, false, api.Failed(fmt.Sprintf("look for post %s of run %s in %s", key.Name, key.Run, to), err)
	}
	return posted, is, nil
}

func (p *Poster) find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (bot.Posted, bool, error) {
	if to = api.Within(to); to.ID != "" || to.Workspace == api.DirectSpace {
		return p.findIn(ctx, to, key, since)
	}
	head := draw.Headline(bot.Card{Key: key}).Key
	thread, err := p.headlineNow(ctx, to.Channel, head) // it may be older: of an attempt before
	if err == nil && thread == "" {
		err = p.client.Search(ctx, to.Channel, p.self, since, func(m *api.Message) bool {
			if draw.Carries(m, head) {
				thread = m.ID
			}
			return thread != ""
		})
	}
	if err != nil && !api.NoMessages(err) {
		return bot.Posted{}, false, err
	}
	if thread == "" {
		return p.findForum(ctx, to, key, since)
	}
	posted, is, err := p.findIn(ctx, to.At(thread), key, since)
	if api.Code(err) == discordgo.ErrCodeUnknownChannel {
		return bot.Posted{}, false, nil // the thread was not opened yet
	}
	return posted, is, err
}

// findIn looks for a post in a thread or a direct conversation.
func (p *Poster) findIn(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (posted bot.Posted, is bool, err error) {
	room := api.ChannelOf(to)
	if to.ID == "" {
		to.ID = to.Channel // a direct conversation is its own thread
	}
	err = p.client.Search(ctx, room, p.self, since, func(m *api.Message) bool {
		if is = draw.Carries(m, key); is {
			posted = bot.Posted{Message: api.Address(to.Workspace, room, m.ID), Thread: to, At: api.Time(m.ID)}
		}
		return is
	})
	return posted, is, err
}

// findForum looks for a post of a forum; in other channels there are none.
func (p *Poster) findForum(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (bot.Posted, bool, error) {
	var channel api.Channel
	if err := p.client.Read(ctx, discordgo.EndpointChannel(to.Channel), &channel); err != nil {
		return bot.Posted{}, false, err
	}
	if !channel.IsForum() {
		return bot.Posted{}, false, nil
	}
	list, err := p.forumPosts(ctx, to, api.FirstID(since.Add(-api.ClockSkew)))
	for _, m := range list {
		if m.Author.ID == p.self && draw.Carries(&m, key) {
			return bot.Posted{Message: api.Address(to.Workspace, m.Channel, m.ID), Thread: to.At(m.Channel), At: api.Time(m.ID)}, true, nil
		}
	}
	return bot.Posted{}, false, err
}
