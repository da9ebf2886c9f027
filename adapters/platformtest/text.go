package platformtest

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Line is a line of plain text without control characters and trailing blanks.
func Line(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimRight(text, " ") + "\n"
}

// Number is a count with its noun.
func Number(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Size is a number of bytes for people.
func Size(n int) string {
	switch {
	case n < 1<<10:
		return Number(n, "byte", "bytes")
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	}
}

// Named says whether a label is the wanted word, perhaps after an emoji.
func Named(label, want string) bool {
	return label != "" && (label == want || strings.HasSuffix(label, " "+want))
}

// Put sets a field that has a value.
func Put(o map[string]any, key, value string) {
	if value != "" {
		o[key] = value
	}
}

// Encode is v as JSON. It cannot fail: what it is given was decoded from JSON or
// built by a server.
func Encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("cannot encode %T: %v", v, err))
	}
	return b
}
