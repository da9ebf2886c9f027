package page

// This file undoes encodings, and reads plain texts.

import (
	"bytes"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
)

// maxOdd is how large a share of characters that nobody reads makes a text none.
const maxOdd = 0.1

// decoded is a text in UTF-8. What decides is a byte order mark, then the sender's
// charset, then what the text says of itself, then whether it is UTF-8 already,
// then Windows-1252, as browsers have it. A note says what was guessed.
func decoded(data []byte, contentType string) (text, note string, err error) {
	_, params, _ := mime.ParseMediaType(contentType) // without a charset it is found out
	name := params["charset"]
	e, found, certain := charset.DetermineEncoding(data, contentType)
	switch {
	case name != "" && isUTF8(name) && !utf8.Valid(data):
		e, found = guess(data, e, found)
		note = fmt.Sprintf("the sender says %s, which it is not; it was read as %s", name, found)
	case name != "" && !known(name):
		note = fmt.Sprintf("the sender says %q, which is no known encoding; it was read as %s", cutRunes(name, 40), found)
	case !certain && utf8.Valid(data):
		e, found = encoding.Nop, "utf-8"
	}
	if isUTF8(found) {
		data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	} else if e != nil && e != encoding.Nop {
		if data, err = e.NewDecoder().Bytes(data); err != nil {
			return "", "", fmt.Errorf("it is said to be %s and cannot be read as that: %w", found, err)
		}
	}
	text = strings.ToValidUTF8(string(data), "�")
	if odd(text) {
		return "", "", fmt.Errorf("%w: it is written in an encoding that is not known (%s leaves signs that nobody reads)", ErrNoText, found)
	}
	return text, note, nil
}

// guess reads as UTF-16 what looks like it, and else as what was found.
func guess(data []byte, e encoding.Encoding, found string) (encoding.Encoding, string) {
	if len(data) >= 4 && data[1] == 0 && data[3] == 0 {
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "utf-16le"
	}
	if other, name, _ := charset.DetermineEncoding(data, "text/html"); !isUTF8(name) {
		return other, name
	}
	if fallback, name := charset.Lookup("windows-1252"); fallback != nil {
		return fallback, name
	}
	return e, found
}

func isUTF8(name string) bool {
	return strings.EqualFold(name, "utf-8") || strings.EqualFold(name, "utf8")
}

func known(name string) bool {
	e, _ := charset.Lookup(name)
	return e != nil
}

// odd reports whether too much of a text is nothing that people read.
func odd(text string) bool {
	bad, all := 0, 0
	for _, r := range text {
		all++
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\r' && r != '\t' && r != '\f' && r != 0x1b || r >= 0x7f && r < 0xa0 {
			bad++
		}
	}
	return float64(bad) > maxOdd*float64(all)
}

// Text is a text of others in UTF-8, whatever it is written in. ErrNoText is
// returned for what is none.
func Text(data []byte, contentType string) (string, error) {
	if kind := kindOf(data, contentType); len(data) > 0 && !textual(kind) && !strings.HasSuffix(kind, "html") && kind != "application/xhtml+xml" {
		return "", fmt.Errorf("%w: it is %s", ErrNoText, kind)
	}
	text, _, err := decoded(data, contentType)
	return text, err
}

// readText reads a plain text.
func readText(data []byte, contentType string) (Document, error) {
	text, note, err := decoded(data, contentType)
	return Document{Text: text, Notes: notes(note)}, err
}

// notes are those that say something.
func notes(list ...string) []string {
	var said []string
	for _, n := range list {
		if n != "" {
			said = append(said, n)
		}
	}
	return said
}
