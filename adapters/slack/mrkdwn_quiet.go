package slack

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// noWidth is a space without width. Behind a sign that begins a mention it makes
// the sign mean nothing and look the same.
const noWidth = "\u200b"

// calls matches what follows an "@" or "!" that would notify people: the words
// for many people, and the id of a person or a user group.
var calls = regexp.MustCompile(`^(?i:here|channel|everyone|group|subteam)|^[UWSB][A-Z0-9]+`)

const longestCall = 16 // bytes; longer than any of them, as far as it matters

// unit is a piece of Markdown and what it stands for.
type unit struct{ raw, means string }

// reference matches a character that is written as its number or name.
var reference = regexp.MustCompile(`^&(#[0-9]{1,9}|#[xX][0-9a-fA-F]{1,8}|[A-Za-z][A-Za-z0-9]{0,31});?`)

// units splits Markdown into characters, reading escapes and entities as a
// parser would: "&lt;!here&gt;" and "\<!here>" mean the same as "<!here>". A
// lenient parser takes entities without their semicolon, as browsers do.
func units(markdown string, lenient bool) []unit {
	var list []unit
	for s := markdown; s != ""; {
		_, n := utf8.DecodeRuneInString(s)
		u := unit{s[:n], s[:n]}
		switch {
		case s[0] == '\\' && len(s) > 1 && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", s[1]) >= 0:
			u = unit{s[:2], s[1:2]}
		case s[0] == '&':
			raw := reference.FindString(s[:min(len(s), 40)])
			if means := html.UnescapeString(raw); means != raw && (lenient || strings.HasSuffix(raw, ";")) {
				u = unit{raw, means}
			}
		}
		list = append(list, u)
		s = s[len(u.raw):]
	}
	return list
}

// hushedMarkdown is the Markdown with nothing in it that could notify anybody,
// whether Slack looks for mentions before or after it has read the Markdown.
// It looks the same.
func hushedMarkdown(markdown string) string { return quieted(units(markdown, true)) }

// hushed does the same for text that is no Markdown.
func hushed(text string) string {
	var list []unit
	for s := text; s != ""; {
		_, n := utf8.DecodeRuneInString(s)
		list = append(list, unit{s[:n], s[:n]})
		s = s[n:]
	}
	return quieted(list)
}

func quieted(list []unit) string {
	var meant strings.Builder
	for _, u := range list {
		meant.WriteString(u.means)
	}
	rest := meant.String()
	var b strings.Builder
	for _, u := range list {
		b.WriteString(u.raw)
		rest = rest[len(u.means):]
		switch {
		case u.means == "<" && rest != "" && strings.IndexByte("@!#", rest[0]) >= 0,
			(u.means == "@" || u.means == "!") && calls.MatchString(rest[:min(len(rest), longestCall)]):
			b.WriteString(noWidth)
		}
	}
	return b.String()
}

// escaped is text as mrkdwn shows it: no sign of it begins a mention or a link.
func escaped(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(hushed(text))
}

const fence = "```"

// preformatted is text between fences, which it cannot close.
func preformatted(text string) string {
	text = escaped(strings.TrimRight(text, "\n"))
	return fence + "\n" + strings.ReplaceAll(text, "``", "`"+noWidth+"`") + "\n" + fence
}
