package wire

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	token    = regexp.MustCompile(`<([^<>]*)>`)
	entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")
)

// mentions reports whether the text, as it goes over the wire, speaks to the bot.
func (r *Reader) mentions(text string) bool {
	return strings.Contains(text, "<@"+r.BotUser+">") || strings.Contains(text, "<@"+r.BotUser+"|")
}

// Spelling is how a text names people and channels.
type Spelling struct {
	Name    func(user string) string
	Channel func(id, label string) string
}

// AsLabelled is a channel as the text itself calls it.
func AsLabelled(id, label string) string {
	if label == "" {
		label = id
	}
	return "#" + label
}

// Readable is the text as people read it: without mentions of the bot, with
// names instead of ids where they are known, and with links written out.
func (r *Reader) Readable(text string, by Spelling) string {
	var out strings.Builder
	for {
		at := token.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		out.WriteString(entities.Replace(text[:at[0]]))
		inner := text[at[2]:at[3]]
		text = text[at[1]:]
		if user, _, _ := strings.Cut(inner, "|"); user == "@"+r.BotUser {
			text = strings.TrimPrefix(text, " ")
			continue
		}
		out.WriteString(entities.Replace(by.spelled(inner)))
	}
	out.WriteString(entities.Replace(text))
	return strings.TrimSpace(out.String())
}

// spelled is what stands between "<" and ">".
func (by Spelling) spelled(inner string) string {
	id, label, _ := strings.Cut(inner, "|")
	switch {
	case id == "":
		return "<" + inner + ">"
	case id[0] == '@' && label != "":
		return "@" + strings.TrimPrefix(label, "@")
	case id[0] == '@':
		return "@" + by.Name(id[1:])
	case id[0] == '#':
		return by.Channel(id[1:], label)
	case id[0] == '!':
		return special(id[1:], label)
	case label == "" || bare(label) == bare(id):
		return strings.TrimPrefix(id, "mailto:")
	}
	return label + " (" + id + ")"
}

// special is a group, a broadcast or a date.
func special(id, label string) string {
	if label != "" {
		return label
	}
	word, rest, _ := strings.Cut(id, "^")
	if word == "subteam" {
		return "@" + rest
	}
	return "@" + word
}

// bare is an address without what a label leaves out.
func bare(address string) string {
	for _, scheme := range []string{"mailto:", "https://", "http://"} {
		address = strings.TrimPrefix(address, scheme)
	}
	return strings.TrimSuffix(address, "/")
}

// TimeOf is the time in a timestamp, zero for what is none.
func TimeOf(ts string) time.Time {
	secs, micros, _ := strings.Cut(ts, ".")
	sec, err := strconv.ParseInt(secs, 10, 64)
	if err != nil || sec <= 0 || sec > 1<<40 {
		return time.Time{}
	}
	us, err := strconv.ParseInt((micros + "000000")[:6], 10, 64)
	if err != nil || us < 0 {
		us = 0
	}
	return time.Unix(sec, us*1000).UTC()
}

// StampOf is a time as a timestamp.
func StampOf(t time.Time) string {
	us := t.UnixMicro()
	digits := strconv.FormatInt(us%1e6, 10)
	return strconv.FormatInt(us/1e6, 10) + "." + strings.Repeat("0", 6-len(digits)) + digits
}

var slackID = regexp.MustCompile(`^[UWS][A-Z0-9]{1,20}$`)

// IDOf is the id of a person or a user group of Slack's that a principal names,
// empty for everybody else.
func IDOf(principal string) string {
	id, is := strings.CutPrefix(principal, Platform+":")
	if !is || !slackID.MatchString(id) {
		return ""
	}
	return id
}

// PersonOf is the same for people alone.
func PersonOf(principal string) string {
	if id := IDOf(principal); !IsGroup(id) {
		return id
	}
	return ""
}

// IsGroup reports whether an id is that of a user group.
func IsGroup(id string) bool { return strings.HasPrefix(id, "S") }
