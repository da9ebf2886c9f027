package post

// This file holds the short calls beside a run's cards: typing, reactions,
// replies and direct conversations. It also sets the pace of posts and edits,
// to stay below Discord's rate limits.

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

// Discord takes 5 messages within 5 s in one channel.
const (
	paceEvery = 1200 * time.Millisecond
	paceBurst = 4
)

// typingLasts is how long Discord shows that somebody types.
const typingLasts = 10 * time.Second

// ShowSession shows that the bot types in the thread of a run that works. What
// else there is to say stands in the card: Discord allows a thread's name to
// change twice in ten minutes, and typing ends by itself.
func (p *Poster) ShowSession(ctx context.Context, thread bot.Address, s, _ bot.Session) (fades time.Duration, err error) {
	if s.Status != bot.SessionWorking || thread.ID == "" && thread.Workspace != api.DirectSpace {
		return 0, nil
	}
	err = p.client.Call(ctx, http.MethodPost, discordgo.EndpointChannelTyping(api.ChannelOf(thread)), nil, nil)
	return typingLasts, api.Failed("show that the bot types in "+thread.String(), err)
}

// Direct opens the direct conversation with a person. The conversation is its
// own thread.
func (p *Poster) Direct(ctx context.Context, who string) (bot.Address, error) {
	id, is := api.UserID(who)
	if !is {
		return bot.Address{}, fmt.Errorf("talk to %q alone: that is no person of Discord: %w", who, bot.ErrGone)
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var c struct {
		ID string `json:"id"`
	}
	err := p.client.Call(ctx, http.MethodPost, discordgo.EndpointUserChannels("@me"), map[string]string{"recipient_id": id}, &c)
	if err != nil {
		return bot.Address{}, api.Failed("open the direct conversation with "+who, err)
	}
	if c.ID == "" {
		return bot.Address{}, fmt.Errorf("open the direct conversation with %s: Discord names no channel: %w", who, bot.ErrLost)
	}
	return api.Address("", c.ID, c.ID), nil
}

// Paces are those of one thread, or channel. A message's address names the
// thread that it is in as its channel.
func (p *Poster) Paces(to bot.Address) (post, edit agent.Pace) {
	room := to
	room.Channel = api.ChannelOf(to)
	return agent.Pace{Name: "post/" + room.Place(), Every: paceEvery, Burst: paceBurst},
		agent.Pace{Name: "edit/" + to.Place(), Every: paceEvery, Burst: paceBurst}
}

// React sets a reaction, and again where Discord was busy or did not answer.
func (p *Poster) React(ctx context.Context, message bot.Address, emoji string) error {
	target := discordgo.EndpointMessageReaction(message.Channel, message.ID, url.PathEscape(emoji), "@me")
	for {
		once, cancel := context.WithTimeout(ctx, p.timeout)
		err := p.client.Call(once, http.MethodPut, target, nil, nil)
		cancel()
		if err == nil {
			return nil
		}
		pause, busy := api.Wait(err)
		if !busy && api.Unanswered(err) {
			pause, busy = api.LostPause, true // the same reaction again changes nothing
		}
		if !busy || !wait.Sleep(ctx, pause) {
			return err
		}
	}
}

// Reply answers a message where it stands, seen by all. It is the same answer
// however often it is sent under the key.
func (p *Poster) Reply(ctx context.Context, channel, messageID string, key bot.Key, m draw.Answer) error {
	m.Nonce, m.Enforce = draw.Nonce(key), true
	m.Reference = &draw.Reference{Message: messageID}
	for {
		err := api.Retry(ctx, true, func() error {
			return p.client.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), m, nil)
		})
		if m.Reference == nil || api.Code(err) != discordgo.ErrCodeCannotReplyWithoutPermissionToReadMessageHistory {
			return err
		}
		m.Reference = nil
	}
}

// TellDirectly says something to a person in the conversation with the bot. Under
// a key it is the same message however often it is sent.
func (p *Poster) TellDirectly(ctx context.Context, who string, key bot.Key, m draw.Answer) error {
	to, err := p.Direct(ctx, who)
	if err != nil {
		return err
	}
	if key.Name != "" {
		m.Nonce, m.Enforce = draw.Nonce(key), true
		return api.Retry(ctx, true, func() error {
			return p.client.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(to.Channel), m, nil)
		})
	}
	return p.client.Call(ctx, http.MethodPost, discordgo.EndpointChannelMessages(to.Channel), m, nil)
}
