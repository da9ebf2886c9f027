package draw

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// Named is a plain text with people's names.
func (d Drawing) Named(text string) string { return bot.Unmention(text, d.Name) }

// dates are the formats of Slack's dates: each reader sees them in their own
// zone and language.
var dates = map[bot.MomentForm]string{
	bot.MomentShort: "{date_short_pretty} at {time}", bot.MomentDay: "{date_long_pretty} at {time}", bot.MomentClock: "{time_secs}",
}

// refersOn reports whether a text refers to moments or places: only mrkdwn shows
// them as each reader sees them.
func refersOn(text string) bool {
	found := false
	bot.Refer(text, func(r bot.Ref) string {
		found = found || r.Person == ""
		return ""
	})
	return found
}

// native is a moment or a place in mrkdwn: a thread with a link to it.
func (d Drawing) native(r bot.Ref) string {
	if r.Place.ID != "" && d.Link != nil {
		if link := d.Link(r.Place); link != "" {
			r.Place.ID = ""
			return "<" + link + "|thread> in " + d.native(r)
		}
	}
	switch {
	case !r.At.IsZero():
		return "<!date^" + strconv.FormatInt(r.At.Unix(), 10) + "^" + cmp.Or(dates[r.Form], dates[bot.MomentShort]) + "|" + r.Plain() + ">"
	case r.Place.Platform == wire.Platform && strings.HasPrefix(r.Place.Channel, "D"):
		return "a direct conversation"
	case r.Place.Platform == wire.Platform:
		return "<#" + escape(r.Place.Channel) + ">"
	}
	return escape(r.Plain())
}

// markdown is Markdown with people's names, in which nothing notifies anybody.
func (d Drawing) markdown(text string) string {
	return markdownWithoutPings(bot.Unmention(text, func(p string) string { return escapeMarkdown(d.Name(p)) }))
}

// pieces is Markdown in Slack's own markup.
func (d Drawing) pieces(text string) []string {
	if !d.Edit {
		text = bot.Refer(text, func(r bot.Ref) string {
			if r.Person == "" {
				return r.Mark()
			}
			return escapeMarkdown(d.Name(r.Person))
		})
	}
	return mrkdwn(text)
}

// people puts those in who are still marks in mrkdwn: after everything was cut.
func (d Drawing) people(text string) string {
	return bot.Refer(text, func(r bot.Ref) string {
		if r.Person == "" {
			return d.native(r)
		}
		if id := mention(r.Person); id != "" && d.Edit {
			return id
		}
		return escape(d.Name(r.Person))
	})
}

// line is a plain text as mrkdwn, with people's names.
func (d Drawing) line(text string, most int) string {
	text = bot.Refer(text, func(r bot.Ref) string {
		if r.Person == "" {
			return r.Mark()
		}
		return d.Name(r.Person)
	})
	cut := format.Cut(text, most)
	if i := strings.LastIndex(cut, string(agent.MentionOpen)); i > strings.LastIndex(cut, string(agent.MentionClose)) {
		cut = strings.TrimRight(cut[:i], " ") + "…" // never within a reference
	}
	return d.people(escape(cut))
}

// escapeMarkdown is a text that Markdown shows as it stands.
func escapeMarkdown(s string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "&", "\\&",
		"<", "\\<", ">", "\\>", "#", "\\#", "|", "\\|", "~", "\\~", "\n", " ").Replace(s)
}

// mention is what notifies a principal, empty for those who are not of Slack.
func mention(principal string) string {
	id := wire.IDOf(principal)
	switch {
	case id == "":
		return ""
	case wire.IsGroup(id):
		return "<!subteam^" + id + ">"
	}
	return "<@" + id + ">"
}

// mentionLine notifies the principals.
func mentionLine(principals []string) string {
	var list []string
	for _, p := range principals {
		if m := mention(p); m != "" && len(list) < maxMentions {
			list = append(list, m)
		}
	}
	return strings.Join(list, " ")
}

// fallback is the card in one line: what a notification shows.
func (d Drawing) fallback(c bot.Card) string {
	text := c.Text
	if strings.TrimSpace(text) == "" {
		text = strings.TrimSpace(bot.Markdown(c))
	}
	if text == "" {
		text = "Deckhand"
	}
	line := mentionLine(c.Mentions)
	text = escape(format.Cut(d.Named(text), maxText/2))
	if line == "" || d.Edit {
		return pack([]string{text}, maxText)[0]
	}
	return line + " " + pack([]string{text}, maxText-len(line)-1)[0]
}

// Bare is the card without blocks, for a workspace that takes none: its buttons
// are named, since their words can be written in the thread instead.
func (d Drawing) Bare(c bot.Card) string {
	pieces := d.pieces(bot.Markdown(c))
	var words []string
	for _, p := range c.Parts {
		if b, is := p.(bot.Buttons); is {
			for _, button := range b.List {
				words = append(words, d.line(button.Label, maxLabel))
			}
		}
	}
	end := ""
	if len(words) > 0 {
		end = format.Cut("\n\nAnswer here: "+strings.Join(words, ", "), maxText)
	}
	if line := mentionLine(c.Mentions); line != "" && !d.Edit {
		pieces = append([]string{line}, pieces...)
	}
	if d.More != "" {
		end = "\n\nThe whole text is in the file " + d.More + end
	}
	texts := pack(pieces, maxBare-utf8.RuneCountInString(end))
	if len(texts) == 0 {
		return d.fallback(c) + end
	}
	return d.people(texts[0]) + end
}

// sizeOf is the length of blocks as JSON, in characters, each "<", ">" and "&"
// counted once. Slack counts less: their texts.
func sizeOf(blocks []slackapi.Block) int {
	raw, err := json.Marshal(blocks)
	if err != nil {
		return maxAll + 1 // cannot be sent, so it does not fit; there are no such blocks here
	}
	for _, sign := range []string{`\u003c`, `\u003e`, `\u0026`} {
		raw = bytes.ReplaceAll(raw, []byte(sign), []byte("."))
	}
	return utf8.RuneCount(raw)
}
