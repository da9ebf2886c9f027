package slack

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// named is a plain text with people's names.
func (d drawing) named(text string) string { return bot.Unmention(text, d.name) }

// markdown is Markdown with people's names, in which nothing notifies anybody.
func (d drawing) markdown(text string) string {
	return markdownWithoutPings(bot.Unmention(text, func(p string) string { return escapeMarkdown(d.name(p)) }))
}

// pieces is Markdown in Slack's own markup.
func (d drawing) pieces(text string) []string {
	if !d.edit {
		return mrkdwn(bot.Unmention(text, func(p string) string { return escapeMarkdown(d.name(p)) }))
	}
	return mrkdwn(text)
}

// people puts those in who are still marks in mrkdwn: after everything was cut.
func (d drawing) people(text string) string {
	return bot.Unmention(text, func(p string) string {
		if id := mention(p); id != "" && d.edit {
			return id
		}
		return escape(d.name(p))
	})
}

// line is a plain text as mrkdwn, with people's names.
func (d drawing) line(text string, most int) string {
	return escape(format.Cut(d.named(text), most))
}

// escapeMarkdown is a text that Markdown shows as it stands.
func escapeMarkdown(s string) string {
	return strings.NewReplacer("\\", "\\\\", "*", "\\*", "_", "\\_", "`", "\\`", "[", "\\[", "]", "\\]", "&", "\\&",
		"<", "\\<", ">", "\\>", "#", "\\#", "|", "\\|", "~", "\\~", "\n", " ").Replace(s)
}

var slackID = regexp.MustCompile(`^[UWS][A-Z0-9]{1,20}$`)

// mention is what notifies a principal, empty for those who are not of Slack.
func mention(principal string) string {
	id, is := strings.CutPrefix(principal, Platform+":")
	switch {
	case !is || !slackID.MatchString(id):
		return ""
	case id[0] == 'S':
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
func (d drawing) fallback(c bot.Card) string {
	text := c.Text
	if strings.TrimSpace(text) == "" {
		text = strings.TrimSpace(bot.Markdown(c))
	}
	if text == "" {
		text = "Deckhand"
	}
	line := mentionLine(c.Mentions)
	if line == "" || d.edit {
		return pack([]string{d.line(text, maxText/2)}, maxText)[0]
	}
	return line + " " + pack([]string{d.line(text, maxText/2)}, maxText-len(line)-1)[0]
}

// bare is the card without blocks, for a workspace that takes none: its buttons
// are named, since their words can be written in the thread instead.
func (d drawing) bare(c bot.Card) string {
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
	if line := mentionLine(c.Mentions); line != "" && !d.edit {
		pieces = append([]string{line}, pieces...)
	}
	if d.more != "" {
		end = "\n\nThe whole text is in the file " + d.more + end
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
