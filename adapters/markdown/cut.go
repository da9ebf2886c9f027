package markdown

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// paragraphs is which share of the room whole paragraphs must fill: a text that
// begins with a short one and goes on with a very long one is cut within that.
const paragraphs = 4

// Head is the beginning of a document, of at most so many characters and cut at
// the end of a paragraph where there is one. It reports whether something is
// missing. Fences that a cut leaves open are closed.
func Head(document string, most int) (string, bool) {
	if utf8.RuneCountInString(document) <= most {
		return document, false
	}
	var whole strings.Builder
	kept := &strings.Builder{} // whole up to the last end of a paragraph
	used, open, last := 0, "", ""
	for line := range strings.SplitAfterSeq(document, "\n") {
		n := utf8.RuneCountInString(line)
		after := fenceAfter(open, line)
		if used+n+max(len(open), len(after))+1 > most {
			if last = line; open == "" && strings.TrimSpace(line) == "" {
				kept = &whole
			}
			break
		}
		used += n
		whole.WriteString(line)
		if open = after; open == "" && strings.TrimSpace(line) == "" {
			kept.Reset()
			kept.WriteString(whole.String())
		}
	}
	switch {
	case kept.Len() > 0 && utf8.RuneCountInString(kept.String()) >= most/paragraphs:
		return strings.TrimRight(kept.String(), "\n"), true
	case open != "":
		return strings.TrimRight(whole.String(), "\n") + "\n" + open, true
	case whole.Len() > 0:
		return strings.TrimRight(whole.String(), "\n"), true
	}
	return shortened(last, most), true
}

// fenceAfter is the fence that is open behind a line, when open was before it.
func fenceAfter(open, line string) string {
	line = strings.TrimSpace(line)
	for _, sign := range []string{"`", "~"} {
		run := line[:len(line)-len(strings.TrimLeft(line, sign))]
		switch {
		case len(run) < 3:
		case open == "":
			return run
		case strings.HasPrefix(run, open) && line == run:
			return ""
		}
	}
	return open
}

// shortened is a line of at most so many characters, cut behind a sentence or a
// word, and before a principal rather than within one.
func shortened(line string, most int) string {
	if utf8.RuneCountInString(line) <= most {
		return line
	}
	part := format.First(line, most-1)
	if i := strings.LastIndex(part, string(agent.MentionOpen)); i > strings.LastIndex(part, string(agent.MentionClose)) {
		part = part[:i]
	}
	for _, end := range []string{". ", "! ", "? ", "。", " "} {
		if i := strings.LastIndex(part, end); i >= len(part)/2 {
			part = part[:i+len(strings.TrimSpace(end))]
			break
		}
	}
	return strings.TrimRight(part, " \n") + "…"
}

// Pair is what a text is never cut within: a link, a mention, an entity.
type Pair struct {
	Open, Close rune
	// Longest is how far from its end such a pair may begin; zero: anywhere.
	Longest int
}

// CutAt is where to cut a text that is longer than most: behind a line, else a
// word, and never within a pair.
func CutAt(s []rune, most int, pairs []Pair) int {
	n := most
	for _, sign := range "\n " {
		if i := LastOf(s[:most], sign); i >= most/2 {
			n = i + 1
			break
		}
	}
	for _, p := range pairs {
		i := LastOf(s[:n], p.Open)
		if i > 0 && LastOf(s[i:n], p.Close) < 0 && (p.Longest == 0 || n-i < p.Longest) {
			n = i
		}
	}
	return n
}

// LastOf is where a sign stands last, below zero if it does not.
func LastOf(s []rune, sign rune) int {
	for i, r := range slices.Backward(s) {
		if r == sign {
			return i
		}
	}
	return -1
}
