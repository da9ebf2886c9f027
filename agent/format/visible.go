package format

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns the text with every character that people cannot see or
// that changes the order of others written out as ⟨U+202E⟩: bidirectional
// controls, zero-width and other format characters, tags, fillers, control
// characters except line feed and tab, and bytes that are not UTF-8 as ⟨FF⟩.
func Visible(s string) string { return WriteOut(s, hidden) }

// WriteOut returns the text with the characters of a kind written out as
// ⟨U+202E⟩, and bytes that are not UTF-8 as ⟨FF⟩.
func WriteOut(s string, kind func(rune) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case kind(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.Is(unicode.C, r): // controls, formats (bidi, zero width, tags), private use
		return true
	case unicode.Is(unicode.Zl, r), unicode.Is(unicode.Zp, r):
		return true
	case r >= 0xFE00 && r < 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true // variation selectors can carry hidden text; U+FE0F only makes emoji colourful
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0: // joiners and fillers drawn as nothing
		return true
	}
	return false
}

// Exact is Visible for what people approve word for word, such as a command: also
// written out are spaces that are not the plain one, and in a word with Latin
// letters those of other alphabets that look like them ("p⟨U+0430⟩ypal").
func Exact(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) })
		switch {
		case n < 0:
			n = len(s)
		case n == 0: // what stands between words
			if n = strings.IndexFunc(s, unicode.IsLetter); n < 0 {
				n = len(s)
			}
		}
		part := s[:n]
		mixed := strings.ContainsFunc(part, func(r rune) bool { return unicode.Is(unicode.Latin, r) })
		b.WriteString(WriteOut(part, func(r rune) bool {
			return hidden(r) || r != ' ' && unicode.Is(unicode.Zs, r) || mixed && unicode.In(r, unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee)
		}))
		s = s[n:]
	}
	return b.String()
}
