package remember

// This file reads an order about memory and does it. Every order is answered in
// words; an error means that it could not be done for now.

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/bot"
)

// Store is what is remembered, as people have to do with it.
type Store interface {
	records.Memory
	// List returns all records that fit, the newest first.
	List(ctx context.Context, q records.Query) ([]records.Record, error)
	// Show returns the records of the id that the viewer may see.
	Show(ctx context.Context, v records.Viewer, id string) ([]records.Record, error)
	// Pin keeps a record whatever its age, or no longer.
	Pin(ctx context.Context, v records.Viewer, id string, pinned bool) ([]records.Record, error)
	// Accept says that a person vouches for a record.
	Accept(ctx context.Context, v records.Viewer, id string) ([]records.Record, error)
	// Correct gives a record another text.
	Correct(ctx context.Context, v records.Viewer, id, text string) ([]records.Record, error)
}

// Bounds of what people write and read in chat.
const (
	maxText   = 4000 // characters of what is to be remembered
	mostShown = 15   // records of a list
	mostFound = 8    // of a search
)

// Desk takes orders about memory.
type Desk struct{ Store Store }

// Order is who asks, and where.
type Order struct {
	By bot.Person
	At bot.Address
	// Keeper says that the person may also correct and delete what others told
	// here: an administrator.
	Keeper bool
	// Quote is set where the text is somebody's message that the person wants to
	// be remembered: its author, with the name that people see.
	Quote, Name string
	// Message is the message's address, or a link to it.
	Message string
	Said    time.Time // by the platform's stamp
}

// Person is the viewer of the order at its place.
func (o Order) viewer() records.Viewer {
	return records.Viewer{Person: o.By.ID, Place: o.At.Place(), Keeper: o.Keeper}
}

// own is the viewer of all that the person told, wherever that was.
func (o Order) own() records.Viewer {
	v := o.viewer()
	v.Own = true
	return v
}

// scopeWords begin what is not for the channel.
var scopeWords = regexp.MustCompile(`(?i)^(?:(for me|privately)|(for everyone|for everybody|for the workspace))\s*[:,]?\s+`)

// Usage is said to whoever leaves out what is to be remembered.
const Usage = "Say what to remember: `remember TEXT` keeps it for this channel, `remember for me: TEXT` for you alone, `remember for everyone: TEXT` for the whole workspace."

// Remember keeps a text: for the channel, for the person, or for the workspace.
// What somebody else wrote is untrusted, whoever wants it kept.
func (d Desk) Remember(ctx context.Context, o Order, text string) (string, error) {
	what, kind := records.Channel, records.Fact
	text = strings.TrimSpace(text)
	if m := scopeWords.FindStringSubmatch(text); m != nil && o.Quote == "" {
		what = records.Workspace
		if m[1] != "" {
			what, kind = records.Person, records.Preference
		}
		text = text[len(m[0]):]
	}
	text = strings.TrimSpace(strings.TrimPrefix(text, "that "))
	if text == "" {
		return Usage, nil
	}
	if n := len([]rune(text)); n > maxText {
		return fmt.Sprintf("That has %s characters; at most %s can be remembered at once. Say the part that matters.", format.Thousands(n), format.Thousands(maxText)), nil
	}
	v := o.viewer()
	scope, err := v.Scope(what)
	if err != nil {
		return "", err
	}
	r := records.Record{ID: records.IDOf(kind, scope, text), Kind: kind, Scope: scope, Text: text, Speaker: o.By.Name, Time: o.Said.UTC(),
		Trust: agent.Trusted, Source: records.Source{Person: o.By.ID, Place: v.Place, Message: o.Message}}
	if o.Quote != "" && o.Quote != o.By.ID {
		r.Speaker, r.Trust = o.Name, agent.Untrusted
	}
	if err := d.Store.Keep(ctx, true, r); err != nil {
		return refused(err)
	}
	return "Remembered " + whom[what] + " as `" + r.ID + "`. `memory forget " + r.ID + "` makes me forget it.", nil
}

// whom says for whom something is remembered.
var whom = map[string]string{
	records.Channel: "for this channel", records.Person: "for you alone, where you talk to me here", records.Workspace: "for the whole workspace",
}

// refused is an error as words, where it is about what somebody wrote.
func refused(err error) (string, error) {
	if errors.Is(err, records.ErrRecord) || errors.Is(err, records.ErrScope) {
		return "I cannot remember that: " + strings.TrimPrefix(err.Error(), records.ErrRecord.Error()+": ") + ".", nil
	}
	return "", err
}

// Orders are the words behind "memory".
func Orders() []string {
	return []string{"list", "mine", "search", "show", "accept", "pin", "unpin", "correct", "forget"}
}

// Receive does what stands behind "memory".
func (d Desk) Receive(ctx context.Context, o Order, text string) (string, error) {
	word, rest := cut(text)
	switch strings.ToLower(word) {
	case "", "list":
		if strings.EqualFold(rest, "mine") {
			return d.list(ctx, o, true)
		}
		return d.list(ctx, o, false)
	case "mine":
		return d.list(ctx, o, true)
	case "search":
		return d.search(ctx, o, rest)
	case "show":
		return d.show(ctx, o, rest)
	case "accept":
		return d.accept(ctx, o, rest)
	case "pin", "unpin":
		return d.pin(ctx, o, rest, strings.EqualFold(word, "pin"))
	case "correct":
		return d.correct(ctx, o, rest)
	case "forget":
		return d.forget(ctx, o, rest)
	}
	return "I do not know `memory " + code(word) + "`. There is `memory` (list), `memory mine`, `memory search WORDS`, `memory show ID`, " +
		"`memory accept ID`, `memory pin ID`, `memory unpin ID`, `memory correct ID: TEXT` and `memory forget ID`.", nil
}

