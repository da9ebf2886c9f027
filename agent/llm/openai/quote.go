package openai

// The strings of JSON as models write them: in many quotes, with bare quotes and
// escapes of other languages inside.

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// quotePairs maps each opening quote to its closing one, the longest first.
var quotePairs = [...]struct{ open, end string }{
	{`"""`, `"""`}, {"'''", "'''"}, {`"`, `"`}, {"'", "'"}, {"“", "”"}, {"‘", "’"}, {"`", "`"},
}

// openingQuote returns the quote that s opens with, empty where it opens with none.
// Two quotes that are the whole of an empty string are not the first two of
// three.
func openingQuote(s string) string {
	for _, c := range quotePairs {
		if strings.HasPrefix(s, c.open) {
			return c.open
		}
	}
	return ""
}

func closingQuote(open string) string {
	for _, c := range quotePairs {
		if c.open == open {
			return c.end
		}
	}
	return open
}

// text reads a string and writes it as JSON. inObject says that it is the
// value of a key: then a comma after its end must be followed by another key.
func (m *lenientReader) text(inObject bool) bool {
	open := openingQuote(m.in[m.at:])
	end := closingQuote(open)
	m.at += len(open)
	var s []byte
	for m.at < len(m.in) {
		if strings.HasPrefix(m.in[m.at:], end) && m.ends(m.at+len(end), open, inObject) {
			m.at += len(end)
			m.out = append(m.out, quoted(string(s))...)
			return true
		}
		if m.in[m.at] == '\\' {
			s = m.escape(s)
			continue
		}
		s = append(s, m.in[m.at])
		m.at++
	}
	m.lost = true
	return false
}

// ends reports whether a quote whose end is at i closes its string: only
// before something that may follow a string.
func (m *lenientReader) ends(i int, open string, inObject bool) bool {
	if len(open) == len(`"""`) && open[0] == open[1] {
		return true
	}
	probe := lenientReader{in: m.in, at: i}
	probe.space()
	switch probe.peek() {
	case 0, ':', '}', ']':
		return true
	case ',':
		if !inObject {
			return true
		}
		probe.commas()
		c := probe.peek()
		return c == 0 || c == '}' || c == ']' || probe.nextKey(probe.at)
	}
	return strings.Contains(m.in[i:probe.at], "\n") && (probe.nextKey(probe.at) || probe.peek() == '`')
}

// nextKey reports whether a key and its colon stand at i.
func (m *lenientReader) nextKey(i int) bool {
	probe := lenientReader{in: m.in, at: i}
	probe.space()
	open := openingQuote(probe.in[probe.at:])
	if open == "" {
		if probe.word() == "" {
			return false
		}
	} else {
		rest := probe.in[probe.at+len(open):]
		n := strings.Index(rest, closingQuote(open))
		if n < 0 || n > maxKey {
			return false
		}
		probe.at += len(open) + n + len(closingQuote(open))
	}
	probe.space()
	return probe.peek() == ':'
}

// maxKey bounds how far the end of a key is looked for, in bytes.
const maxKey = 200

// escape reads one escape sequence. One that JSON does not know stays as it
// stands: a regular expression whose backslashes were not doubled.
func (m *lenientReader) escape(s []byte) []byte {
	if m.at+1 >= len(m.in) {
		m.at++
		return append(s, '\\')
	}
	c := m.in[m.at+1]
	m.at += 2
	switch c {
	case '"', '\\', '/', '\'', '`', '\n':
		return append(s, c)
	case 'b':
		return append(s, '\b')
	case 'f':
		return append(s, '\f')
	case 'n':
		return append(s, '\n')
	case 'r':
		return append(s, '\r')
	case 't':
		return append(s, '\t')
	case 'u':
		return m.unicode(s, 4)
	case 'x':
		return m.unicode(s, 2)
	}
	return append(s, '\\', c)
}

// unicode reads n hexadecimal digits, and the second half of a surrogate pair.
func (m *lenientReader) unicode(s []byte, n int) []byte {
	r, ok := m.digits(m.at, n)
	if !ok {
		return append(s, m.in[m.at-2:m.at]...)
	}
	m.at += n
	if r >= 0xd800 && r < 0xdc00 && strings.HasPrefix(m.in[m.at:], `\u`) {
		if low, ok := m.digits(m.at+2, 4); ok && low >= 0xdc00 && low < 0xe000 {
			m.at += 6
			r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
		}
	}
	return utf8.AppendRune(s, r)
}

func (m *lenientReader) digits(at, n int) (rune, bool) {
	if at+n > len(m.in) {
		return 0, false
	}
	v, err := strconv.ParseUint(m.in[at:at+n], 16, 32)
	return rune(v), err == nil
}
