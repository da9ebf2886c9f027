package draw

// This file writes Markdown in mrkdwn, Slack's own markup, for what Slack
// shows outside of Markdown blocks. All text is escaped on the way, so that
// nothing in a document mentions or notifies anybody.

import (
	"strings"

	"github.com/yuin/goldmark/util"

	"github.com/deckhand-bot/deckhand/adapters/markdown"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// dialect is Slack's own markup.
var dialect = markdown.Dialect{
	Strong: "*", Emphasis: "_", Strike: "~",
	Bullet: "• ", BulletIndent: "    ", NumberIndent: "    ",
	Text: escape, Code: escape, Link: Link,
	Heading:   func(_ int, title string) string { return markdown.Around("*", strings.ReplaceAll(title, "*", "")) },
	Paragraph: func(text string) string { return text },
	Fenced:    func(_, text string) string { return preformatted(text) },
}

// mrkdwn writes Markdown in Slack's own markup, one string for each block at
// the top of the document. Nothing in it notifies anybody: every "<" begins a
// link to http, https or mailto.
func mrkdwn(document string) []string { return dialect.Blocks(document) }

// escapes write what Slack would read as markup.
var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// escape is text as mrkdwn shows it: no sign of it begins a mention or a link.
func escape(text string) string {
	return escapes.Replace(WithoutPings(text))
}

// preformatted is text between fences, which it cannot close.
func preformatted(text string) string {
	text = escape(strings.TrimRight(text, "\n"))
	return markdown.Fence + "\n" + strings.ReplaceAll(text, "``", "`"+markdown.NoWidth+"`") + "\n" + markdown.Fence
}

// Bounds of a link: longer ones are shown as text, so that a cut between two
// sections never falls into one.
const (
	maxURL       = 1200
	maxLinkLabel = 200
)

// Link is a link in mrkdwn, or the text alone where the target is none that
// people open.
func Link(target, label string) string {
	url := string(util.URLEscape([]byte(target), true))
	url = strings.NewReplacer("&", "&amp;", "<", "%3C", ">", "%3E", "|", "%7C", "`", "%60").Replace(url)
	url = strings.NewReplacer("@"+markdown.NoWidth, "%40", "!"+markdown.NoWidth, "%21").Replace(WithoutPings(url))
	label = strings.TrimSpace(label)
	if strings.ContainsFunc(url, func(r rune) bool { return r <= ' ' || r > '~' }) || len(url) > maxURL || !opens(url) {
		return escape(label + " (" + target + ")")
	}
	if label == "" || label == target {
		return "<" + url + ">"
	}
	return "<" + url + "|" + escape(format.Line(label, maxLinkLabel)) + ">"
}

func opens(url string) bool {
	url = strings.ToLower(url)
	return strings.HasPrefix(url, "https://") || strings.HasPrefix(url, "http://") || strings.HasPrefix(url, "mailto:")
}
