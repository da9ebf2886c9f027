package directory

import (
	"context"
	"net/http"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
)

const maxChannels = 8192 // per half

// channels remembers which channel is a thread of which: events name only the
// channel that they happened in. What was not asked for a while is forgotten.
type channels struct {
	mu       sync.Mutex
	now, old map[string]api.Channel
}

func (cs *channels) learn(c api.Channel) {
	if c.ID == "" {
		return
	}
	cs.mu.Lock()
	defer cs.mu.Unlock()
	cs.keep(c)
}

func (cs *channels) keep(c api.Channel) {
	if len(cs.now) >= maxChannels {
		cs.old, cs.now = cs.now, map[string]api.Channel{}
	}
	cs.now[c.ID] = c
}

func (cs *channels) forget(id string) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	delete(cs.now, id)
	delete(cs.old, id)
}

func (cs *channels) find(id string) (api.Channel, bool) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c, is := cs.now[id]; is {
		return c, true
	}
	c, is := cs.old[id]
	if is {
		cs.keep(c)
	}
	return c, is
}

// nameIn is how people in a server see a channel of theirs, or the id where it
// is not known.
func (cs *channels) nameIn(guild, id string) string {
	if c, is := cs.find(id); is && c.Name != "" && c.Guild == guild {
		return c.Name
	}
	return id
}

// LearnChannel remembers a channel that Discord told of.
func (d *Directory) LearnChannel(c api.Channel) { d.channels.learn(c) }

// KnownChannel is a channel if it was told of.
func (d *Directory) KnownChannel(id string) (api.Channel, bool) { return d.channels.find(id) }

// ChannelName is how people in a server see a channel of theirs, or the id where
// it is not known.
func (d *Directory) ChannelName(guild, id string) string { return d.channels.nameIn(guild, id) }

// Channel is a channel as far as it is known, else as Discord says. The errors
// are those of the contract.
func (d *Directory) Channel(ctx context.Context, id string) (api.Channel, error) {
	if c, is := d.channels.find(id); is {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	var c api.Channel
	if err := d.client.Call(ctx, http.MethodGet, discordgo.EndpointChannel(id), nil, &c); err != nil {
		return c, api.Failed("ask Discord what channel "+id+" is", err)
	}
	d.channels.learn(c)
	return c, nil
}
