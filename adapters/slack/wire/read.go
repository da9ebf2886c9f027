package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
)

// The kinds of payloads, as the envelopes of Socket Mode name them.
const (
	KindEvent       = "events_api"
	KindInteraction = "interactive"
	KindCommand     = "slash_commands"
)

// ErrMalformed says that a payload cannot be read.
var ErrMalformed = errors.New("the payload is not what Slack documents")

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
