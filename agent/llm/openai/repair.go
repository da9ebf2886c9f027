package openai

// This file reads JSON as language models write it and returns valid JSON,
// with a note of how much was repaired, so that a stray comma costs no
// further request.

import (
	"encoding/json"
	"strings"
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