// cut parts a text after its first word, with the colon behind it.
func cut(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	word, rest, _ = strings.Cut(strings.ReplaceAll(text, "\n", " "), " ")
	if len(word) < len(text) {
		rest = strings.TrimSpace(text[len(word):])
	}
	return strings.Trim(word, "`:"), rest
}

func (d Desk) list(ctx context.Context, o Order, mine bool) (string, error) {
	v, where := o.viewer(), "here"
	if mine {
		v, where = o.own(), "of you"
	}
	list, err := d.Store.List(ctx, records.Query{Viewer: v})
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "Nothing is remembered " + where + " yet. " + Usage, nil
	}
	lines := make([]string, 0, mostShown)
	for _, r := range list[:min(len(list), mostShown)] {
		lines = append(lines, lineOf(r))
	}
	if more := len(list) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("- and %s: `memory search WORDS` finds them", format.Count(more, "older one")))
	}
	return "What is remembered " + where + ", the newest first:\n" + strings.Join(lines, "\n"), nil
}

func (d Desk) search(ctx context.Context, o Order, words string) (string, error) {
	if words == "" {
		return "Say what to look for: `memory search WORDS`.", nil
	}
	hits, err := d.Store.Search(ctx, records.Query{Text: words, Viewer: o.viewer(), Limit: mostFound})
	if err != nil {
		return "", err
	}
	if len(hits) == 0 {
		return "Nothing is remembered here that fits.", nil
	}
	lines := make([]string, len(hits))
	for i, h := range hits {
		lines[i] = lineOf(h.Record)
	}
	return "What fits, the best first:\n" + strings.Join(lines, "\n"), nil
}

// find is the record that the person means: one that comes up here, or one of
// their own.
func (d Desk) find(ctx context.Context, o Order, id string) (v records.Viewer, list []records.Record, err error) {
	for _, v = range []records.Viewer{o.viewer(), o.own()} {
		if list, err = d.Store.Show(ctx, v, id); err != nil || len(list) > 0 {
			return v, list, err
		}
	}
	return v, nil, nil
}

func (d Desk) show(ctx context.Context, o Order, text string) (string, error) {
	id, _ := cut(text)
	_, list, err := d.find(ctx, o, id)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return unknown(id), nil
	}
	whole := make([]string, len(list))
	for i, r := range list {
		whole[i] = told(r)
	}
	return strings.Join(whole, "\n\n"), nil
}

func (d Desk) pin(ctx context.Context, o Order, text string, pinned bool) (string, error) {
	id, _ := cut(text)
	return d.change(ctx, o, id, map[bool]string{true: "Kept whatever its age", false: "No longer pinned"}[pinned],
		func(v records.Viewer) ([]records.Record, error) { return d.Store.Pin(ctx, v, id, pinned) })
}

// accept vouches for a record: what a run proposed, or what somebody else said.
func (d Desk) accept(ctx context.Context, o Order, text string) (string, error) {
	id, _ := cut(text)
	return d.change(ctx, o, id, "Checked, and told to later runs as such", func(v records.Viewer) ([]records.Record, error) { return d.Store.Accept(ctx, v, id) })
}

func (d Desk) correct(ctx context.Context, o Order, text string) (string, error) {
	id, anew := cut(text)
	if anew == "" {
		return "Say which one, and what is right: `memory correct ID: TEXT`.", nil
	}
	if n := len([]rune(anew)); n > maxText {
		return fmt.Sprintf("That has %s characters; at most %s can be remembered at once.", format.Thousands(n), format.Thousands(maxText)), nil
	}
	return d.change(ctx, o, id, "Corrected", func(v records.Viewer) ([]records.Record, error) { return d.Store.Correct(ctx, v, id, anew) })
}

func (d Desk) forget(ctx context.Context, o Order, text string) (string, error) {
	id, _ := cut(text)
	return d.change(ctx, o, id, "Forgotten", func(v records.Viewer) ([]records.Record, error) { return d.Store.Forget(ctx, v, id) })
}

// change does something to a record that is the person's to change.
func (d Desk) change(ctx context.Context, o Order, id, done string, do func(records.Viewer) ([]records.Record, error)) (string, error) {
	if id == "" {
		return "Say which one by its id: `memory` lists them.", nil
	}
	v, seen, err := d.find(ctx, o, id)
	if err != nil {
		return "", err
	}
	if len(seen) == 0 {
		return unknown(id), nil
	}
	changed, err := do(v)
	if err != nil {
		return refused(err)
	}
	if len(changed) == 0 {
		return "`" + code(id) + "` is not yours to change: only who told it, whom it is about, or an administrator may do that.", nil
	}
	return done + ": `" + code(id) + "`.", nil
}

func unknown(id string) string {
	if id == "" {
		return "Say which one by its id: `memory` lists them."
	}
	return "Nothing with the id `" + code(id) + "` is remembered here. `memory` lists what is, `memory mine` what you told elsewhere."
}
