package discord

// This file adds to an event what its text and place mean: ids become the
// names of people, roles and channels, and the channel becomes the address of
// a thread, so that the bot reads what people see.

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/bot"
)

// naming is how a text names people, roles and channels.
type naming struct{ user, role, channel func(id string) string }

// readWords is the act with its text as people read it, and notes the channels
// that the text names.
func (d *Discord) readWords(ctx context.Context, n *update) bot.Act {
	n.in.Channels = nil
	signs := &channelWords{Discord: d, update: n, all: map[string]bot.Address{}}
	by := naming{
		user:    func(id string) string { return nameFor(ctx, d, n, id) },
		role:    func(id string) string { return d.directory.RoleName(n.guild, id) },
		channel: func(id string) string { return signs.word(ctx, id) },
	}
	switch act := n.in.Act.(type) {
	case bot.Said:
		act.Text = d.readable(n.raw, by)
		if n.edit {
			act.Text = bot.Correction + act.Text
		}
		return act
	case bot.Commanded:
		act.Text, act.Only = d.readable(n.raw, by), !d.cfg.Gateway
		return act
	case bot.Filled:
		if n.raw != "" {
			act.Values[bot.FieldGoal] = d.readable(n.raw, by)
		}
		return act
	case bot.Pressed, bot.Stopped, bot.Visited, bot.Opened, bot.Unsaid, bot.PlaceBack, bot.PlaceGone:
	}
	return n.in.Act
}

// maxAsked is how many channels of one text Discord is asked about.
const maxAsked = 5

// channelWords are the words for the channels that a text names.
type channelWords struct {
	*Discord
	*update

	all   map[string]bot.Address
	asked int
}

// word is the word for a channel, of which no two have the same. What can be
// posted to in this server is noted; other servers' channels have no name here.
func (s *channelWords) word(ctx context.Context, id string) string {
	c := s.find(ctx, id)
	at := api.Address(s.guild, id, "")
	word := ingest.ChannelWord(s.all, c.Name, at)
	if c.ID != "" && slices.Contains(commands.Postable, c.Type) {
		if s.update.in.Channels == nil {
			s.update.in.Channels = map[string]bot.Address{}
		}
		s.update.in.Channels[word] = at
	}
	return word
}

// find is a channel of the server where something was said; zero where it is
// of another one, or not known. The gateway tells of all that there are.
func (s *channelWords) find(ctx context.Context, id string) api.Channel {
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
func nameFor(ctx context.Context, d *Discord, n *update, id string) string {
	if name := n.names[id]; name != "" {
		return name
	}
	return d.directory.PersonName(ctx, n.guild, id)
}

// channelOf is the channel that something happened in.
func (d *Discord) channelOf(ctx context.Context, n *update) (api.Channel, error) {
	if n.guild == "" {
		return api.Channel{ID: n.channel, Type: discordgo.ChannelTypeDM}, nil
	}
	if n.known.ID == n.channel && (!n.known.IsThread() || n.known.Parent != "") && n.known.ID != "" {
		return n.known, nil
	}
	return d.directory.Channel(ctx, n.channel)
}

// locate finds out where it happened. In a direct conversation, and in the text
// of a voice channel, that is the thread itself. At the top level of a channel it is the thread that begins at
// the message: the one answered, where a run lives in its thread.
func (d *Discord) locate(ctx context.Context, n *update) error {
	c, err := d.channelOf(ctx, n)
	if err != nil {
		return err
	}
	switch {
	case c.IsDirect():
		n.in.Where = api.Address("", n.channel, n.channel)
	case c.IsVoice():
		n.in.Where = api.Address(n.guild, n.channel, n.channel)
	case c.IsThread():
		if n.in.Where, err = d.threadOf(ctx, n.guild, c); err != nil {
			return err
		}
	case n.id != "" && n.root != "" && n.root != n.id:
		lives, err := d.cfg.Names.Value(ctx, threadName(api.Address(n.guild, n.channel, n.root)))
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

// threadOf is the address of a thread. One in which a run lives that does not know
// of private threads yet keeps the address that the run has.
func (d *Discord) threadOf(ctx context.Context, guild string, c api.Channel) (bot.Address, error) {
	at := api.Thread(guild, c.Parent, c.ID, c.IsPrivate())
	if !c.IsPrivate() {
		return at, nil
	}
	open := api.Address(guild, c.Parent, c.ID)
	lives, err := d.cfg.Names.Value(ctx, threadName(open))
	if err != nil {
		return at, fmt.Errorf("look for the run that lives in a private thread: %w", err)
	}
	if lives != "" {
		return open, nil
	}
	return at, nil
}

var token = regexp.MustCompile(`<(@!?|@&|#|a?:[A-Za-z0-9_~]{1,40}:)([0-9]{1,20})>`)

// mentions reports whether a text, as it goes over the wire, speaks to the bot.
func (a *account) mentions(text string) bool {
	return strings.Contains(text, "<@"+a.botUser+">") || strings.Contains(text, "<@!"+a.botUser+">")
}

// readable is a text as people read it: without mentions of the bot, with names
// instead of ids where they are known.
func (a *account) readable(text string, by naming) string {
	var out strings.Builder
	for {
		at := token.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		out.WriteString(text[:at[0]])
		kind, id := text[at[2]:at[3]], text[at[4]:at[5]]
		text = text[at[1]:]
		switch {
		case kind[0] == '@' && id == a.botUser:
			text = strings.TrimPrefix(text, " ")
		case kind == "@&":
			out.WriteString("@" + by.role(id))
		case kind[0] == '@':
			out.WriteString("@" + by.user(id))
		case kind == "#":
			out.WriteString(by.channel(id))
		default: // an emoji of the server's own
			out.WriteString(strings.TrimPrefix(kind, "a"))
		}
	}
	out.WriteString(text)
	return strings.TrimSpace(out.String())
}

// NameOf implements bot.Namer.
func (d *Discord) NameOf(ctx context.Context, principal string) string {
	id, is := strings.CutPrefix(principal, api.Platform+":")
	switch role, isRole := strings.CutPrefix(id, "&"); {
	case !is || !api.IsID(role):
		return ""
	case isRole:
		return "a role"
	}
	return d.directory.Known(ctx, id)
}

// Member implements bot.Membership.
func (d *Discord) Member(ctx context.Context, principal string, channel bot.Address) (bool, error) {
	id, is := api.UserID(principal)
	if !is {
		return false, nil
	}
	return d.directory.Reads(ctx, id, channel.Channel)
}
