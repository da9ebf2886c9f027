package discord

import (
	"regexp"
	"strings"
)

var token = regexp.MustCompile(`<(@!?|@&|#|a?:[A-Za-z0-9_~]{1,40}:)([0-9]{1,20})>`)

// mentions reports whether a text, as it goes over the wire, speaks to the bot.
func (a *account) mentions(text string) bool {
	return strings.Contains(text, "<@"+a.botUser+">") || strings.Contains(text, "<@!"+a.botUser+">")
}

// readable is a text as people read it: without mentions of the bot, with names
// instead of ids where they are known.
func (a *account) readable(text string, by spelling) string {
	var out strings.Builder
	for {
		at := token.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		out.WriteString(text[:at[0]])
		kind, id := text[at[2]:at[3]], text[at[4]:at[5]]
		text = text[at[1]:]
		switch {
		case kind[0] == '@' && id == a.botUser:
			text = strings.TrimPrefix(text, " ")
		case kind == "@&":
			out.WriteString("@" + by.role(id))
		case kind[0] == '@':
			out.WriteString("@" + by.user(id))
		case kind == "#":
			out.WriteString(by.channel(id))
		default: // an emoji of the server's own
			out.WriteString(strings.TrimPrefix(kind, "a"))
		}
	}
	out.WriteString(text)
	return strings.TrimSpace(out.String())
}
