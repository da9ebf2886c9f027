package discord

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
func (d *Discord) Find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (p bot.Posted, is bool, err error) {
	p, is, err = d.find(ctx, to, key, since)
	if err != nil {
		return bot.Posted{}, false, api.Failed(fmt.Sprintf("look for post %s of run %s in %s", key.Name, key.Run, to), err)
	}
	return p, is, nil
}

func (d *Discord) find(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (bot.Posted, bool, error) {
	if to.ID != "" || to.Workspace == directSpace {
		return d.findIn(ctx, to, key, since)
	}
	head := draw.Headline(bot.Card{Key: key}).Key
	thread, err := d.headlineNow(ctx, to.Channel, head) // it may be older: of an attempt before
	if err == nil && thread == "" {
		err = d.api.Search(ctx, to.Channel, d.botUser, since, func(m *api.Message) bool {
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
		return d.findForum(ctx, to, key, since)
	}
	p, is, err := d.findIn(ctx, to.At(thread), key, since)
	if api.Code(err) == discordgo.ErrCodeUnknownChannel {
		return bot.Posted{}, false, nil // the thread was not opened yet
	}
	return p, is, err
}

// findIn looks for a post in a thread or a direct conversation.
func (d *Discord) findIn(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (p bot.Posted, is bool, err error) {
	room := roomOf(to)
	if to.ID == "" {
		to.ID = to.Channel // a direct conversation is its own thread
	}
	err = d.api.Search(ctx, room, d.botUser, since, func(m *api.Message) bool {
		if is = draw.Carries(m, key); is {
			p = bot.Posted{Message: place(to.Workspace, room, m.ID), Thread: to}
		}
		return is
	})
	return p, is, err
}

// findForum looks for a post of a forum; in other channels there are none.
func (d *Discord) findForum(ctx context.Context, to bot.Address, key bot.Key, since time.Time) (bot.Posted, bool, error) {
	var channel api.Channel
	if err := d.api.Read(ctx, discordgo.EndpointChannel(to.Channel), &channel); err != nil {
		return bot.Posted{}, false, err
	}
	if !channel.IsForum() {
		return bot.Posted{}, false, nil
	}
	list, err := d.forumPosts(ctx, to, api.FirstID(since.Add(-api.ClockSkew)))
	for _, m := range list {
		if m.Author.ID == d.botUser && draw.Carries(&m, key) {
			return bot.Posted{Message: place(to.Workspace, m.Channel, m.ID), Thread: to.At(m.Channel)}, true, nil
		}
	}
	return bot.Posted{}, false, err
}
