package reflect

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
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

// telling are the arguments that say what a call is about, the most telling
// first. Of a call without any, the first by name is taken.
var telling = []string{
	"path", "file", "url", "query", "expression", "command", "code", "id", "name", "title", "question", "text", "input",
}

// argument is what a call is about in a few words: its main argument as people
// read it, empty where it has none. Arguments that are no JSON stay as they are.
func argument(arguments string) string {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		return ""
	}
	var args map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &args) != nil {
		var text string
		if json.Unmarshal([]byte(arguments), &text) == nil {
			return text
		}
		return arguments
	}
	for _, name := range slices.Concat(telling, slices.Sorted(maps.Keys(args))) {
		if text := readable(args[name]); text != "" {
			return text
		}
	}
	return ""
}

// readable is a value as people read it: a text, a number, a list of those.
// What is nested deeper is left out.
func readable(value json.RawMessage) string {
	if len(value) == 0 {
		return ""
	}
	switch value[0] {
	case '"':
		var text string
		if json.Unmarshal(value, &text) == nil {
			return strings.TrimSpace(text)
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return ""
		}
		var words []string
		for _, item := range list {
			if item[0] != '[' {
				if word := readable(item); word != "" {
					words = append(words, word)
				}
			}
		}
		return strings.Join(words, ", ")
	case '{', 'n':
	default:
		return string(value)
	}
	return ""
}

// toolName is a tool in plain words: "read file" for read_file.
func toolName(tool string) string {
	words := strings.Join(strings.FieldsFunc(tool, func(r rune) bool { return r == '_' }), " ")
	if words == "" {
		words = tool
	}
	return quote(words, nameLimit)
}

// said is a text in quotation marks that nothing inside it can end.
func said(text string) string {
	return "“" + strings.NewReplacer("“", "'", "”", "'").Replace(text) + "”"
}
