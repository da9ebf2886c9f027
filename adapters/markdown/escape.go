package markdown

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Unit is a piece of a source and what it stands for.
type Unit struct{ Raw, Means string }

// reference matches a character that is written as its number or name.
var reference = regexp.MustCompile(`^&(#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});?`)

// Units splits a source into characters, reading escapes and entities as a
// parser would: "&lt;!here&gt;" and "\<!here>" mean the same as "<!here>". A
// lenient parser takes entities without their semicolon, as browsers do.
func Units(source string, lenient bool) []Unit {
	var list []Unit
	for s := source; s != ""; {
		_, n := utf8.DecodeRuneInString(s)
		u := Unit{s[:n], s[:n]}
		switch {
		case s[0] == '\\' && len(s) > 1 && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[1]) >= 0:
			u = Unit{s[:2], s[1:2]}
		case s[0] == '&':
			raw := reference.FindString(s[:min(len(s), 40)])
			if means := html.UnescapeString(raw); means != raw && (lenient || exact(raw, means)) {
				u = Unit{raw, means}
			}
		}
		list = append(list, u)
		s = s[len(u.Raw):]
	}
	return list
}

// exact reports whether a reference stands for something as a whole: no name
// stands for more than two characters, so the rest of "&ampx;" shows.
func exact(raw, means string) bool {
	return strings.HasSuffix(raw, ";") && utf8.RuneCountInString(means) <= 2
}
