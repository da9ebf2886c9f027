package discord

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of a principal in a card's texts (bot.Mention).
const (
	mentionOpen  = '\ue000'
	mentionClose = '\ue001'
)

// width is the length of a text in UTF-16 units: however Discord counts, it is
// not more than that.
func width(s string) int {
	n := 0
	for _, r := range s {
		n += units(r)
	}
	return n
}

func units(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// fitting is how many of the characters have at most so many units together.
func fitting(s []rune, most int) int {
	for i, r := range s {
		if most -= units(r); most < 0 {
			return i
		}
	}
	return len(s)
}

// shortened is a text of at most so many units; a cut is marked.
func shortened(s string, most int) string {
	if width(s) <= most {
		return s
	}
	all := []rune(s)
	n := fitting(all, max(most-1, 0))
	if i := lastOf(all[:n], mentionOpen); i > lastOf(all[:n], mentionClose) {
		n = i // never within a principal
	}
	return strings.TrimRight(string(all[:n]), " \n") + "…"
}

// first is as much of a text in Discord's Markdown as fits, cut between lines or
// words, code within its fences. It reports whether something is missing.
func first(s string, most int) (string, bool) {
	if width(s) <= most {
		return s, false
	}
	all := []rune(s)
	n := cutAt(all, fitting(all, max(most-len(fence)-2, 0)))
	part := strings.TrimRight(string(all[:n]), " \n")
	if strings.Count(part, fence)%2 == 1 {
		return part + "\n" + fence, true
	}
	if part == "" {
		return "", true
	}
	return part + "…", true
}

// cutAt is where to cut a text that is longer than most: behind a line, else a
// word, and never within a link, a mention or an escape.
func cutAt(s []rune, most int) int {
	n := most
	for _, sign := range "\n " {
		if i := lastOf(s[:most], sign); i >= most/2 {
			n = i + 1
			break
		}
	}
	pairs := []struct{ open, end rune }{{mentionOpen, mentionClose}, {'<', '>'}, {'[', ')'}}
	if strings.Count(string(s[:n]), fence)%2 == 1 {
		pairs = pairs[:1] // signs mean nothing in code
	}
	for _, pair := range pairs {
		if i := lastOf(s[:n], pair.open); i > 0 && lastOf(s[i:n], pair.end) < 0 && n-i < maxURL+maxLinkLabel {
			n = i
		}
	}
	for n > 0 && (s[n-1] == '\\' || s[n-1] == '`') {
		n--
	}
	return n
}

func lastOf(s []rune, sign rune) int {
	for i, r := range slices.Backward(s) {
		if r == sign {
			return i
		}
	}
	return -1
}

// head is the beginning of a Markdown document, of at most so many characters and
// cut at the end of a paragraph where there is one. It reports whether
// something is missing. Fences that a cut leaves open are closed.
func head(markdown string, most int) (string, bool) {
	if utf8.RuneCountInString(markdown) <= most {
		return markdown, false
	}
	var whole strings.Builder
	kept := &strings.Builder{} // whole up to the last end of a paragraph
	used, open, last := 0, "", ""
	for line := range strings.SplitAfterSeq(markdown, "\n") {
		n := utf8.RuneCountInString(line)
		if used+n+len(open)+1 > most {
			if last = line; open == "" && strings.TrimSpace(line) == "" {
				kept = &whole
			}
			break
		}
		used += n
		whole.WriteString(line)
		open = fenceAfter(open, line)
		if open == "" && strings.TrimSpace(line) == "" {
			kept.Reset()
			kept.WriteString(whole.String())
		}
	}
	switch {
	case kept.Len() > whole.Len()/2:
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
