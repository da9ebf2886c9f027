package discord

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/bot"
)

const maxHalls = 8192 // per half

// halls remembers which channel is a thread of which: events name only the
// channel that they happened in. What was not asked for a while is forgotten.
type halls struct {
	mu       sync.Mutex
	now, old map[string]api.Channel
}

func (h *halls) open() { h.now = map[string]api.Channel{} }

func (h *halls) learn(c api.Channel) {
	if c.ID == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(c)
}

func (h *halls) keep(c api.Channel) {
	if len(h.now) >= maxHalls {
		h.old, h.now = h.now, map[string]api.Channel{}
	}
	h.now[c.ID] = c
}

func (h *halls) forget(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.now, id)
	delete(h.old, id)
}

func (h *halls) find(id string) (api.Channel, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if c, is := h.now[id]; is {
		return c, true
	}
	c, is := h.old[id]
	if is {
		h.keep(c)
	}
	return c, is
}

// nameIn is how people in a server see a channel of theirs, or the id where it
// is not known.
func (h *halls) nameIn(guild, id string) string {
	if c, is := h.find(id); is && c.Name != "" && c.Guild == guild {
		return c.Name
	}
	return id
}

// hall is the channel that something happened in.
func (d *Discord) hall(ctx context.Context, n *notice) (api.Channel, error) {
	if n.guild == "" {
		return api.Channel{ID: n.channel, Type: discordgo.ChannelTypeDM}, nil
	}
	if n.known.ID == n.channel && (!n.known.IsThread() || n.known.Parent != "") && n.known.ID != "" {
		return n.known, nil
	}
	if c, is := d.in.halls.find(n.channel); is {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var c api.Channel
	if err := d.api.Call(ctx, http.MethodGet, discordgo.EndpointChannel(n.channel), nil, &c); err != nil {
		return c, api.Failed("ask Discord what channel "+n.channel+" is", err)
	}
	d.in.halls.learn(c)
	return c, nil
}

// settle finds out where it happened. In a direct conversation, and in the text
// of a voice channel, that is the thread itself. At the top level of a channel it is the thread that begins at
// the message: the one answered, where a run lives in its thread.
func (d *Discord) settle(ctx context.Context, n *notice) error {
	c, err := d.hall(ctx, n)
	if err != nil {
		return err
	}
	switch {
	case c.IsDirect():
		n.in.Where = api.Address("", n.channel, n.channel)
	case c.IsVoice():
		n.in.Where = api.Address(n.guild, n.channel, n.channel)
	case c.IsThread():
		n.in.Where = api.Address(n.guild, c.Parent, n.channel)
	case n.id != "" && n.root != "" && n.root != n.id:
		lives, err := d.cfg.Names.Value(ctx, livesName(api.Address(n.guild, n.channel, n.root)))
		if err != nil {
			return fmt.Errorf("look for the run that lives in the thread of a message: %w", err)
		}
		if lives == "" {
			n.root = n.id
		}
		n.in.Where = api.Address(n.guild, n.channel, n.root)
	default:
		n.in.Where = api.Address(n.guild, n.channel, n.root)
	}
	if n.in.Message != (bot.Address{}) {
		n.in.Message.Workspace = n.in.Where.Workspace
	}
	return nil
}
