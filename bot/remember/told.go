package remember

// This file words records for people. Whatever they say is shown as data: nothing
// in it is Markdown.

import (
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Bounds of what is shown.
const (
	shownInLine = 160  // characters of a record in a list
	shownWhole  = 3000 // characters of one that is shown
)

// lineOf is a record as a line of a list.
func lineOf(r records.Record) string {
	parts := []string{"`" + code(r.ID) + "`", string(r.Kind), day(r)}
	if what, _ := r.Scope.Parts(); what != records.Channel {
		parts = append(parts, scopes[what])
	}
	if r.Pinned {
		parts = append(parts, "pinned")
	}
	if r.Label() != agent.Trusted {
		parts = append(parts, "not checked")
	}
	line := r.Text
	if r.Caption != "" {
		line += " [" + r.Caption + "]"
	}
	return "- " + text.Dotted(parts...) + ": " + text.Quoted(line, shownInLine)
}

// scopes say for whom a record is, where that is not the channel.
var scopes = map[string]string{records.Person: "yours alone", records.Workspace: "for the workspace"}

// told is a record whole, with where it comes from.
func told(r records.Record) string {
	lines := []string{lineOf(records.Record{ID: r.ID, Kind: r.Kind, Scope: r.Scope, Time: r.Time, Written: r.Written, Pinned: r.Pinned, Trust: r.Trust, Text: r.Speaker})}
	source := make([]string, 0, 4)
	if r.Source.Person != "" {
		source = append(source, "told by "+bot.Mention(r.Source.Person))
	}
	if r.Source.Run != "" {
		source = append(source, "from the run `"+code(string(r.Source.Run))+"`")
	}
	if strings.HasPrefix(r.Source.Message, "https://") {
		source = append(source, r.Source.Message)
	}
	if len(r.Cites) > 0 {
		source = append(source, "concluded from `"+code(strings.Join(r.Cites, " "))+"`")
	}
	if len(source) > 0 {
		lines = append(lines, text.Dotted(source...))
	}
	lines = append(lines, text.Fenced(text.Safe(cutAt(r.Text, shownWhole))))
	if r.Caption != "" {
		lines = append(lines, text.Quoted(r.Caption, shownWhole))
	}
	return strings.Join(lines, "\n")
}

func cutAt(s string, most int) string {
	if list := []rune(s); len(list) > most {
		return string(list[:most]) + " …"
	}
	return s
}

func day(r records.Record) string {
	at := r.Time
	if at.IsZero() {
		at = r.Written
	}
	return at.UTC().Format(time.DateOnly)
}

// code is a text that stands in backticks.
func code(s string) string { return strings.ReplaceAll(text.InLine(s, records.MaxID), "`", "'") }
