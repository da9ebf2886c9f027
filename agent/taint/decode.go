package taint

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what is decoded in one text.
const (
	maxParts = 24 // decoded texts
	maxDepth = 2  // encodings around each other
)

// part is a text that stands in another one, and in which form.
type part struct{ text, through string }

var (
	hexMark   = strings.NewReplacer(`\x`, " ", "0x", " ", ":", " ", ",", " ")
	urlRun    = regexp.MustCompile(`[^\s"'<>]*%[0-9A-Fa-f]{2}[^\s"'<>]*`)
	entityRun = regexp.MustCompile(`(?:[^\s"'<>&]*&(?:#\d+|#x[0-9A-Fa-f]+|[a-z]+);)+[^\s"'<>&]*`)
	escapeRun = regexp.MustCompile(`(?:[^\s"'<>\\]*\\u[0-9A-Fa-f]{4})+[^\s"'<>\\]*`)
)

// decoded are the texts that a text holds in another form.
func decoded(text string) []part { return decode(nil, text, "", maxDepth) }

func decode(list []part, text, through string, depth int) []part {
	if depth == 0 {
		return list
	}
	add := func(what, plain string) {
		if len(list) < maxParts && readable(plain) {
			name := what
			if through != "" {
				name = through + ", " + what
			}
			list = append(list, part{plain, name})
			list = decode(list, plain, name, depth-1)
		}
	}
	for _, f := range encodings {
		for _, run := range f.runs(text) {
			if plain, is := f.plain(run); is {
				add(f.name, plain)
			}
		}
	}
	return list
}

// encodings are the forms in which a text may hold another one: which parts of it
// look like that, and what they say.
var encodings = []struct {
	name  string
	runs  func(text string) []string
	plain func(run string) (string, bool)
}{
	{"base64", func(text string) []string { return runs(text, isBase64, leastBase64) }, fromBase64},
	{"hexadecimal", func(text string) []string { return append(runs(text, isHex, leastHex), apartHex(text)...) }, fromHex},
	{"URL encoding", marked("%", urlRun), func(run string) (string, bool) {
		plain, err := url.PathUnescape(run)
		return plain, err == nil
	}},
	{"HTML entities", marked("&", entityRun), func(run string) (string, bool) {
		plain := html.UnescapeString(run)
		return plain, plain != run
	}},
	{"escapes", marked(`\u`, escapeRun), func(run string) (string, bool) { return unescape(run), true }},
}

// marked finds the parts of a text that fit, where it holds the mark at all.
func marked(mark string, fits *regexp.Regexp) func(text string) []string {
	return func(text string) []string {
		if !strings.Contains(text, mark) {
			return nil
		}
		return fits.FindAllString(text, maxParts)
	}
}

func fromHex(run string) (string, bool) {
	plain, err := hex.DecodeString(run)
	return string(plain), err == nil
}

// The shortest runs that are taken for an encoding.
const (
	leastBase64 = 8
	leastHex    = 10
)

// runs are the longest parts of a text whose bytes are all of a kind.
func runs(text string, of func(c byte) bool, least int) []string {
	var list []string
	for i := 0; i < len(text); i++ {
		from := i
		for i < len(text) && of(text[i]) {
			i++
		}
		if i-from >= least {
			list = append(list, text[from:i])
		}
	}
	return list
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_'
}

func isHex(c byte) bool {
	return 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' || '0' <= c && c <= '9'
}

// apartHex are runs of hexadecimal bytes with marks between them: "65 76", "65:76",
// `\x65\x76`, "0x65, 0x76".
func apartHex(text string) []string {
	var list []string
	hexOrMark := func(c byte) bool { return isHex(c) || strings.IndexByte(` :,\x`, c) >= 0 }
	for _, run := range runs(text, hexOrMark, leastHex+leastHex/2-1) {
		var bytes strings.Builder
		for field := range strings.FieldsSeq(hexMark.Replace(run)) {
			if len(field) == 2 {
				bytes.WriteString(field)
			}
		}
		if bytes.Len() >= leastHex {
			list = append(list, bytes.String())
		}
	}
	return list
}

// fromBase64 reads a run in any of the usual alphabets, with or without padding.
func fromBase64(run string) (string, bool) {
	encoding := base64.RawStdEncoding
	if strings.ContainsAny(run, "-_") {
		encoding = base64.RawURLEncoding
	}
	plain, err := encoding.DecodeString(run)
	return string(plain), err == nil
}

var escapeOne = regexp.MustCompile(`\\u[0-9A-Fa-f]{4}`)

// unescape reads \uXXXX.
func unescape(s string) string {
	return escapeOne.ReplaceAllStringFunc(s, func(e string) string {
		b, err := hex.DecodeString(e[2:])
		if err != nil {
			return e
		}
		return string(rune(b[0])<<8 | rune(b[1]))
	})
}

// readable reports whether decoded bytes are a text that somebody may have meant.
func readable(s string) bool {
	if len(s) < 3 || !utf8.ValidString(s) {
		return false
	}
	bad := 0
	for _, r := range s {
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			bad++
		}
	}
	return bad == 0
}
