package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw"
	"github.com/deckhand-bot/deckhand/adapters/discord/interact"
	"github.com/deckhand-bot/deckhand/bot"
)

var errNoWay = errors.New("an interaction without a way to answer")

// parseInteraction reads a command, a click, a form or a completion. As soon as
// there is a way to answer, the update has it, also beside an error.
func (a *account) parseInteraction(p envelope) (*update, error) {
	var outer struct {
		ID    string                    `json:"id"`
		Token string                    `json:"token"`
		Type  discordgo.InteractionType `json:"type"`
	}
	if err := json.Unmarshal(p.payload, &outer); err != nil {
		return nil, err
	}
	if api.Number(outer.ID) == 0 || outer.Token == "" || strings.ContainsAny(outer.Token, "/?#%") {
		return nil, errNoWay
	}
	switch outer.Type {
	case discordgo.InteractionApplicationCommand, discordgo.InteractionMessageComponent, discordgo.InteractionApplicationCommandAutocomplete, discordgo.InteractionModalSubmit:
	default:
		return nil, fmt.Errorf("an interaction of the unknown type %d", outer.Type)
	}
	n := &update{reply: interact.New(a.api, a.appID, outer.ID, outer.Token, outer.Type, p.body)}
	var i api.Interaction
	if err := json.Unmarshal(p.payload, &i); err != nil {
		return n, err
	}
	n.guild, n.channel, n.known, n.member = i.Guild, i.Channel, i.Place, i.Member
	switch {
	case i.Member != nil && i.Member.User != nil:
		n.user = *i.Member.User
	case i.User != nil:
		n.user = *i.User
	}
	if n.user.ID == "" || n.channel == "" {
		return n, errors.New("an interaction of nobody, or from nowhere")
	}
	n.in.Keys = []string{Platform + ":interaction:" + i.ID}
	n.in.At = api.Time(i.ID)
	return n, a.readRequest(n, i)
}

// readRequest reads what the interaction asks for.
func (a *account) readRequest(n *update, i api.Interaction) error {
	switch i.Type {
	case discordgo.InteractionMessageComponent:
		return readClick(n, i)
	case discordgo.InteractionModalSubmit:
		return readForm(n, i)
	}
	var c api.Command
	if err := json.Unmarshal(i.Data, &c); err != nil {
		return err
	}
	switch {
	case i.Type == discordgo.InteractionApplicationCommandAutocomplete:
		n.typed = commands.Focused(c.Options)
		return nil
	case c.Type == discordgo.MessageApplicationCommand:
		return a.readTarget(n, c)
	case c.Type == discordgo.ChatApplicationCommand && c.Name == commands.Name:
		order, err := commands.Read(c, n.guild)
		n.in.Act, n.raw, n.begins, n.channels = order.Act, order.Text, order.Begins, order.Channels
		return err
	}
	return fmt.Errorf("a command %.40q that is not the bot's", c.Name)
}

// readClick reads a click on a button or in a menu. A card at a channel's top
// level is the root of its own thread.
func readClick(n *update, i api.Interaction) error {
	var c struct {
		CustomID string   `json:"custom_id"`
		Values   []string `json:"values"`
	}
	if err := json.Unmarshal(i.Data, &c); err != nil {
		return err
	}
	b, is := draw.Clicked(c.CustomID, c.Values)
	if !is {
		return errors.New("a component that is not the bot's")
	}
	n.in.Act = bot.Pressed{Button: b}
	if i.Message != nil {
		n.root = i.Message.ID
		n.reply.OnCard()
	}
	return nil
}

// readForm reads a form that was sent in.
func readForm(n *update, i api.Interaction) error {
	var f struct {
		CustomID   string            `json:"custom_id"`
		Components []json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(i.Data, &f); err != nil {
		return err
	}
	id, is := strings.CutPrefix(f.CustomID, draw.FormPrefix)
	if !is || id == "" {
		return errors.New("a form that is not the bot's")
	}
	n.in.Act = bot.Filled{Form: id, Values: draw.Values(f.Components), Direct: n.guild == ""}
	if i.Message != nil {
		n.root = i.Message.ID
		n.reply.OnCard()
	}
	n.begins = id == bot.FormRun || strings.HasPrefix(id, bot.FormRun+" ")
	return nil
}

// readTarget reads "Make this a goal" and "Remember this": the message's text, on
// behalf of whoever used the command on it.
func (a *account) readTarget(n *update, c api.Command) error {
	s, is := c.Resolved.Messages[c.Target]
	if !is || api.Time(s.ID).IsZero() || s.Author.ID == "" {
		return errors.New("a command on no message")
	}
	n.id, n.root = s.ID, s.ID
	n.raw, n.names = s.Content, namesIn(&s)
	n.in.Message = api.Address(n.guild, n.channel, s.ID)
	if c.Name == commands.NameRemember {
		n.raw = "remember " + n.raw
		n.in.Act = bot.Commanded{Quote: api.Principal(s.Author.ID), Direct: n.guild == ""}
		return nil
	}
	n.in.Act = bot.Said{To: true, Files: attachments(&s), Quote: api.Principal(s.Author.ID)}
	return nil
}
