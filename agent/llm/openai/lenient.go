package openai

import (
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// The reader that repair.go and quote.go go forward with.

// lenientReader is a forgiving JSON reader that writes strict JSON.
type lenientReader struct {
	in     string
	at     int
	out    []byte
	arrays int  // open arrays
	open   bool // a closing brace was missing
	lost   bool // the input ended inside a string
}

// peek returns the next byte, 0 at the end.
func (m *lenientReader) peek() byte {
	if m.at < len(m.in) {
		return m.in[m.at]
	}
	return 0
}

// space skips white space and comments.
func (m *lenientReader) space() {
	for m.at < len(m.in) {
		rest := m.in[m.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			m.at++
		case strings.HasPrefix(rest, "\u00a0"):
			m.at += len("\u00a0")
		case strings.HasPrefix(rest, "//"), rest[0] == '#':
			m.skip(rest, "\n")
		case strings.HasPrefix(rest, "/*"):
			m.skip(rest, "*/")
		default:
			return
		}
	}
}

func (m *lenientReader) skip(rest, end string) {
	if i := strings.Index(rest, end); i >= 0 {
		m.at += i + len(end)
		return
	}
	m.at = len(m.in)
}

// commas skips commas, however many.
func (m *lenientReader) commas() {
	for m.space(); m.peek() == ','; m.space() {
		m.at++
	}
}

// word reads letters, digits and what names and numbers are made of.
func (m *lenientReader) word() string {
	from := m.at
	for m.at < len(m.in) {
		r, n := utf8.DecodeRuneInString(m.in[m.at:])
		if !wordRune(r) {
			break
		}
		m.at += n
	}
	return m.in[from:m.at]
}

func wordRune(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '_' || r == '-' || r == '+' || r == '.' || r == '$'
}

// quoted is s as a JSON string.
func quoted(s string) []byte {
	b, _ := format.JSON(s) // a string always encodes
	return b
}
