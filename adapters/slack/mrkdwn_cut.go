package slack

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// shortened is a text of at most so many characters; a cut is marked.
func shortened(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:max(most-1, 0)]), " \n") + "…"
}

// packed joins pieces of mrkdwn to texts of at most so many characters. A piece
// that is longer is cut between lines or words, code within its fences.
func packed(pieces []string, most int) []string {
	var texts []string
	last := ""
	for _, p := range pieces {
		for _, part := range divided(p, most) {
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

// divided cuts a piece of mrkdwn to parts of at most so many characters.
func divided(piece string, most int) []string {
	if utf8.RuneCountInString(piece) <= most {
		return []string{piece}
	}
	inner, code := strings.CutPrefix(piece, fence+"\n")
	if code = code && most > maxLabel && strings.HasSuffix(inner, "\n"+fence); code {
		piece, most = strings.TrimSuffix(inner, "\n"+fence), most-2*(len(fence)+1)
	}
	var parts []string
	for rest := []rune(piece); len(rest) > 0; {
		n := len(rest)
		if n > most {
			n = cutAt(rest, most)
		}
		part := string(rest[:n])
		rest = rest[n:]
		if code {
			part = fence + "\n" + strings.TrimSuffix(part, "\n") + "\n" + fence
		}
		if part = strings.Trim(part, "\n"); strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// cutAt is where to cut a text that is longer than most: behind a line, else a
// word, and never within a link, a mention or an entity.
func cutAt(s []rune, most int) int {
	n := most
	for _, sign := range "\n " {
		if i := lastOf(s[:most], sign); i >= most/2 {
			n = i + 1
			break
		}
	}
	for _, pair := range []struct{ open, end rune }{{'<', '>'}, {mentionOpen, mentionClose}, {'&', ';'}} {
		if i := lastOf(s[:n], pair.open); i > 0 && lastOf(s[i:n], pair.end) < 0 {
			n = i
		}
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
