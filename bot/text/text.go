package text

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// AtMost is the beginning of a list, with a word about the rest.
func AtMost(list []string, most int) []string {
	if len(list) <= most {
		return list
	}
	return append(slices.Clone(list[:most]), fmt.Sprintf("and %d more", len(list)-most))
}

// NextLine is a line break within a paragraph of Markdown.
const NextLine = "  \n"

// Plain is Markdown of this side's making as one line of plain text.
func Plain(markdown string) string {
	var b strings.Builder
	escaped := false
	for _, r := range strings.NewReplacer("**", "", NextLine, ". ", "\n", " ").Replace(markdown) {
		if r == '\\' && !escaped {
			escaped = true
			continue
		}
		escaped = false
		b.WriteRune(r)
	}
	return b.String()
}

// Dotted joins what there is to say, and leaves out what is empty.
func Dotted(parts ...string) string {
	said := slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" })
	return strings.Join(said, " · ")
}

// Fenced is a text in a fence that it does not contain.
func Fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// IfAny is the text, or nothing where what it is about is empty.
func IfAny(about, text string) string {
	if about == "" {
		return ""
	}
	return text
}

// Safe writes out what could make a text look like something else: controls
// of direction, control characters and private marks. Emoji stay whole.
func Safe(s string) string { return format.WriteOut(s, deceives) }

func deceives(r rune) bool {
	return r != '\n' && r != '\t' &&
		(unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Co, r) || unicode.Is(unicode.Bidi_Control, r))
}

// InLine is a text on one line, not longer than most characters; a cut is marked.
func InLine(s string, most int) string { return format.Line(Safe(s), most) }

// Quoted is somebody's text as it stands, within Markdown.
func Quoted(s string, most int) string { return Escape(InLine(s, most)) }

// Escape takes the meaning from what Markdown would read.
func Escape(s string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]",
		"<", "\\<", ">", "\\>", "#", "\\#", "|", "\\|", "~", "\\~").Replace(s)
}

// Money is an amount as chat shows it, "" where the price is not known: then
// there is nothing to say.
func Money(n *agent.Nano) string {
	if n == nil {
		return ""
	}
	return format.Money(*n)
}

// UntilThen is how long there is until the time, "" for never.
func UntilThen(expires, now time.Time) string {
	switch {
	case expires.IsZero():
		return ""
	case !now.Before(expires):
		return "expires now"
	}
	return "expires " + Moment(expires) + " (in " + format.Minutes(expires.Sub(now).Round(time.Minute)) + ")"
}
