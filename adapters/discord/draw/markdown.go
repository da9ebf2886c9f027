package draw

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/util"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// dialect is Markdown as Discord reads it: headings of three levels, no tables,
// no pictures.
var dialect = markdown.Dialect{
	Strong: "**", Emphasis: "*", Strike: "~~",
	Bullet: "- ", BulletIndent: "  ", NumberIndent: "   ",
	Text:      escapeMarkdown,
	Code:      func(text string) string { return text },
	Link:      link,
	Heading:   heading,
	Paragraph: escapeLineStarts,
	Fenced:    fenced,
}

// markdownBlocks writes Markdown as Discord reads it, one string for each block at the
// top of the document. Nothing in it names anybody so that Discord would notify
// them.
func markdownBlocks(document string) []string {
	list := dialect.Blocks(document)
	for i, s := range list {
		list[i] = withoutPings(s)
	}
	return list
}

// maxLevel is the lowest kind of heading that Discord knows.
const maxLevel = 3

func heading(level int, title string) string {
	title = format.OneLine(title)
	if title == "" || level > maxLevel {
		return markdown.Around("**", title)
	}
	return strings.Repeat("#", level) + " " + title
}

var lineStart = regexp.MustCompile(`(?m)^([ \t]*)(#{1,3}|-#|-|\+|>{1,3}|\d{1,9}(?:[.)]))(\s|$)`)

// escapeLineStarts is text whose lines begin no heading, list, quote or small print.
func escapeLineStarts(s string) string {
	return lineStart.ReplaceAllStringFunc(s, func(m string) string {
		at := strings.IndexAny(m, "#->+.)")
		return m[:at] + `\` + m[at:]
	})
}

// escapeMarkdown is text that Discord shows as it stands, within a line.
func escapeMarkdown(s string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "~", `\~`, "`", "\\`", "|", `\|`, "[", `\[`, "]", `\]`, "<", `\<`).Replace(s)
}

// Bounds of a link: longer ones are shown as text.
const (
	maxURL       = 512
	maxLinkLabel = 200
)

var pingInURL = regexp.MustCompile(`(?i)@(everyone|here)`)

// link is a link with its label, or both as text where the target is none that
// people open. A label that looks like an address stands beside the link:
// Discord shows no link that hides where it leads.
func link(target, label string) string {
	url := string(util.URLEscape([]byte(target), true))
	url = strings.NewReplacer("<", "%3C", ">", "%3E", "(", "%28", ")", "%29", "|", "%7C", "`", "%60", `\`, "%5C", "*", "%2A").Replace(url)
	url = pingInURL.ReplaceAllString(url, "%40$1")
	label = format.OneLine(label)
	switch {
	case strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r > '~' }) || len(url) > maxURL || !opens(url):
		if label == target || target == "mailto:"+label || target == "" {
			return escapeMarkdown(label)
		}
		return escapeMarkdown(label + " (" + target + ")")
	case label == "" || label == target:
		return "<" + url + ">"
	}
	label = Shortened(label, maxLinkLabel)
	if strings.Contains(label, "://") || strings.Contains(label, "www.") || strings.ContainsAny(label, "[]") {
		return escapeMarkdown(label) + " (<" + url + ">)"
	}
	return "[" + escapeMarkdown(label) + "](" + url + ")"
}

func opens(url string) bool {
	url = strings.ToLower(url)
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://")
}

var language = regexp.MustCompile(`^[A-Za-z0-9+#_.-]{1,20}$`)

// fenced is text between fences, which it cannot close.
func fenced(lang, text string) string {
	if !language.MatchString(lang) {
		lang = ""
	}
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "``", "`"+markdown.NoWidth+"`")
	if strings.HasSuffix(text, "`") {
		text += markdown.NoWidth
	}
	return markdown.Fence + lang + "\n" + text + "\n" + markdown.Fence
}

// ping matches what Discord would read as the name of somebody, of everybody,
// of a channel or a command. What it would notify is bounded by the allowed
// mentions of the message anyway; this keeps it from looking like a call, too.
var ping = regexp.MustCompile(`(?i)<[@#/]|<id:|@everyone|@here`)

// withoutPings is text with nothing in it that could notify anybody, as Discord
// looks for it: anywhere, whatever stands around it. It looks the same.
func withoutPings(text string) string {
	return ping.ReplaceAllStringFunc(text, func(m string) string { return m[:1] + markdown.NoWidth + m[1:] })
}
