package discord

import (
	"context"
	"fmt"
	"slices"

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
		role:    func(id string) string { return d.directory.RoleName(n.guild, id) },
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
	c, known := s.directory.KnownChannel(id)
	if !known && s.guild != "" && !s.cfg.Gateway && s.asked < maxAsked {
		s.asked++
		var err error
		if c, err = s.directory.Channel(ctx, id); err != nil {
			s.log.Debug("a channel that a text names is not known", "channel", id, "error", err)
			return api.Channel{}
		}
	}
	if s.guild == "" || c.Guild != s.guild {
		return api.Channel{}
	}
	return c
}

// nameFor is how people see somebody whom an event names.
func (d *Discord) nameFor(ctx context.Context, n *notice, id string) string {
	if name := n.names[id]; name != "" {
		return name
	}
	return d.directory.PersonName(ctx, n.guild, id)
}

// hall is the channel that something happened in.
func (d *Discord) hall(ctx context.Context, n *notice) (api.Channel, error) {
	if n.guild == "" {
		return api.Channel{ID: n.channel, Type: discordgo.ChannelTypeDM}, nil
	}
	if n.known.ID == n.channel && (!n.known.IsThread() || n.known.Parent != "") && n.known.ID != "" {
		return n.known, nil
	}
	return d.directory.Channel(ctx, n.channel)
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
