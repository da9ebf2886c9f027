package bot

import (
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Mention is how a card's texts name a principal: U+E000, the principal,
// U+E001. A platform renders it as the person's name without notifying
// anybody; nothing that others wrote can contain it.
func Mention(principal string) string {
	switch {
	case principal == "":
		return "somebody"
	case principal == Terminal:
		return "somebody at the terminal"
	case principal == agent.Deckhand:
		return "Deckhand"
	case !strings.Contains(principal, ":"):
		return format.Visible(principal)
	}
	return string(agent.MentionOpen) + format.Visible(principal) + string(agent.MentionClose)
}

// Ref is what a card's text only refers to, so that each platform shows it in
// its own way and each reader in their own zone: a person, a place or a moment.
// Exactly one of Person, Place and At is set.
type Ref struct {
	Person string    // principal
	Place  Address   // a channel, or a thread in it
	At     time.Time // in whole seconds
	Form   MomentForm
}

// MomentForm is how much of a moment is told.
type MomentForm = text.Form

// The forms of moments: with the date, with the day of the week, and the time of
// day alone.
const (
	MomentShort = text.Short
	MomentDay   = text.WithDay
	MomentClock = text.Seconds
)

// refOf reads what stands between the marks of a reference.
func refOf(inner string) Ref {
	if at, form, is := text.ReadMoment(inner); is {
		return Ref{At: at, Form: form}
	}
	if place, is := text.ReadPlace(inner); is {
		at, err := ParseAddress(place)
		if err == nil {
			return Ref{Place: at}
		}
		return Ref{Place: Address{Platform: place}}
	}
	return Ref{Person: inner}
}

// Mark is the reference as it stands in a text.
func (r Ref) Mark() string {
	switch {
	case r.Person != "":
		return Mention(r.Person)
	case r.At.IsZero():
		return text.Place(r.Place.String())
	}
	return text.Told(r.At, r.Form)
}

// refName begins a person who is named already: what follows is the name.
const refName = "name"

// Plain is the reference for where nothing better is known: a moment in UTC, and
// a person or place by the platform that it is of, never by an id.
func (r Ref) Plain() string {
	switch {
	case r.Person != "":
		platform, rest, _ := strings.Cut(r.Person, ":")
		if platform == refName {
			return rest
		}
		return "somebody on " + PlatformName(platform)
	case !r.At.IsZero():
		return r.At.UTC().Format(r.Form.Layout())
	}
	return "a channel on " + PlatformName(r.Place.Platform)
}

// PlatformName is a platform's name as people write it.
func PlatformName(platform string) string {
	if platform == "" {
		return "another platform"
	}
	return strings.ToUpper(platform[:1]) + platform[1:]
}

// Refer puts what show says in place of each reference of a text.
func Refer(line string, show func(Ref) string) string {
	if !strings.ContainsRune(line, agent.MentionOpen) {
		return line
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, string(agent.MentionOpen))
		inner, after, closed := strings.Cut(rest, string(agent.MentionClose))
		b.WriteString(before)
		if !found || !closed {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(show(refOf(inner)))
		line = after
	}
}

// Unmention puts what name says in place of each principal of a text; moments
// and places are told plainly.
func Unmention(line string, name func(principal string) string) string {
	return Refer(line, func(r Ref) string {
		if r.Person != "" {
			return name(r.Person)
		}
		return r.Plain()
	})
}

// Mentions lists principals in words: "A, B or C".
func Mentions(principals []string, last string) string {
	names := make([]string, len(principals))
	for i, p := range principals {
		names[i] = Mention(p)
	}
	return format.List(names, last)
}
