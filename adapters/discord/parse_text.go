package discord

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// epoch is the first millisecond of Discord's time.
const epoch = 1420070400000

var token = regexp.MustCompile(`<(@!?|@&|#|a?:[A-Za-z0-9_~]{1,40}:)([0-9]{1,20})>`)

// mentions reports whether a text, as it goes over the wire, speaks to the bot.
func (d *Discord) mentions(text string) bool {
	return strings.Contains(text, "<@"+d.botUser+">") || strings.Contains(text, "<@!"+d.botUser+">")
}

// readable is a text as people read it: without mentions of the bot, with names
// instead of ids where they are known.
func (d *Discord) readable(text string, by spelling) string {
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
		case kind[0] == '@' && id == d.botUser:
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

// numberOf is an id as a number: ids grow with time. 0: that is none.
func numberOf(id string) int64 {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// timeOf is when an id was given out, zero for what is none. Ids hold
// milliseconds; what they count within one keeps the order.
func timeOf(id string) time.Time {
	n := numberOf(id)
	if n <= 0 {
		return time.Time{}
	}
	const within = time.Millisecond / 4096
	return time.UnixMilli(n>>22 + epoch).Add(time.Duration(n&4095) * within).UTC()
}

// idAt is the first id of a time.
func idAt(t time.Time) int64 { return max(t.UnixMilli()-epoch, 0) << 22 }
