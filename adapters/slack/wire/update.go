package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// Platform is the name of the platform: the first part of its addresses.
const Platform = "slack"

// The kinds of payloads, as the envelopes of Socket Mode name them.
const (
	KindEvent       = "events_api"
	KindInteraction = "interactive"
	KindCommand     = "slash_commands"
)

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
	// Prompts is the thread of an assistant that was just opened; there is
	// nothing to hear.
	Prompts bot.Address
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

// ErrMalformed says that a payload cannot be read.
var ErrMalformed = errors.New("the payload is not what Slack documents")

// Reader reads payloads for one bot in one workspace.
type Reader struct {
	Team    string // the workspace's id
	BotUser string // the bot as a person: what a mention names
	BotID   string // the bot as an author
	// AllowBots are the bots that may speak to this one: "slack:B1".
	AllowBots []string
}

// Read reads a payload. Without an error nil means that it is none of the bot's
// business.
func (r *Reader) Read(kind string, payload []byte) (*Update, error) {
	var u *Update
	var err error
	switch kind {
	case KindEvent:
		u, err = r.event(payload)
	case KindInteraction:
		u, err = r.interaction(payload)
	case KindCommand:
		u, err = r.command(payload)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if u == nil {
		return nil, nil //nolint:nilnil // nothing for the bot is no error
	}
	if u.In.At.IsZero() {
		u.In.At = time.Now().UTC() // what has no stamp of its own has just happened
	}
	return u, nil
}

// Address is that of a thread or message in the workspace; without an id it is
// the channel.
func (r *Reader) Address(channel, id string) bot.Address {
	return bot.Address{Platform: Platform, Workspace: r.Team, Channel: channel, ID: id}
}

// Principal is a person, a bot or a user group as authority names them.
func Principal(id string) string { return Platform + ":" + id }

func (r *Reader) command(payload []byte) (*Update, error) {
	var c command
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, err
	}
	if c.User == "" || c.Channel == "" {
		return nil, errors.New("a command of nobody, or from nowhere")
	}
	u := &Update{User: c.User, Raw: c.Text, Trigger: c.Trigger, Hook: c.ResponseURL}
	u.In = bot.Inbound{Where: r.Address(c.Channel, ""), Act: bot.Commanded{Direct: alone(c.Channel)}}
	if c.Trigger != "" {
		u.In.Keys = []string{Platform + ":command:" + c.Trigger}
	}
	return u, nil
}
