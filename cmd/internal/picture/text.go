package main

// Text on its way into the picture: Markdown as spans of a weight, and spans
// cut into lines that fit. Nobody knows the reader's font: widths are, about,
// those of a wide one.

import (
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/bot"
)

// span is a piece of text of one kind.
type span struct {
	text string
	kind string // class in the picture's style; empty: plain
}

// The signs that stand for bold text and code between walking the Markdown and
// cutting it.
const (
	boldSign = "\x01"
	codeSign = "`"
	boxSign  = "\x02" // before each line of preformatted text
)

// dialect writes Markdown with these signs.
var dialect = markdown.Dialect{
	Strong: boldSign, Bullet: "• ", BulletIndent: "   ", NumberIndent: "   ",
	Text:      func(text string) string { return text },
	Code:      func(text string) string { return text },
	Link:      func(_, label string) string { return label },
	Heading:   func(_ int, title string) string { return boldSign + title + boldSign },
	Paragraph: func(text string) string { return text },
	Fenced: func(_, text string) string {
		return boxSign + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+boxSign)
	},
}

// lines are the lines of a Markdown text in the dialect.
func lines(text string) []string {
	return strings.Split(strings.Join(dialect.Blocks(named(text)), "\n"), "\n")
}

// named puts a person's name in the place of a principal.
func named(text string) string {
	return bot.Unmention(text, func(principal string) string {
		if principal == ann.ID {
			return "@" + ann.Name
		}
		return principal
	})
}

// spans parts a line at its signs.
func spans(line string) []span {
	var list []span
	for i, piece := range strings.Split(line, boldSign) {
		for j, part := range strings.Split(piece, codeSign) {
			kind := ""
			if i%2 == 1 {
				kind = "bold"
			}
			if j%2 == 1 {
				kind = "code"
			}
			if part != "" {
				list = append(list, span{part, kind})
			}
		}
	}
	return list
}

// width is how wide a text of the size is, about.
func width(text string, size float64, kind string) float64 {
	sum := 0.0
	for _, r := range text {
		switch {
		case kind == "code":
			sum += 0.602
		case strings.ContainsRune("iljtfrI.,:;'|!()[]/ ·-", r):
			sum += 0.34
		case strings.ContainsRune("mwMW@%", r):
			sum += 0.95
		case 'A' <= r && r <= 'Z' || r > 0x2000:
			sum += 0.74
		default:
			sum += 0.61
		}
	}
	if kind == "bold" {
		sum *= 1.1
	}
	return sum * size
}

// wrap cuts spans into lines that are no wider than most.
func wrap(list []span, size, most float64) [][]span {
	lines := [][]span{nil}
	used := 0.0
	for _, s := range list {
		for _, word := range strings.SplitAfter(s.text, " ") {
			w := width(word, size, s.kind)
			if used > 0 && used+width(strings.TrimRight(word, " "), size, s.kind) > most {
				lines, used = append(lines, nil), 0
			}
			last := &lines[len(lines)-1]
			if n := len(*last); n > 0 && (*last)[n-1].kind == s.kind {
				(*last)[n-1].text += word
			} else {
				*last = append(*last, span{word, s.kind})
			}
			used += w
		}
	}
	return lines
}
