package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// ink is how a span is set off; in plain output it is not.
type ink uint8

const (
	normal ink = iota
	dim
	bold
	red
	green
	yellow
	cyan
)

var inks = map[ink]string{dim: "2", bold: "1", red: "31", green: "32", yellow: "33", cyan: "36"}

// span is a piece of a row in one ink.
type span struct {
	text string
	ink  ink
}

// row is one line of output.
type row []span

// in is a span of cleaned text.
func in(i ink, s string) span { return span{clean(local(s)), i} }

// say is a row in normal ink.
func say(s string) row { return row{in(normal, s)} }

// paint renders the row as one line. It is the only way to the output, and
// cleans again what it gets.
func (r row) paint(colour bool) string {
	var b strings.Builder
	for _, s := range r {
		text := clean(s.text)
		code, inked := inks[s.ink]
		if !colour || !inked || text == "" {
			b.WriteString(text)
			continue
		}
		b.WriteString("\x1b[" + code + "m" + text + "\x1b[0m")
	}
	return b.String()
}

// wide is the row's width in terminal columns.
func (r row) wide() int {
	n := 0
	for _, s := range r {
		n += columns(s.text)
	}
	return n
}

// clip shortens the row to the width; a cut is marked by an ellipsis.
func (r row) clip(limit int) row {
	if r.wide() <= limit || limit < 1 {
		return r
	}
	var out row
	room := limit - 1
	for _, s := range r {
		kept := head(s.text, room)
		out = append(out, span{kept, s.ink})
		room -= columns(kept)
		if kept != s.text {
			return append(out, span{"…", s.ink})
		}
	}
	return out
}

// head is the beginning of the text that fits the room, in columns.
func head(s string, room int) string {
	for i, r := range s {
		room -= runeColumns(r)
		if room < 0 {
			return s[:i]
		}
	}
	return s
}

// wrap breaks the row between words so that every row fits the width; all but
// the first begin with the indent. A word longer than a row is broken.
func (r row) wrap(limit int, indent string) []row {
	if limit < 8 || r.wide() <= limit {
		return []row{r}
	}
	var rows []row
	var line row
	used := 0
	flush := func() {
		rows = append(rows, line)
		line, used = row{{indent, normal}}, columns(indent)
	}
	for _, s := range r {
		for _, word := range pieces(s.text) {
			n := columns(word)
			if used+columns(strings.TrimRight(word, " ")) > limit && used > columns(indent) {
				flush()
			}
			for n > limit-used && columns(strings.TrimRight(word, " ")) > limit-used {
				part := head(word, limit-used)
				if part == "" {
					break
				}
				line = append(line, span{part, s.ink})
				word = word[len(part):]
				n = columns(word)
				flush()
			}
			line = append(line, span{word, s.ink})
			used += n
		}
	}
	return append(rows, line)
}

// pieces cuts a text after each run of spaces.
func pieces(s string) []string {
	var out []string
	for s != "" {
		i := strings.IndexByte(s, ' ')
		if i < 0 {
			return append(out, s)
		}
		for i < len(s) && s[i] == ' ' {
			i++
		}
		out, s = append(out, s[:i]), s[i:]
	}
	return out
}

// lines splits a text into cleaned lines, without empty ones at its end.
func lines(s string) []string {
	s = strings.TrimRight(strings.ReplaceAll(local(s), "\r\n", "\n"), "\n ")
	if s == "" {
		return nil
	}
	all := strings.Split(s, "\n")
	for i := range all {
		all[i] = clean(all[i])
	}
	return all
}

// oneLine is the text on one line.
func oneLine(s string) string { return clean(strings.Join(strings.Fields(local(s)), " ")) }

// maxMarks is how many combining marks may stand on one character.
const maxMarks = 4

// clean makes a text safe to print on one line: line feeds become spaces, tabs
// four of them; control characters, bidirectional and invisible characters are
// written out as ⟨U+202E⟩, bytes that are not UTF-8 as ⟨FF⟩.
func clean(s string) string {
	if plainASCII(s) {
		return s
	}
	var b strings.Builder
	marks := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.In(r, unicode.Mn, unicode.Me) {
			marks++
		} else {
			marks = 0
		}
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case r == '\n':
			b.WriteByte(' ')
		case r == '\t':
			b.WriteString("    ")
		case hidden(r) || marks > maxMarks:
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden reports characters that people cannot see or that change the order of
// others: controls, formats (bidi, zero width, tags), private use, separators,
// variation selectors (U+FE0F only makes emoji colourful) and fillers.
func hidden(r rune) bool {
	switch {
	case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
		return true
	case r >= 0xFE00 && r < 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0:
		return true
	}
	return false
}

// columns is how many columns a cleaned text takes.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// runeColumns follows East Asian Width (UAX #11): wide and fullwidth take two
// columns, combining marks and the inner letters of Hangul syllables none.
func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), r > 0x1160 && r <= 0x11FF:
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	case width.Neutral, width.EastAsianAmbiguous, width.EastAsianNarrow, width.EastAsianHalfwidth:
	}
	return 1
}
