package reflect

import (
	"crypto/sha256"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// key stands for a call or a result (L0): the first half of a SHA-256.
type key [16]byte

// callKey identifies a call: its tool and its arguments as canonical JSON (RFC
// 8785), or as they are where they are no JSON.
func callKey(tool, arguments string) key {
	arguments = strings.TrimSpace(arguments)
	if arguments == "" {
		arguments = "{}"
	}
	if c, err := format.Canonical([]byte(arguments)); err == nil {
		arguments = string(c)
	}
	return sum(append(append([]byte(tool), 0), arguments...))
}

// resultKey identifies a result without what differs from one time to the next.
func resultKey(text string) key {
	return sum(normal(make([]byte, 0, len(text)), strings.TrimSpace(text)))
}

func sum(b []byte) key {
	all := sha256.Sum256(b)
	return key(all[:16])
}

// gap stands in a normal text for what was left out.
const gap = "#"

// normal appends the text to dst without ids, times, durations, process
// numbers, cursors and receipts (L0). Numbers that count something stay.
func normal(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if !letterOrDigit(s[i]) {
			dst = append(dst, s[i])
			i++
			continue
		}
		price := i > 0 && s[i-1] == '$'
		if n := volatile(s[i:]); n > 0 && !price {
			dst = append(dst, gap...)
			i += n
			continue
		}
		n := wordLength(s[i:])
		word := s[i : i+n]
		dst = append(dst, word...)
		i += n
		if m, v := labelled(word, s[i:]); v > 0 {
			dst = append(append(dst, s[i:i+m]...), gap...)
			i += m + v
		}
	}
	return dst
}

