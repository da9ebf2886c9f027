package format

import (
	"strings"
	"unicode/utf8"
)

// OneLine is a text on one line, with single spaces in place of line breaks,
// tabs and repeated spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// First is the beginning of a text, at most so many characters, and nothing
// shows that it was cut. Where people read it, Cut is better.
func First(s string, most int) string {
	for i := range s {
		if most <= 0 {
			return s[:i]
		}
		most--
	}
	return s
}

// Cut is a text of at most so many characters; where it was longer, it ends
// with "…".
func Cut(s string, most int) string {
	if First(s, most) == s {
		return s
	}
	return strings.TrimRight(First(s, most-1), " \n") + "…"
}

// Line is a text on one line of at most so many characters; where it was
// longer, it ends with "…".
func Line(s string, most int) string { return Cut(OneLine(s), most) }

// LineStart is the beginning of a text on one line, at most so many characters,
// and nothing shows that it was cut.
func LineStart(s string, most int) string { return First(OneLine(s), most) }

// Capital is a text that begins with a capital letter.
func Capital(s string) string {
	_, n := utf8.DecodeRuneInString(s)
	return strings.ToUpper(s[:n]) + s[n:]
}

// List is words in a row: "a", "a or b", "a, b or c", where last is "or".
func List(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}
