package draw

import (
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent"
)

// pack joins pieces of mrkdwn to texts of at most so many characters. A piece
// that is longer is cut between lines or words, code within its fences.
func pack(pieces []string, most int) []string {
	var texts []string
	last := ""
	for _, p := range pieces {
		for _, part := range split(p, most) {
			switch {
			case last == "":
				last = part
			case utf8.RuneCountInString(last)+2+utf8.RuneCountInString(part) <= most:
				last += "\n\n" + part
			default:
				texts = append(texts, last)
				last = part
			}
		}
	}
	if last != "" {
		texts = append(texts, last)
	}
	return texts
}

// uncut are what a text is never cut within.
var uncut = []markdown.Pair{{Open: '<', Close: '>'}, {Open: agent.MentionOpen, Close: agent.MentionClose}, {Open: '&', Close: ';'}}

// split cuts a piece of mrkdwn to parts of at most so many characters.
func split(piece string, most int) []string {
	if utf8.RuneCountInString(piece) <= most {
		return []string{piece}
	}
	inner, code := strings.CutPrefix(piece, markdown.Fence+"\n")
	if code = code && most > maxLabel && strings.HasSuffix(inner, "\n"+markdown.Fence); code {
		piece, most = strings.TrimSuffix(inner, "\n"+markdown.Fence), most-2*(len(markdown.Fence)+1)
	}
	var parts []string
	for rest := []rune(piece); len(rest) > 0; {
		n := len(rest)
		if n > most {
			n = markdown.CutAt(rest, most, uncut)
		}
		part := string(rest[:n])
		rest = rest[n:]
		if code {
			part = markdown.Fence + "\n" + strings.TrimSuffix(part, "\n") + "\n" + markdown.Fence
		}
		if part = strings.Trim(part, "\n"); strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
