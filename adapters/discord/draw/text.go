package draw

// This file turns text and principals into what Discord shows: people's
// names, mentions, single lines. It also builds the list of allowed mentions,
// which alone decides whom a message notifies.

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// withNames is a plain text with people's names.
func (d Options) withNames(text string) string { return bot.Unmention(text, d.nameOf) }

func (d Options) nameOf(principal string) string {
	if d.name != nil {
		if name := d.name(principal); name != "" {
			return name
		}
	}
	if strings.HasPrefix(principal, api.Platform+":") {
		return "somebody"
	}
	return bot.Ref{Person: principal}.Plain()
}

// withMentions puts those in who are still marks in Discord's Markdown.
func (d Options) withMentions(text string) string {
	return bot.Refer(text, func(r bot.Ref) string {
		if r.Person == "" {
			return native(r)
		}
		p := strings.NewReplacer(`\`, "", markdown.NoWidth, "").Replace(r.Person)
		if m := mention(p); m != "" {
			return m
		}
		return withoutPings(escapeMarkdown(d.nameOf(p)))
	})
}

// styles are Discord's styles of moments.
var styles = map[bot.MomentForm]string{bot.MomentShort: "f", bot.MomentDay: "F", bot.MomentClock: "T"}

// native is a moment or a place as Discord shows it to each reader: in their own
// zone and language, by the name that they may see.
func native(r bot.Ref) string {
	switch {
	case !r.At.IsZero():
		return "<t:" + strconv.FormatInt(r.At.Unix(), 10) + ":" + cmp.Or(styles[r.Form], styles[bot.MomentShort]) + ">"
	case r.Place.Platform == api.Platform && api.IsID(r.Place.ID):
		return "<#" + r.Place.ID + ">" // a thread
	case r.Place.Platform == api.Platform && api.IsID(r.Place.Own()):
		return "<#" + r.Place.Own() + ">"
	}
	return escapeMarkdown(r.Plain())
}

// line is a plain text in one line, as Discord's Markdown.
func (d Options) line(text string, most int) string {
	return d.withMentions(withoutPings(escapeLineStarts(escapeMarkdown(Shortened(format.OneLine(text), most)))))
}

// PlainText is for where Discord reads no Markdown; it is never empty.
func PlainText(text string, most int) string {
	text = Shortened(withoutPings(Shortened(format.OneLine(text), most)), most)
	if text == "" {
		text = "–"
	}
	return text
}

// mention names a principal so that Discord shows their name, and notifies them
// where the message allows it; empty for those who are not of Discord.
func mention(principal string) string {
	id, is := strings.CutPrefix(principal, api.Platform+":")
	role, isRole := strings.CutPrefix(id, "&")
	switch {
	case !is || !api.IsID(role):
		return ""
	case isRole:
		return "<@&" + role + ">"
	}
	return "<@" + id + ">"
}

// mentionsOf are the principals of Discord's, each once.
func mentionsOf(principals []string) []string {
	var list []string
	for _, p := range principals {
		if m := mention(p); m != "" && !slices.Contains(list, m) && len(list) < maxMentions {
			list = append(list, m)
		}
	}
	return list
}

// AllowedMentions are whom a message notifies: nobody but these.
type AllowedMentions struct {
	Parse   []string `json:"parse"` // always empty: nothing is looked for in the text
	Users   []string `json:"users,omitempty"`
	Roles   []string `json:"roles,omitempty"`
	Replied bool     `json:"replied_user"`
}

// Allowing is to notify those whom the mentions name, and nobody else.
func Allowing(mentions []string) AllowedMentions {
	a := AllowedMentions{Parse: []string{}}
	for _, m := range mentions {
		if role, is := strings.CutPrefix(m, "<@&"); is {
			a.Roles = append(a.Roles, strings.TrimSuffix(role, ">"))
		} else {
			a.Users = append(a.Users, strings.Trim(m, "<@>"))
		}
	}
	return a
}

// oneLine is the card in one line of plain text.
func oneLine(c bot.Card) string {
	text := format.OneLine(c.Text)
	if text == "" {
		text = format.OneLine(bot.Markdown(c))
	}
	if text == "" {
		text = "Deckhand"
	}
	return text
}
