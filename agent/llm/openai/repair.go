package openai

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// repairState says what repair found.
type repairState int

const (
	notJSON      repairState = iota // not JSON, whatever is forgiven
	intact                          // JSON as it stands
	repaired                        // JSON after repair, all of it there
	unclosed                        // JSON after closing braces that are missing
	brokenString                    // broke off inside a string
)

// maxDepth bounds nesting.
const maxDepth = 200

// repair reads the JSON value at the start of s, ignores what follows it, and
// forgives what language models get wrong: single, curly and triple quotes,
// bare keys and words, commas too many and too few, comments, True, False and
// None, line breaks, unknown escapes and bare quotes inside strings, missing
// closing braces. A string without an end is not closed, because what is lost
// could be anything. The result is valid JSON; intact input comes back byte
// for byte.
func repair(s string) ([]byte, repairState) {
	var raw json.RawMessage
	if json.NewDecoder(strings.NewReader(s)).Decode(&raw) == nil {
		return raw, intact
	}
	m := lenientReader{in: s, out: make([]byte, 0, len(s)+16)}
	if !m.value(0) || !json.Valid(m.out) {
		if m.lost {
			return nil, brokenString
		}
		return nil, notJSON
	}
	if m.open {
		return m.out, unclosed
	}
	return m.out, repaired
}

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

func (m *lenientReader) value(depth int) bool {
	if depth > maxDepth {
		return false
	}
	m.space()
	switch c := m.peek(); {
	case c == 0:
		return false
	case c == '{':
		return m.object(depth)
	case c == '[':
		return m.array(depth)
	case openingQuote(m.in[m.at:]) != "":
		return m.text(depth > 0 && m.arrays == 0)
	default:
		return m.bare()
	}
}

// object reads up to the closing brace. Where anything else comes than a
// comma, a brace or a next key, the brace is missing.
func (m *lenientReader) object(depth int) bool {
	m.at++
	m.out = append(m.out, '{')
	arrays := m.arrays
	m.arrays = 0
	defer func() { m.arrays = arrays }()
	for first := true; ; first = false {
		m.commas()
		if m.peek() == ']' && arrays == 0 && m.nextKey(m.at+1) {
			m.at++ // a bracket that nothing opened
			m.commas()
		}
		if m.peek() == '}' {
			m.at++
			break
		}
		if !m.nextKey(m.at) {
			m.open = true
			break
		}
		if !first {
			m.out = append(m.out, ',')
		}
		if !m.pair(depth) {
			return false
		}
	}
	m.out = append(m.out, '}')
	return true
}

func (m *lenientReader) pair(depth int) bool {
	if openingQuote(m.in[m.at:]) != "" {
		if !m.text(false) {
			return false
		}
	} else {
		word := m.word()
		m.out = append(m.out, quoted(word)...)
	}
	m.space()
	if m.peek() != ':' {
		return false
	}
	m.at++
	m.out = append(m.out, ':')
	m.space()
	if c := m.peek(); c == ',' || c == '}' { // a key without a value
		m.out = append(m.out, "null"...)
		return true
	}
	return m.value(depth + 1)
}

func (m *lenientReader) array(depth int) bool {
	m.at++
	m.out = append(m.out, '[')
	m.arrays++
	defer func() { m.arrays-- }()
	for first := true; ; first = false {
		m.commas()
		c := m.peek()
		if c == ']' {
			m.at++
			break
		}
		if c == 0 || c == '}' || c == '`' && !first {
			m.open = true
			break
		}
		if !first {
			m.out = append(m.out, ',')
		}
		if !m.value(depth + 1) {
			return false
		}
	}
	m.out = append(m.out, ']')
	return true
}

// commas skips commas, however many.
func (m *lenientReader) commas() {
	for m.space(); m.peek() == ','; m.space() {
		m.at++
	}
}

// bare reads a number, a literal of JSON, JavaScript or Python, or a word that
// should have been quoted.
func (m *lenientReader) bare() bool {
	word := m.word()
	switch word {
	case "":
		return false
	case "true", "True", "TRUE":
		m.out = append(m.out, "true"...)
	case "false", "False", "FALSE":
		m.out = append(m.out, "false"...)
	case "null", "None", "NULL", "nil", "undefined", "NaN", "Infinity", "-Infinity":
		m.out = append(m.out, "null"...)
	default:
		m.out = appendWord(m.out, word)
	}
	return true
}

func appendWord(b []byte, word string) []byte {
	if number := strings.ReplaceAll(strings.TrimPrefix(word, "+"), "_", ""); strings.ContainsAny(number[:min(1, len(number))], "-.0123456789") {
		if strings.HasPrefix(number, ".") {
			number = "0" + number
		}
		number = strings.TrimSuffix(number, ".")
		if json.Valid([]byte(number)) {
			return append(b, number...)
		}
	}
	return append(b, quoted(word)...)
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
