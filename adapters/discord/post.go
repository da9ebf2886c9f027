package discord

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// sent is what is read of a message that Discord answers with.
type sent struct {
	ID        string `json:"id"`
	ChannelID string `json:"channel_id"`
}

// Post makes one message. A thread that is not there yet is opened: at the
// message that has its id, or, where the address names none, at the card's
// headline in the channel. Each of these steps finds what an earlier attempt
// has left: the headline by its mark, the thread by its message, the card by
// its nonce. What does not fit is shortened, and the whole text is attached to
// the same message.
func (d *Discord) Post(ctx context.Context, to bot.Address, c bot.Card) (bot.Posted, error) {
	what := fmt.Sprintf("post %s to %s", c.Key.Name, to)
	if to.ID == "" && to.Workspace != directSpace {
		return d.postBelow(ctx, what, to, c)
	}
	m, err := d.postCard(ctx, roomOf(to), c)
	if codeOf(err) == discordgo.ErrCodeUnknownChannel && to.ID != "" && to.ID != to.Channel {
		if err = d.openThread(ctx, to.Channel, to.ID, c); err == nil {
			m, err = d.postCard(ctx, to.ID, c)
		}
	}
	if err != nil {
		return bot.Posted{}, d.failed(what, err)
	}
	if to.ID == "" {
		to.ID = to.Channel // a direct conversation is its own thread
	}
	return bot.Posted{Message: place(to.Workspace, m.ChannelID, m.ID), Thread: to}, nil
}

// roomOf is the channel that holds the messages of an address: a thread is a
// channel of its own.
func roomOf(to bot.Address) string {
	if to.ID != "" && to.Workspace != directSpace {
		return to.ID
	}
	return to.Channel
}

// Paces are those of one thread, or channel. A message's address names the
// thread that it is in as its channel.
func (d *Discord) Paces(to bot.Address) (post, edit agent.Pace) {
	room := to
	room.Channel = roomOf(to)
	return agent.Pace{Name: "post/" + room.Place(), Every: paceEvery, Burst: paceBurst},
		agent.Pace{Name: "edit/" + to.Place(), Every: paceEvery, Burst: paceBurst}
}

// postCard posts a card to a channel, be it a thread.
func (d *Discord) postCard(ctx context.Context, channel string, c bot.Card) (sent, error) {
	var m sent
	err := d.show(ctx, c, false, func(ctx context.Context, body message, f *file) error {
		body.Nonce, body.Enforce = nonceOf(c.Key), true
		m = sent{}
		return d.deliver(ctx, http.MethodPost, discordgo.EndpointChannelMessages(channel), body, f, &m)
	})
	if err == nil && m.ChannelID == "" {
		m.ChannelID = channel
	}
	if err == nil && m.ID == "" {
		return m, fmt.Errorf("the answer names no message: %w", bot.ErrLost)
	}
	return m, err
}

// show draws a card and sends it: as components, and where those are refused as
// an embed; without its file where the bot may attach none.
func (d *Discord) show(ctx context.Context, c bot.Card, edit bool, send func(context.Context, message, *file) error) error {
	dr := drawing{edit: edit}
	m := renderCard(c, dr)
	var whole *file
	if m.cut {
		if whole = wholeText(c, dr); whole != nil {
			dr.file = whole.name
			m = renderCard(c, dr)
		}
	}
	err := d.showOnce(ctx, c, m, edit, whole, send)
	if whole != nil && codeOf(err) == discordgo.ErrCodeMissingPermissions {
		d.log.Warn("the bot may not attach files here; a post is shown shortened", "run", c.Key.Run, "key", c.Key.Name)
		dr.file = ""
		err = d.showOnce(ctx, c, renderCard(c, dr), edit, nil, send)
	}
	return err
}

// showOnce sends a card in the kind that Discord is known to take, and in the
// other where it refuses that.
func (d *Discord) showOnce(ctx context.Context, c bot.Card, m drawn, edit bool, f *file, send func(context.Context, message, *file) error) error {
	kinds := []func(bot.Card, drawn) message{modern, old}
	plain := d.out.plain.Load()
	if plain {
		kinds = []func(bot.Card, drawn) message{old, modern}
	}
	var first error
	for i, kind := range kinds {
		body := kind(c, m)
		body.Attachments = []attachment{}
		if f != nil {
			body.Attachments = append(body.Attachments, attachment{Name: f.name})
		}
		body.clear = edit && body.Flags&flagComponents != 0
		once, cancel := context.WithTimeout(ctx, d.cfg.PostTimeout)
		err := send(once, body, f)
		cancel()
		switch {
		case err == nil && i == 1:
			d.learnKind(c, plain, edit, first)
			return nil
		case codeOf(err) != discordgo.ErrCodeInvalidFormBody:
			return err
		case i == 0:
			first = err
		}
	}
	return first
}

// learnKind remembers that components are refused, where Discord refuses them as
// such and not for what this card shows.
func (d *Discord) learnKind(c bot.Card, plain, edit bool, err error) {
	d.log.Warn("Discord refuses a post in one kind; it is shown in the other", "run", c.Key.Run, "key", c.Key.Name, "why", reasonsOf(err))
	if kind := !plain && kindRefused(err); kind && !edit && !d.out.plain.Swap(true) {
		d.log.Warn("Discord takes no components of the new kind here; cards are embeds from now on")
	}
}

// kindRefused reports whether the refusal is about the kind of message.
func kindRefused(err error) bool {
	why := reasonsOf(err)
	return strings.Contains(why, `"flags"`) || strings.Contains(why, `"type"`)
}

// reasonsOf is what Discord says about a refusal.
func reasonsOf(err error) string {
	if refused, is := errors.AsType[*discordgo.RESTError](err); is {
		return shortened(string(refused.ResponseBody), maxContent)
	}
	return ""
}

// file is one file that goes with a message.
type file struct {
	name string
	data []byte
}

// wholeText is a card as a file; nil where even that is too large.
func wholeText(c bot.Card, d drawing) *file {
	name := "text.md"
	if c.Key.Kind != "" {
		name = string(c.Key.Kind) + ".md"
	}
	data := []byte(d.named(bot.Markdown(c)) + "\n")
	if len(data) > largest {
		return nil
	}
	return &file{name: name, data: data}
}

// deliver sends a message, with its file in the same request.
func (d *Discord) deliver(ctx context.Context, method, endpoint string, body any, f *file, out any) error {
	if f == nil {
		return d.call(ctx, method, endpoint, body, out)
	}
	kind, raw, err := discordgo.MultipartBodyWithJSON(body, []*discordgo.File{{Name: f.name, Reader: bytes.NewReader(f.data)}})
	if err != nil {
		return fmt.Errorf("encode a message with the file %q: %w", f.name, err)
	}
	answer, err := d.send(ctx, method, endpoint, kind, raw)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	return nil
}
