package format

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Canonical is a JSON text in its canonical form (RFC 8785), so that texts that
// mean the same are the same. Most texts come so already; to see that takes a
// tenth of what writing them anew takes.
func Canonical(text []byte) ([]byte, error) {
	if isCanonical(text) {
		return text, nil
	}
	canonical, err := jcs.Transform(text)
	if err != nil {
		return nil, fmt.Errorf("canonical JSON: %w", err)
	}
	return canonical, nil
}

// isCanonical reports whether an object or a list is certainly canonical. It
// knows no fractions, no large numbers and no keys but plain ones.
func isCanonical(text []byte) bool {
	if len(text) == 0 || text[0] != '{' && text[0] != '[' || !utf8.Valid(text) {
		return false
	}
	n := canonicalValue(text)
	return n == len(text)
}

// canonicalValue is the length of the value that the text begins with, 0 where
// it is not certainly canonical.
func canonicalValue(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch c := text[0]; {
	case c == '{':
		return canonicalList(text, '}', true)
	case c == '[':
		return canonicalList(text, ']', false)
	case c == '"':
		return canonicalString(text)
	case c == '-' || c >= '0' && c <= '9':
		return canonicalInteger(text)
	}
	for _, word := range []string{"true", "false", "null"} {
		if len(text) >= len(word) && string(text[:len(word)]) == word {
			return len(word)
		}
	}
	return 0
}

// canonicalList is the length of an object, whose keys go upwards, or of a list.
func canonicalList(text []byte, end byte, object bool) int {
	if len(text) > 1 && text[1] == end {
		return 2
	}
	var before []byte
	for at := 1; at < len(text); {
		if object {
			key := canonicalKey(text[at:])
			if key == nil || at > 1 && bytes.Compare(before, key) >= 0 {
				return 0
			}
			before, at = key, at+len(key)+len(`"":`)
		}
		n := canonicalValue(text[at:])
		if at += n; n == 0 || at >= len(text) {
			return 0
		}
		switch text[at] {
		case end:
			return at + 1
		case ',':
			at++
		default:
			return 0
		}
	}
	return 0
}

// canonicalKey is the key that stands before a colon, not nil; nil: none does.
func canonicalKey(text []byte) []byte {
	n := canonicalString(text)
	if n == 0 || n >= len(text) || text[n] != ':' || !plainKey(text[1:n-1]) {
		return nil
	}
	return text[1 : n-1]
}

// plainKey reports whether keys such as this one sort as their bytes do.
func plainKey(key []byte) bool {
	return !slices.ContainsFunc(key, func(c byte) bool { return c == '\\' || c >= utf8.RuneSelf })
}

// canonicalString is the length of a string whose escapes are the only ones
// that its characters have.
func canonicalString(text []byte) int {
	if len(text) == 0 || text[0] != '"' {
		return 0
	}
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return 0
		case c == '\\':
			i++
			if i == len(text) {
				return 0
			}
			switch text[i] {
			case '"', '\\', 'b', 'f', 'n', 'r', 't':
			default:
				return 0
			}
		}
	}
	return 0
}

// canonicalInteger is the length of an integer that a float holds exactly.
func canonicalInteger(text []byte) int {
	first := 0
	if text[0] == '-' {
		first = 1
	}
	i := first
	for i < len(text) && text[i] >= '0' && text[i] <= '9' {
		i++
	}
	digits := i - first
	zero := digits > 0 && text[first] == '0'
	more := i < len(text) && (text[i] == '.' || text[i] == 'e' || text[i] == 'E')
	if digits == 0 || digits > 15 || more || zero && i > 1 {
		return 0
	}
	return i
}
