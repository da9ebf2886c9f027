package post

// This file posts and edits cards as messages. Where Discord refuses
// components it sends an embed, and a card that is too long gets its whole
// text as an attached file.

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/bot"
)

// Poster posts as one bot account.
type Poster struct {
	client  *api.Client
	self    string // the bot's user
	timeout time.Duration
	log     *slog.Logger
	plain   atomic.Bool // no components of the new kind were taken: embeds instead
}

// New makes a Poster for the bot whose user is self. One request that posts may
// take as long as timeout.
func New(client *api.Client, self string, timeout time.Duration, log *slog.Logger) *Poster {
	return &Poster{client: client, self: self, timeout: timeout, log: log}
}

// Post makes one message. A thread that is not there yet is opened: at the
// message that has its id, or, where the address names none, at the card's
// headline in the channel. Each of these steps finds what an earlier attempt
// has left: the headline by its mark, the thread by its message, the card by
// its nonce. What does not fit is shortened, and the whole text is attached to
// the same message.
func (p *Poster) Post(ctx context.Context, to bot.Address, c bot.Card) (bot.Posted, error) {
	what := fmt.Sprintf("post %s to %s", c.Key.Name, to)
	to = api.Within(to)
	if to.ID == "" && to.Workspace != api.DirectSpace {
		return p.postBelow(ctx, what, to, c)
	}
	m, err := p.postCard(ctx, api.ChannelOf(to), c)
	if api.Code(err) == discordgo.ErrCodeUnknownChannel && to.ID != "" && to.ID != to.Own() {
		if err = p.OpenThread(ctx, to.Channel, to.ID, c); err == nil {
			m, err = p.postCard(ctx, to.ID, c)
		}
	}
	if err != nil {
		return bot.Posted{}, api.Failed(what, err)
	}
	if to.ID == "" {
		to.ID = to.Channel // a direct conversation is its own thread
	}
	return bot.Posted{Message: api.Address(to.Workspace, m.Channel, m.ID), Thread: to, At: api.Time(m.ID)}, nil
}

// Edit replaces what a message shows. It notifies nobody. A thread that went to
// the archive is taken out for it, unless it is locked.
func (p *Poster) Edit(ctx context.Context, message bot.Address, c bot.Card) error {
	err := p.edit(ctx, message, c)
	if api.Code(err) == discordgo.ErrCodePerformedOperationOnArchivedThread {
		if err = p.reopen(ctx, message.Channel); err == nil {
			err = p.edit(ctx, message, c)
		}
	}
	return api.Failed("edit "+message.String(), err)
}

func (p *Poster) edit(ctx context.Context, at bot.Address, c bot.Card) error {
	return p.show(ctx, c, true, func(ctx context.Context, body draw.Message, f *api.File) error {
		var m api.Sent
		return p.client.Deliver(ctx, http.MethodPatch, discordgo.EndpointChannelMessage(at.Channel, at.ID), body, f, &m)
	})
}

// postCard posts a card to a channel, be it a thread.
func (p *Poster) postCard(ctx context.Context, channel string, c bot.Card) (api.Sent, error) {
	var m api.Sent
	err := p.show(ctx, c, false, func(ctx context.Context, body draw.Message, f *api.File) error {
		body.Nonce, body.Enforce = draw.Nonce(c.Key), true
		m = api.Sent{}
		return p.client.Deliver(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), body, f, &m)
	})
	if err == nil && m.Channel == "" {
		m.Channel = channel
	}
	if err == nil && m.ID == "" {
		return m, fmt.Errorf("the answer names no message: %w", bot.ErrLost)
	}
	return m, err
}

// show draws a card and sends it: as components, and where those are refused as
// an embed; without its file where the bot may attach none.
func (p *Poster) show(ctx context.Context, c bot.Card, edit bool, send func(context.Context, draw.Message, *api.File) error) error {
	dr := draw.Options{Edit: edit}
	m := draw.Card(c, dr)
	var whole *api.File
	if m.Cut {
		if whole = draw.WholeText(c, dr); whole != nil {
			dr.File = whole.Name
			m = draw.Card(c, dr)
		}
	}
	err := p.showOnce(ctx, c, m, edit, whole, send)
	if whole != nil && api.Code(err) == discordgo.ErrCodeMissingPermissions {
		p.log.Warn("the bot may not attach files here; a post is shown shortened", "run", c.Key.Run, "key", c.Key.Name)
		dr.File = ""
		err = p.showOnce(ctx, c, draw.Card(c, dr), edit, nil, send)
	}
	return err
}

// showOnce sends a card in the kind that Discord is known to take, and in the
// other where it refuses that.
func (p *Poster) showOnce(ctx context.Context, c bot.Card, m draw.Drawing, edit bool, f *api.File, send func(context.Context, draw.Message, *api.File) error) error {
	kinds := []func(bot.Card, draw.Drawing) draw.Message{draw.Components, draw.Embed}
	plain := p.plain.Load()
	if plain {
		kinds = []func(bot.Card, draw.Drawing) draw.Message{draw.Embed, draw.Components}
	}
	var first error
	for i, kind := range kinds {
		body := kind(c, m)
		body.Attachments = []draw.Attachment{}
		if f != nil {
			body.Attachments = append(body.Attachments, draw.Attachment{Name: f.Name})
		}
		body.Clear = edit && body.Flags&discordgo.MessageFlagsIsComponentsV2 != 0
		once, cancel := context.WithTimeout(ctx, p.timeout)
		err := send(once, body, f)
		cancel()
		switch {
		case err == nil && i == 1:
			p.learnKind(c, plain, edit, first)
			return nil
		case api.Code(err) != discordgo.ErrCodeInvalidFormBody:
			return err
		case i == 0:
			first = err
		}
	}
	return first
}

// learnKind remembers that components are refused, where Discord refuses them as
// such and not for what this card shows.
func (p *Poster) learnKind(c bot.Card, plain, edit bool, err error) {
	p.log.Warn("Discord refuses a post in one kind; it is shown in the other", "run", c.Key.Run, "key", c.Key.Name, "why", api.Reasons(err))
	if kind := !plain && kindRefused(err); kind && !edit && !p.plain.Swap(true) {
		p.log.Warn("Discord takes no components of the new kind here; cards are embeds from now on")
	}
}

// kindRefused reports whether the refusal is about the kind of message.
func kindRefused(err error) bool {
	why := api.Reasons(err)
	return strings.Contains(why, `"flags"`) || strings.Contains(why, `"type"`)
}
