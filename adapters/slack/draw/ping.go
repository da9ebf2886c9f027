package draw

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
)

// ping matches what follows an "@" or "!" that would notify people: the words
// for many people, and the id of a person or a user group.
var ping = regexp.MustCompile(`^(?i:here|channel|everyone|group|subteam)|^[UWSB][A-Z0-9]+`)

const longestPing = 16 // bytes; longer than any of them, as far as it matters

// markdownWithoutPings is the Markdown with nothing in it that could notify
// anybody, whether Slack looks for mentions before or after it has read the
// Markdown. It looks the same.
func markdownWithoutPings(document string) string { return separated(markdown.Units(document, true)) }

// WithoutPings does the same for text that is no Markdown.
func WithoutPings(text string) string {
	if !strings.ContainsAny(text, "<@!") { // most text: nothing there begins a mention
		return text
	}
	list := make([]markdown.Unit, 0, len(text))
	for s := text; s != ""; {
		_, n := utf8.DecodeRuneInString(s)
		list = append(list, markdown.Unit{Raw: s[:n], Means: s[:n]})
		s = s[n:]
	}
	return separated(list)
}

// separated puts a space without width behind each sign that begins a mention.
func separated(list []markdown.Unit) string {
	var meant strings.Builder
	for _, u := range list {
		meant.WriteString(u.Means)
	}
	rest := meant.String()
	var b strings.Builder
	for _, u := range list {
		b.WriteString(u.Raw)
		rest = rest[len(u.Means):]
		switch {
		case u.Means == "<" && rest != "" && strings.IndexByte("@!#", rest[0]) >= 0,
			(u.Means == "@" || u.Means == "!") && ping.MatchString(rest[:min(len(rest), longestPing)]):
			b.WriteString(markdown.NoWidth)
		}
	}
	return b.String()
}