// volatile is the length of the id, time or duration that the text begins
// with, 0 if it begins with none.
func volatile(s string) int {
	if digit(s[0]) {
		if n := clock(s); n > 0 {
			return n
		}
		if n := duration(s); n > 0 {
			return n
		}
		if n := epoch(s); n > 0 {
			return n
		}
	}
	if n := uuid(s); n > 0 {
		return n
	}
	return randomID(s)
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func letterOrDigit(c byte) bool { return digit(c) || letter(c) }

func hexDigit(c byte) bool { return digit(c) || (c|0x20 >= 'a' && c|0x20 <= 'f') }

// span is how many bytes at the start belong to the class.
func span(s string, class func(byte) bool) int {
	n := 0
	for n < len(s) && class(s[n]) {
		n++
	}
	return n
}

func wordLength(s string) int {
	return span(s, func(c byte) bool { return letterOrDigit(c) || c == '_' })
}

// shaped reports whether the text begins with the shape, where 0 stands for a
// digit and any other byte for itself.
func shaped(s, shape string) bool {
	if len(s) < len(shape) {
		return false
	}
	for i := range len(shape) {
		if shape[i] == '0' && !digit(s[i]) || shape[i] != '0' && s[i] != shape[i] {
			return false
		}
	}
	return true
}

// clock is the length of a time of day, with its date where that stands before
// it. A date alone and hours with minutes alone are data.
func clock(s string) int {
	n := 0
	switch {
	case shaped(s, "00000000T000000"):
		return len("00000000T000000") + zone(s[len("00000000T000000"):])
	case shaped(s, "0000-00-00T00:00"), shaped(s, "0000-00-00 00:00"), shaped(s, "0000/00/00 00:00"):
		n = len("0000-00-00T")
	}
	switch t := s[n:]; {
	case shaped(t, "00:00:00"):
		n += len("00:00:00")
	case n > 0:
		n += len("00:00")
	default:
		return 0
	}
	if n < len(s) && (s[n] == '.' || s[n] == ',') {
		if f := span(s[n+1:], digit); f > 0 {
			n += 1 + f
		}
	}
	n += zone(s[n:])
	if n < len(s) && letterOrDigit(s[n]) {
		return 0
	}
	return n
}

func zone(s string) int {
	switch {
	case strings.HasPrefix(s, "Z"):
		return 1
	case shaped(s, "+00:00"), shaped(s, "-00:00"):
		return len("+00:00")
	case shaped(s, "+0000"), shaped(s, "-0000"):
		return len("+0000")
	}
	return 0
}

// number is the length of a number with an optional fraction.
func number(s string) int {
	n := span(s, digit)
	if n > 0 && n+1 < len(s) && s[n] == '.' && digit(s[n+1]) {
		n += 1 + span(s[n+1:], digit)
	}
	return n
}

// duration is the length of a duration: 12ms, 3.2 s, 1m23s, 5 minutes. A
// single "12m" or "5d" may be anything.
func duration(s string) int {
	n, certain, parts := 0, false, 0
	for n < len(s) && digit(s[n]) {
		at := n + number(s[n:])
		unit := unitLength(s[at:])
		switch u := strings.ToLower(s[at : at+unit]); u {
		case "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "h", "hr", "hrs", "min", "mins":
			certain = true
		case "m", "d":
		default:
			if parts > 0 {
				return 0
			}
			return spelled(s, at)
		}
		n, parts = at+unit, parts+1
	}
	if parts == 0 || !certain && parts < 2 || n < len(s) && (letterOrDigit(s[n]) || s[n] == '_') {
		return 0
	}
	return n
}

func unitLength(s string) int {
	if strings.HasPrefix(s, "µs") || strings.HasPrefix(s, "μs") {
		return len("µs")
	}
	return span(s, letter)
}

// spelled is the length of a duration whose unit is a word or stands apart.
func spelled(s string, at int) int {
	if at < len(s) && (s[at] == ' ' || s[at] == '-') {
		at++
	}
	unit := unitLength(s[at:])
	switch strings.ToLower(s[at : at+unit]) {
	case "ns", "us", "µs", "μs", "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes",
		"hr", "hrs", "hour", "hours", "millisecond", "milliseconds", "microseconds", "nanoseconds", "millis":
		if end := at + unit; end == len(s) || !digit(s[end]) && s[end] != '_' {
			return end
		}
	}
	return 0
}

// epoch is the length of a Unix time between 2008 and 2039, in seconds to
// nanoseconds. A count of bytes is none.
func epoch(s string) int {
	n := span(s, digit)
	switch n {
	case 10, 13, 16, 19:
	default:
		return 0
	}
	if s[:10] < "1200000000" || s[:10] > "2200000000" {
		return 0
	}
	end := number(s)
	rest := strings.ToLower(strings.TrimLeft(s[end:min(len(s), end+8)], " "))
	if end < len(s) && (letter(s[end]) || s[end] == '_') || strings.HasPrefix(rest, "byte") || strings.HasPrefix(rest, "b ") {
		return 0
	}
	return end
}

func uuid(s string) int {
	const n = len("00000000-0000-0000-0000-000000000000")
	if len(s) < n || n < len(s) && letterOrDigit(s[n]) {
		return 0
	}
	for i := range n {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !hexDigit(s[i]) {
			return 0
		}
	}
	return n
}

// prefixes begin ids that a service made up: req_8f3k2a, chatcmpl-91ab4c.
var prefixes = words("req request call toolu chatcmpl msg run job task sess session trace span txn tx evt event " +
	"cursor token tok resp response conv thread batch rcpt receipt id order inv ch pi")

// randomID is the length of a hexadecimal id of eight characters or more, with
// letters and digits both, or of an id with a known prefix.
func randomID(s string) int {
	if n := wordLength(s); hexID(s[:n]) {
		return n
	}
	at := span(s, letter)
	if at == 0 || at >= len(s) || s[at] != '_' && s[at] != '-' || !prefixes[strings.ToLower(s[:at])] {
		return 0
	}
	rest := s[at+1:]
	id := span(rest, func(c byte) bool { return letterOrDigit(c) || c == '_' })
	if id < 6 || !random(rest[:id]) {
		return 0
	}
	return at + 1 + id
}

// hexID reports whether the word is a hexadecimal id.
func hexID(word string) bool {
	if rest, is := strings.CutPrefix(word, "0x"); is && len(rest) >= 6 && span(rest, hexDigit) == len(rest) {
		return true
	}
	return len(word) >= 8 && span(word, hexDigit) == len(word) &&
		strings.ContainsAny(word, "0123456789") && span(word, digit) < len(word) && !exponent(word)
}

// random reports whether an id looks made up, not numbered by hand: three
// digits or more, or a letter after a digit.
func random(id string) bool {
	digits := 0
	for i := range len(id) {
		if digit(id[i]) {
			digits++
			if i+1 < len(id) && letter(id[i+1]) {
				return true
			}
		}
	}
	return digits >= 3
}

// exponent reports whether the word is a number like 1234567e8.
func exponent(word string) bool {
	d := span(word, digit)
	return d > 0 && d < len(word) && word[d]|0x20 == 'e' && span(word[d+1:], digit) == len(word)-d-1
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
