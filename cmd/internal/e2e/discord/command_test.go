package discord_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord/discordtest"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/chat"
)

// draft is a command whose options somebody is filling in: Discord shows them
// as fields.
type draft struct {
	who     string
	command string
	fields  []string
}

// words are the commands that are said as such.
var words = []string{"status", "runs", "plan", "pause", "stop", "resume", "cancel", "budget", "permissions", "help"}

// command gives the command that means what the person would write: a word of
// control, steering where a run lives in the thread, else a goal. Its address
// is the interaction's.
func (g *actions) command(who chat.Who, in bot.Address, text string) bot.Address {
	room, name, options := g.room(who, in), "deckhand run", discordtest.Options{"goal": text}
	switch {
	case slices.Contains(words, text):
		name, options = "deckhand "+text, nil
	case in.ID != "" && g.busy(room):
		name, options = "deckhand steer", discordtest.Options{"text": text}
	}
	if err := g.Server.Slash(people[who], room, name, options); err != nil {
		g.t.Errorf("%s gives /%s: %v", who, name, err)
	}
	for _, i := range slices.Backward(g.Interactions()) {
		if i.User == people[who] && i.Name == name {
			return g.at(room, i.ID)
		}
	}
	return g.at(room, "")
}

// busy reports whether the newest card in the room is one of a run that goes
// on: no report stands below it, and it still has buttons.
func (g *actions) busy(room string) bool {
	for _, m := range slices.Backward(g.Messages(room)) {
		switch {
		case strings.HasPrefix(m.Nonce, "r"):
			return false
		case strings.HasPrefix(m.Nonce, "c"):
			return len(m.Buttons()) > 0
		}
	}
	return false
}

// Slash gives a command in the channel. One without its goal stays a draft: its
// options are the fields of a form.
func (g *actions) Slash(who chat.Who, text string) error {
	name, rest, _ := strings.Cut(text, " ")
	if name == "run" && rest == "" {
		g.draft = draft{who: people[who], command: "deckhand run", fields: []string{"goal", "budget", "autonomy", "approvers", "deadline"}}
		return nil
	}
	var options discordtest.Options
	switch {
	case name == "report" || name == "schedule":
		name, options = schedule(name, rest)
	case name == "remember":
		options = discordtest.Options{"text": rest}
	case name == "memory":
		do, what, _ := strings.Cut(rest, " ")
		options = discordtest.Options{"do": do}
		if what != "" {
			options["what"] = what
		}
	case name == "run":
		options = discordtest.Options{"goal": rest}
	case rest != "":
		return fmt.Errorf("/deckhand %s takes its words as options", name)
	}
	return g.Server.Slash(people[who], discordtest.General, "deckhand "+name, options)
}

// schedule is an order about what comes again, as the options of a command.
func schedule(group, order string) (name string, options discordtest.Options) {
	options = discordtest.Options{}
	word, rest, _ := strings.Cut(order, " ")
	switch word {
	case "now", "list":
		return group + " " + word, options
	case "pause", "resume", "remove":
		return group + " " + word, discordtest.Options{"name": rest}
	case "change":
		options["name"], order, _ = strings.Cut(rest, " ")
	default:
		word = "add"
	}
	when, goal, recurs := strings.Cut(order, ": ")
	if recurs {
		options["goal"] = goal
	}
	options["when"] = when
	for option, given := range map[string]string{" always": "true", " #general": discordtest.General, " queue": "queue"} {
		if strings.Contains(when, option) {
			options[map[string]string{" always": "always", " #general": "channel", " queue": "overlap"}[option]] = given
			options["when"] = strings.ReplaceAll(options["when"], option, "")
		}
	}
	return group + " " + word, options
}

func (g *actions) Form(who chat.Who) (fields []string, open bool) {
	if g.draft.who == people[who] {
		return g.draft.fields, true
	}
	m, open := g.Modal(people[who])
	return m.Fields(), open
}

func (g *actions) Fill(who chat.Who, values map[string]string) error {
	if d := g.draft; d.who == people[who] {
		g.draft = draft{}
		return g.Server.Slash(d.who, discordtest.General, d.command, values)
	}
	m, open := g.Modal(people[who])
	if !open {
		return errors.New("no form is open")
	}
	return g.Submit(m.ID, people[who], values)
}

// again opens a form that could not be taken.
const again = "Open the form again"

func (g *actions) Retry(who chat.Who, values map[string]string) (said string, typed map[string]string, err error) {
	if err := g.Fill(who, values); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(g.t.Context(), time.Minute)
	defer cancel()
	var told discordtest.Message
	if err := g.Wait(ctx, func() bool {
		for _, m := range g.Ephemerals(people[who]) {
			if slices.Contains(m.Buttons(), again) {
				told = m
			}
		}
		return told.ID != ""
	}); err != nil {
		return "", nil, fmt.Errorf("%s is not told what is wrong: %w", who, err)
	}
	if err := g.Server.Click(people[who], told.Channel, told.ID, again); err != nil {
		return "", nil, err
	}
	m, open := g.Modal(people[who])
	if !open {
		return "", nil, errors.New("no form is open again")
	}
	typed = map[string]string{}
	prefilled(m.Components, typed)
	return readable(told), typed, nil
}

// prefilled collects what the inputs among components show at first.
func prefilled(components json.RawMessage, into map[string]string) {
	var list []json.RawMessage
	if json.Unmarshal(components, &list) != nil {
		list = []json.RawMessage{components}
	}
	for _, raw := range list {
		var c struct {
			CustomID   string          `json:"custom_id"`
			Value      string          `json:"value"`
			Component  json.RawMessage `json:"component"`
			Components json.RawMessage `json:"components"`
		}
		if json.Unmarshal(raw, &c) != nil {
			continue
		}
		if c.CustomID != "" {
			into[c.CustomID] = c.Value
		}
		for _, inner := range []json.RawMessage{c.Component, c.Components} {
			if len(inner) > 0 {
				prefilled(inner, into)
			}
		}
	}
}

func (g *actions) Press(who chat.Who, label string) error {
	seen := append(g.Messages(g.DMChannel(people[who])), g.Ephemerals(people[who])...)
	for _, m := range slices.Backward(seen) {
		if slices.Contains(m.Buttons(), label) {
			return g.Server.Click(people[who], m.Channel, m.ID, label)
		}
	}
	return fmt.Errorf("%s sees no button %q", who, label)
}

// Begin gives a command: what is written to a bot that works in the conversation
// is steering.
func (g *actions) Begin(who chat.Who, goal string) {
	if err := g.Server.Slash(people[who], g.DMChannel(people[who]), "deckhand run", discordtest.Options{"goal": goal}); err != nil {
		g.t.Errorf("%s gives a goal: %v", who, err)
	}
}
