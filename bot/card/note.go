package card

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What a colleague suggests who may not steer a run: their words as a whole, and
// a button for those who may.

// Note is a colleague's suggestion to the run: pressing its button, whose word is
// given, makes the words steering.
func Note(r agent.Run, n agent.Note, steerers []string, word string) bot.Card {
	who := bot.Mention(n.By)
	c := bot.Card{Key: bot.Key{Run: r.ID, Kind: agent.PostAnswer}, Text: who + " has a note for this run", Parts: []bot.Part{
		bot.Prose{Markdown: "**" + who + "** suggests:\n\n" + wholeQuote(n.Text)},
		bot.Small{Markdown: "Only " + bot.Mentions(steerers, "or") + " may steer this run. Pressing tells the run these words, in both your names."},
	}}
	return with(c, []bot.Button{{Label: "Use " + who + "'s note", Style: bot.StylePrimary, Act: bot.ActUse, ID: string(r.ID), Word: word}})
}

// NoteUsed is what stays of a suggestion once somebody has made it steering.
func NoteUsed(r agent.Run, n agent.Note, by string) bot.Card {
	who := bot.Mention(n.By)
	return bot.Card{Key: bot.Key{Run: r.ID, Kind: agent.PostAnswer}, Text: who + "'s note is used", Parts: []bot.Part{
		bot.Prose{Markdown: "**" + who + "** suggested:\n\n" + wholeQuote(n.Text)},
		bot.Small{Markdown: "**Used** by " + bot.Mention(by) + ": it counts before the next step"},
	}}
}

// wholeQuote is somebody's text of several lines as it stands.
func wholeQuote(s string) string {
	lines := strings.Split(strings.TrimSpace(text.Safe(s)), "\n")
	for i, line := range lines {
		lines[i] = "> " + text.Escape(line)
	}
	return strings.Join(lines, text.NextLine)
}
