package slack

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/bot"
)

func (s *Slack) parseInteraction(payload []byte) (*notice, error) {
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
	n := &notice{user: i.User.ID, trigger: i.Trigger, hook: i.ResponseURL}
	switch i.Type {
	case "block_actions":
		return s.pressed(n, i), nil
	case "view_submission":
		return filled(n, i)
	case "message_action":
		return s.shortcut(n, i)
	}
	n.alone = true
	n.in = bot.Inbound{Keys: keyOf("shortcut", i.ActionTS, i.User.ID, i.Callback, i.Trigger), At: timeOf(i.ActionTS),
		Act: bot.Pressed{Button: bot.Button{Act: bot.ActStart}}}
	return n, nil
}

// pressed reads a click. A card at the channel's top level is the root of its
// own thread.
func (s *Slack) pressed(n *notice, i interaction) *notice {
	for _, a := range i.Actions {
		b, is := buttonOf(a)
		if !is {
			continue
		}
		n.in = bot.Inbound{Keys: keyOf("click", a.ActionTS, i.User.ID, a.ActionID, a.Value), At: timeOf(a.ActionTS), Act: bot.Pressed{Button: b}}
		channel, ts := i.Container.Channel, i.Container.Message
		if channel == "" {
			channel, ts = i.Channel.ID, i.Message.TS
		}
		n.alone = channel == ""
		if n.alone {
			return n
		}
		root := i.Container.Thread
		if root == "" {
			root = i.Message.ThreadTS
		}
		if !i.Container.Ephemeral && ts != "" {
			n.in.Message = s.place(channel, ts)
			if root == "" {
				root = ts
			}
		}
		n.in.Where = s.place(channel, root)
		return n
	}
	return nil
}

// shortcut reads "Make this a goal": the message's text, on behalf of whoever
// used the shortcut on it.
func (s *Slack) shortcut(n *notice, i interaction) (*notice, error) {
	m := i.Message
	if m.TS == "" {
		m.TS = i.MessageTS
	}
	if i.Channel.ID == "" || timeOf(m.TS).IsZero() {
		return nil, errors.New("a shortcut on no message")
	}
	s.fill(n, i.Channel.ID, m)
	n.author, n.user, n.bot, n.name = author{m.User, m.BotID}, i.User.ID, "", ""
	n.in.Keys = keyOf("shortcut", i.ActionTS, i.User.ID, m.TS, i.Trigger)
	if at := timeOf(i.ActionTS); !at.IsZero() {
		n.in.At = at
	}
	quote := m.User
	if quote == "" {
		quote = m.BotID
	}
	n.in.Act = bot.Said{To: true, Files: s.attachments(m), Quote: principal(quote)}
	return n, nil
}

// keyOf is the identity of an interaction. Slack's own redelivery repeats it;
// a second click has another stamp.
func keyOf(kind string, parts ...string) []string {
	for i := range parts {
		parts[i] = strconv.Quote(parts[i]) // so that no two lists read the same
	}
	return []string{Platform + ":" + kind + ":" + strings.Join(parts, ",")}
}
