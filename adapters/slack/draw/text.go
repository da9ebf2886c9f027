package draw

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// Named is a plain text with people's names.
func (d Drawing) Named(text string) string { return bot.Unmention(text, d.Name) }

// markdown is Markdown with people's names, in which nothing notifies anybody.
func (d Drawing) markdown(text string) string {
	return markdownWithoutPings(bot.Unmention(text, func(p string) string { return escapeMarkdown(d.Name(p)) }))
}

// pieces is Markdown in Slack's own markup.
func (d Drawing) pieces(text string) []string {
	if !d.Edit {
		return mrkdwn(bot.Unmention(text, func(p string) string { return escapeMarkdown(d.Name(p)) }))
	}
	return mrkdwn(text)
}

// people puts those in who are still marks in mrkdwn: after everything was cut.
func (d Drawing) people(text string) string {
	return bot.Unmention(text, func(p string) string {
		if id := mention(p); id != "" && d.Edit {
			return id
		}
		return escape(d.Name(p))
	})
}

// line is a plain text as mrkdwn, with people's names.
func (d Drawing) line(text string, most int) string {
	return escape(format.Cut(d.Named(text), most))
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
	if line == "" || d.Edit {
		return pack([]string{d.line(text, maxText/2)}, maxText)[0]
	}
	return line + " " + pack([]string{d.line(text, maxText/2)}, maxText-len(line)-1)[0]
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
