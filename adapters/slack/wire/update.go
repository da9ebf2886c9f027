package wire

import (
	"slices"

	"github.com/deckhand-bot/deckhand/bot"
)

// Platform is the name of the platform: the first part of its addresses.
const Platform = "slack"

// Update is a payload that concerns the bot, before anybody was asked who did it.
type Update struct {
	In   bot.Inbound
	User string // who did it: a person,
	Bot  string // or a bot
	Name string // that calls itself so
	// Raw is the text of a Said or a Commanded as it goes over the wire.
	Raw string
	// Edit says that it counts only if a run lives in the thread.
	Edit bool
	// Alone says that it happened outside of any channel: in a modal, on the
	// bot's own page.
	Alone bool
	Again bool // it was delivered before
	// Trigger opens a form, within three seconds; Hook takes private answers.
	Trigger, Hook string
	// Opens says that the conversation with the bot was just opened; else
	// something beside it changed.
	Opens bool
	// Titled is the thread whose session somebody gave a title; there is nothing
	// to hear.
	Titled bot.Address
	// Gone says that the workspace took the token away.
	Gone bool
	// Channel and TS are what was read of a channel, also where nothing in it
	// concerns the bot.
	Channel, TS string
}

// Heard reports whether there is something to hear.
func (u *Update) Heard() bool { return u.In.Act != nil }

// Keys are what the update must stay in order with: its thread, and for what
// opens one the top level of its channel.
func (u *Update) Keys() []string {
	where := u.In.Where
	if u.Alone || where.Channel == "" {
		return []string{"person " + u.User}
	}
	keys := []string{where.String()}
	if top := where.Place(); where.ID == "" || where.ID == u.In.Message.ID {
		keys = append(keys, top)
	}
	return slices.Compact(keys)
}

// Reader reads payloads for one bot in one workspace.
type Reader struct {
	Team    string // the workspace's id
	BotUser string // the bot as a person: what a mention names
	BotID   string // the bot as an author
	// AllowBots are the bots that may speak to this one: "slack:B1".
	AllowBots []string
}

// Address is that of a thread or message in the workspace; without an id it is
// the channel.
func (r *Reader) Address(channel, id string) bot.Address {
	return bot.Address{Platform: Platform, Workspace: r.Team, Channel: channel, ID: id}
}

// Principal is a person, a bot or a user group as authority names them.
func Principal(id string) string { return Platform + ":" + id }
