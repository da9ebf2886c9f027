package discord

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// spelling is how a text names people, roles and channels.
type spelling struct{ user, role, channel func(id string) string }

// worded is the act with its text as people read it, and notes the channels
// that the text names.
func (d *Discord) worded(ctx context.Context, n *notice) bot.Act {
	n.in.Channels = nil
	signs := &signs{Discord: d, notice: n, all: map[string]bot.Address{}}
	by := spelling{
		user:    func(id string) string { return d.nameFor(ctx, n, id) },
		role:    func(id string) string { return d.in.roles.name(n.guild, id) },
		channel: func(id string) string { return signs.word(ctx, id) },
	}
	switch act := n.in.Act.(type) {
	case bot.Said:
		act.Text = d.readable(n.raw, by)
		if n.edit {
			act.Text = "Correction of an earlier message: " + act.Text
		}
		return act
	case bot.Commanded:
		act.Text = d.readable(n.raw, by)
		return act
	case bot.Filled:
		if n.raw != "" {
			act.Values[bot.FieldGoal] = d.readable(n.raw, by)
		}
		return act
	case bot.Pressed, bot.Stopped, bot.Visited:
	}
	return n.in.Act
}

// maxAsked is how many channels of one text Discord is asked about.
const maxAsked = 5

// signs are the words for the channels that a text names.
type signs struct {
	*Discord
	*notice

	all   map[string]bot.Address
	asked int
}

// word is the word for a channel, of which no two have the same. What can be
// posted to in this server is noted; other servers' channels have no name here.
func (s *signs) word(ctx context.Context, id string) string {
	c := s.find(ctx, id)
	at := api.Address(s.guild, id, "")
	word := ingest.ChannelWord(s.all, c.Name, at)
	if c.ID != "" && slices.Contains(commands.Postable, c.Type) {
		if s.notice.in.Channels == nil {
			s.notice.in.Channels = map[string]bot.Address{}
		}
		s.notice.in.Channels[word] = at
	}
	return word
}

// find is a channel of the server where something was said; zero where it is
// of another one, or not known. The gateway tells of all that there are.
func (s *signs) find(ctx context.Context, id string) api.Channel {
	if c, is := s.channels[id]; is {
		return c
	}
	c, known := s.Discord.in.halls.find(id)
	if !known && s.guild != "" && !s.cfg.Gateway && s.asked < maxAsked {
		s.asked++
		ctx, cancel := context.WithTimeout(ctx, askWithin)
		defer cancel()
		if err := s.api.Call(ctx, http.MethodGet, discordgo.EndpointChannel(id), nil, &c); err != nil {
			s.log.Debug("a channel that a text names is not known", "channel", id, "error", err)
			return api.Channel{}
		}
		s.Discord.in.halls.learn(c)
	}
	if s.guild == "" || c.Guild != s.guild {
		return api.Channel{}
	}
	return c
}

// roles are the names of roles, by their servers.
type roles struct {
	mu    sync.Mutex
	names map[string]map[string]string
}

func (r *roles) open() { r.names = map[string]map[string]string{} }

// learn notes all roles of a server, or some that came or changed.
func (r *roles) learn(guild string, list []discordgo.Role) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[guild] == nil {
		r.names[guild] = map[string]string{}
	}
	for _, o := range list {
		r.names[guild][o.ID] = o.Name
	}
}

// forget forgets a role, or with no id all of a server.
func (r *roles) forget(guild, id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if id == "" {
		delete(r.names, guild)
		return
	}
	delete(r.names[guild], id)
}

// name is how people see a role of the server.
func (r *roles) name(guild, id string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if name := strings.TrimPrefix(r.names[guild][id], "@"); name != "" {
		return name
	}
	return "role"
}
