package wire

// This file turns clicks and shortcuts into updates: which button, in which
// thread, on whose behalf, and under which key, so that a redelivery counts
// once.

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/bot"
)

func (r *Reader) interaction(payload []byte) (*Update, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(payload, &kind); err != nil {
		return nil, err
	}
	switch kind.Type {
	case "block_actions", "view_submission", "shortcut", "message_action":
	default:
		return nil, nil //nolint:nilnil // a closed modal, a menu's suggestions: nothing to do
	}
	var i interaction
	if err := json.Unmarshal(payload, &i); err != nil {
		return nil, err
	}
	if i.User.ID == "" {
		return nil, errors.New("an interaction of nobody")
	}
	u := &Update{User: i.User.ID, Trigger: i.Trigger, Hook: i.ResponseURL}
	switch i.Type {
	case "block_actions":
		return r.pressed(u, i), nil
	case "view_submission":
		return filled(u, i)
	case "message_action":
		return r.shortcut(u, i)
	}
	u.Alone = true
	u.In = bot.Inbound{Keys: keyOf("shortcut", i.ActionTS, i.User.ID, i.Callback, i.Trigger), At: TimeOf(i.ActionTS),
		Act: bot.Pressed{Button: bot.Button{Act: bot.ActStart}}}
	return u, nil
}

// pressed reads a click. A card at the channel's top level is the root of its
// own thread.
func (r *Reader) pressed(u *Update, i interaction) *Update {
	for _, a := range i.Actions {
		b, is := buttonOf(a)
		if !is {
			continue
		}
		u.In = bot.Inbound{Keys: keyOf("click", a.ActionTS, i.User.ID, a.ActionID, a.Value), At: TimeOf(a.ActionTS), Act: bot.Pressed{Button: b}}
		channel, ts := i.Container.Channel, i.Container.Message
		if channel == "" {
			channel, ts = i.Channel.ID, i.Message.TS
		}
		u.Alone = channel == ""
		if u.Alone {
			return u
		}
		root := i.Container.Thread
		if root == "" {
			root = i.Message.ThreadTS
		}
		if !i.Container.Ephemeral && ts != "" {
			u.In.Message = r.Address(channel, ts)
			if root == "" {
				root = ts
			}
		}
		u.In.Where = r.Address(channel, root)
		return u
	}
	return nil
}

// rememberMessage is the shortcut "Remember this".
const rememberMessage = "remember_message"

// shortcut reads "Make this a goal" and "Remember this": the message's text, on
// behalf of whoever used the shortcut on it.
func (r *Reader) shortcut(u *Update, i interaction) (*Update, error) {
	m := i.Message
	if m.TS == "" {
		m.TS = i.MessageTS
	}
	if i.Channel.ID == "" || TimeOf(m.TS).IsZero() {
		return nil, errors.New("a shortcut on no message")
	}
	r.fill(u, i.Channel.ID, m)
	u.User, u.Bot, u.Name = i.User.ID, "", ""
	u.In.Keys = keyOf("shortcut", i.ActionTS, i.User.ID, m.TS, i.Trigger)
	if at := TimeOf(i.ActionTS); !at.IsZero() {
		u.In.At = at
	}
	quote := m.User
	if quote == "" {
		quote = m.BotID
	}
	if i.Callback == rememberMessage {
		u.Raw = "remember " + u.Raw
		u.In.Act = bot.Commanded{Quote: Principal(quote), Direct: alone(i.Channel.ID)}
		return u, nil
	}
	u.In.Act = bot.Said{To: true, Files: r.attachments(m), Quote: Principal(quote)}
	return u, nil
}

// keyOf is the identity of an interaction. Slack's own redelivery repeats it;
// a second click has another stamp.
func keyOf(kind string, parts ...string) []string {
	for i := range parts {
		parts[i] = strconv.Quote(parts[i]) // so that no two lists read the same
	}
	return []string{Platform + ":" + kind + ":" + strings.Join(parts, ",")}
}
