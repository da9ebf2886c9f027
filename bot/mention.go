package bot

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
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

// Unmention puts what name says in place of each principal of a text.
func Unmention(line string, name func(principal string) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(line, string(agent.MentionOpen))
		who, after, closed := strings.Cut(rest, string(agent.MentionClose))
		b.WriteString(before)
		if !found || !closed {
			b.WriteString(rest)
			return b.String()
		}
		b.WriteString(name(who))
		line = after
	}
}

// Mentions lists principals in words: "A, B or C".
func Mentions(principals []string, last string) string {
	names := make([]string, len(principals))
	for i, p := range principals {
		names[i] = Mention(p)
	}
	return format.List(names, last)
}
