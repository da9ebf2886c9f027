package slack

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// The kinds of payloads, as the envelopes of Socket Mode name them.
const (
	kindEvent       = "events_api"
	kindInteraction = "interactive"
	kindCommand     = "slash_commands"
)

// parcel is something from Slack that was proved to be from Slack.
type parcel struct {
	kind    string
	payload []byte
	again   bool // it was delivered before
}

// notice is a parcel that concerns the bot, before anybody was asked who did it.
type notice struct {
	in   bot.Inbound
	user string // who did it: a person,
	bot  string // or a bot
	name string // that calls itself so
	// raw is the text of a Said or a Commanded as it goes over the wire.
	raw string
	// author is who wrote the message that In quotes.
	author author
	// edit says that it counts only if a run lives in the thread.
	edit bool
	// alone says that it happened outside of any channel: in a modal, on the
	// bot's own page.
	alone bool
	again bool
	// trigger opens a form, within three seconds; hook takes private answers.
	trigger, hook string
	// prompts is the thread of an assistant that was just opened; there is
	// nothing to hear.
	prompts bot.Address
	// gone says that the workspace took the token away.
	gone bool
	// channel and ts are what was read of a channel, also where nothing in it
	// concerns the bot.
	channel, ts string
}

type author struct{ user, bot string }

var errMalformed = errors.New("the payload is not what Slack documents")

// parse reads a parcel. Without an error nil means that it is none of the
// bot's business.
func (s *Slack) parse(p parcel) (*notice, error) {
	var n *notice
	var err error
	switch p.kind {
	case kindEvent:
		n, err = s.parseEvent(p.payload)
	case kindInteraction:
		n, err = s.parseInteraction(p.payload)
	case kindCommand:
		n, err = s.parseCommand(p.payload)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	if n == nil {
		return nil, nil //nolint:nilnil // nothing for the bot is no error
	}
	n.again = p.again
	if n.in.At.IsZero() {
		n.in.At = time.Now().UTC() // what has no stamp of its own has just happened
	}
	return n, nil
}

// heard reports whether there is something to hear.
func (n *notice) heard() bool { return n.in.Act != nil }

// lanes are what the notice must stay in order with: its thread, and for what
// opens one the top level of its channel.
func (n *notice) lanes() []string {
	where := n.in.Where
	if n.alone || where.Channel == "" {
		return []string{"person " + n.user}
	}
	lanes := []string{where.String()}
	if top := where.Place(); where.ID == "" || where.ID == n.in.Message.ID {
		lanes = append(lanes, top)
	}
	return slices.Compact(lanes)
}

func (s *Slack) parseCommand(payload []byte) (*notice, error) {
	var c command
	if err := json.Unmarshal(payload, &c); err != nil {
		return nil, err
	}
	if c.User == "" || c.Channel == "" {
		return nil, errors.New("a command of nobody, or from nowhere")
	}
	n := &notice{user: c.User, raw: c.Text, trigger: c.Trigger, hook: c.ResponseURL}
	n.in = bot.Inbound{Where: s.place(c.Channel, ""), Act: bot.Commanded{Direct: alone(c.Channel)}}
	if c.Trigger != "" {
		n.in.Keys = []string{Platform + ":command:" + c.Trigger}
	}
	return n, nil
}
