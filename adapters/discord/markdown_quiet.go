package discord

import (
	"regexp"
	"strings"
)

// noWidth is a space without width. Behind a sign that begins a mention it makes
// the sign mean nothing and look the same.
const noWidth = "\u200b"

// calling matches what Discord would read as the name of somebody, of everybody,
// of a channel or a command. What it would notify is bounded by the allowed
// mentions of the message anyway; this keeps it from looking like a call, too.
var calling = regexp.MustCompile(`(?i)<[@#/]|<id:|@everyone|@here`)

// hushed is text with nothing in it that could notify anybody, as Discord looks
// for it: anywhere, whatever stands around it. It looks the same.
func hushed(text string) string {
	return calling.ReplaceAllStringFunc(text, func(m string) string { return m[:1] + noWidth + m[1:] })
}

const fence = "```"

var language = regexp.MustCompile(`^[A-Za-z0-9+#_.-]{1,20}$`)

// fenced is text between fences, which it cannot close.
func fenced(lang, text string) string {
	if !language.MatchString(lang) {
		lang = ""
	}
	text = strings.ReplaceAll(strings.TrimRight(text, "\n"), "``", "`"+noWidth+"`")
	if strings.HasSuffix(text, "`") {
		text += noWidth
	}
	return fence + lang + "\n" + text + "\n" + fence
}
