package draw

import (
	"strings"
	"unicode/utf16"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent"
)

// Width is the length of a text in UTF-16 units: however Discord counts, it is
// not more than that.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// fitting is how many of the characters have at most so many units together.
func fitting(s []rune, most int) int {
	for i, r := range s {
		if most -= utf16.RuneLen(r); most < 0 {
			return i
		}
	}
	return len(s)
}

// Shortened is a text of at most so many units; a cut is marked.
func Shortened(s string, most int) string {
	if Width(s) <= most {
		return s
	}
	all := []rune(s)
	n := fitting(all, max(most-1, 0))
	if i := markdown.LastOf(all[:n], agent.MentionOpen); i > markdown.LastOf(all[:n], agent.MentionClose) {
		n = i // never within a principal
	}
	return strings.TrimRight(string(all[:n]), " \n") + "…"
}

// cutMarkdown is as much of a text in Discord's Markdown as fits, cut between lines or
// words, code within its fences. It reports whether something is missing.
func cutMarkdown(s string, most int) (string, bool) {
	if Width(s) <= most {
		return s, false
	}
	all := []rune(s)
	n := cutAt(all, fitting(all, max(most-len(markdown.Fence)-2, 0)))
	part := strings.TrimRight(string(all[:n]), " \n")
	if strings.Count(part, markdown.Fence)%2 == 1 {
		return part + "\n" + markdown.Fence, true
	}
	if part == "" {
		return "", true
	}
	return part + "…", true
}

// uncut are what a text is never cut within; in code only the first means
// anything.
var uncut = []markdown.Pair{
	{Open: agent.MentionOpen, Close: agent.MentionClose, Longest: maxURL + maxLinkLabel},
	{Open: '<', Close: '>', Longest: maxURL + maxLinkLabel},
	{Open: '[', Close: ')', Longest: maxURL + maxLinkLabel},
}

// cutAt is where to cut a text that is longer than most, never within an escape.
func cutAt(s []rune, most int) int {
	pairs := uncut
	if strings.Count(string(s[:markdown.CutAt(s, most, nil)]), markdown.Fence)%2 == 1 {
		pairs = uncut[:1]
	}
	n := markdown.CutAt(s, most, pairs)
	for n > 0 && (s[n-1] == '\\' || s[n-1] == '`') {
		n--
	}
	return n
}
