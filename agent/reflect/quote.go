package reflect

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote is a text on one line, at most limit characters long, with everything
// written out that people cannot see or that changes the order of others.
func quote(s string, limit int) string {
	var b strings.Builder
	b.Grow(min(len(s), limit+8))
	spaced, n := false, 0
	for i, r := range s {
		if r > ' ' && r < 0x7F && n < limit && !spaced { // nearly always
			b.WriteByte(byte(r))
			n++
			continue
		}
		if unicode.IsSpace(r) {
			spaced = true
			continue
		}
		if n >= limit {
			b.WriteString("…")
			break
		}
		if spaced && b.Len() > 0 {
			b.WriteByte(' ')
			n++
		}
		spaced = false
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, "⟨%02X⟩", s[i])
		case hidden(r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
		n++
	}
	return b.String()
}

func hidden(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7F
	case unicode.Is(unicode.C, r), r >= 0xFE00 && r < 0xFE0F, r >= 0xE0100 && r <= 0xE01EF:
		return true
	}
	switch r {
	case 0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0:
		return true
	}
	return false
}

// nameLimit bounds the name of a tool in a message, in characters.
const nameLimit = 60

// callText is a call as messages show it: calculator “6*7”.
func (m *mark) callText() string {
	main := m.Arguments
	if !m.main {
		main = quote(argument(main), argumentLimit)
	}
	if main == "" {
		return toolName(m.Tool)
	}
	return toolName(m.Tool) + " " + said(main)
}

// resultText is a result as messages show it.
func (m *mark) resultText() string {
	if m.Text == "" {
		return "nothing"
	}
	return said(m.Text)
}

// exchange is a call with its result.
func (m *mark) exchange() string { return m.callText() + "; the answer was " + m.resultText() }

// count is "1 call", "2 calls".
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
