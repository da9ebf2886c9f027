package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/bot"
)

// What a modal of the bot's carries: what it is called, and the action id of
// every field; the id of a field's block is the field's.
const (
	FormCallback = "form"
	FormField    = "v"

	maxPrivate = 3000
)

// formOrigin is what a modal carries unseen: which form it is, and where it was
// asked for, which Slack does not tell when it comes back.
type formOrigin struct {
	Form  string `json:"form"`
	Where string `json:"where,omitempty"`
}

// FormPrivate is what a modal of the form carries unseen. An error says that it
// is too long for Slack.
func FormPrivate(form string, where bot.Address) (string, error) {
	private, err := json.Marshal(formOrigin{Form: form, Where: where.String()})
	if err != nil || utf8.RuneCount(private) > maxPrivate {
		return "", fmt.Errorf("%w: its id is too long", ErrForm)
	}
	return string(private), nil
}

// ErrForm says why a form cannot be shown in a modal.
var ErrForm = errors.New("the form does not fit into Slack")

// filled reads a form that was sent in. A modal of somebody else's is none.
func filled(u *Update, i interaction) (*Update, error) {
	if i.View.Callback != FormCallback {
		return nil, nil //nolint:nilnil // not ours
	}
	var p formOrigin
	if err := json.Unmarshal([]byte(i.View.Private), &p); err != nil || p.Form == "" {
		return nil, errors.New("a form without its id")
	}
	where, err := bot.ParseAddress(p.Where)
	if err != nil && p.Where != "" {
		return nil, err
	}
	values := map[string]string{}
	for field, actions := range i.View.State.Values {
		a, is := actions[FormField]
		if !is {
			continue
		}
		values[field] = a.Value
		if a.Option.Value != "" {
			values[field] = a.Option.Value
		}
		if len(a.Users) > 0 {
			people := make([]string, len(a.Users))
			for i, user := range a.Users {
				people[i] = Principal(user)
			}
			values[field] = strings.Join(people, " ")
		}
	}
	u.Alone = where.Channel == ""
	u.In = bot.Inbound{Keys: keyOf("form", i.View.ID, i.View.Hash, i.User.ID), Where: where,
		Act: bot.Filled{Form: p.Form, Values: values, Direct: u.Alone || alone(where.Channel)}}
	return u, nil
}
