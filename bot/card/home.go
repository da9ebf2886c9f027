package card

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// The bot's own page: what waits for a person, the person's runs, money and
// settings.

// Home is what the bot's own page shows to one person.
type Home struct {
	Mine     []Status
	Pending  []Pending
	Month    []bot.Fact // spent this month: name and amount of its limit
	Settings []bot.Fact
}

// Pending is an open question that the person may decide.
type Pending struct {
	Run   agent.Run
	Check agent.Checkpoint
}

// maxPending is how many questions the page shows with their buttons.
const maxPending = 5

// HomePage is the bot's own page: what waits for the person, the person's
// runs, money and settings.
func HomePage(h Home, now time.Time) bot.Card {
	c := bot.Card{Text: "Deckhand"}
	c.Parts = append(c.Parts, bot.Heading{Text: "Waiting for you"})
	if len(h.Pending) == 0 {
		c.Parts = append(c.Parts, bot.Prose{Markdown: "Nothing."})
	}
	for _, p := range h.Pending[:min(len(h.Pending), maxPending)] {
		line := "**" + text.Escape(Title(p.Run, p.Check)) + "**" + text.NextLine + goalAndTask(p.Run, p.Check)
		if until := deadline(p.Check, now); until != "" {
			line += text.NextLine + until
		}
		c.Parts = append(c.Parts, bot.Prose{Markdown: line})
		if p.Check.Ask == agent.CheckApproval {
			c.Parts = append(append(c.Parts, changeBriefly(p.Check)...), origins(p.Check)...)
		}
		c = with(c, decisions(p.Check))
	}
	if more := len(h.Pending) - maxPending; more > 0 {
		c.Parts = append(c.Parts, bot.Small{Markdown: "and " + format.Count(more, "more question") + ", in their threads"})
	}
	c.Parts = append(c.Parts, bot.Heading{Text: "My runs"})
	if len(h.Mine) == 0 {
		c.Parts = append(c.Parts, bot.Prose{Markdown: "None yet."})
	} else {
		c.Parts = append(c.Parts, bot.Prose{Markdown: runLines(h.Mine, now)})
	}
	c = with(c, []bot.Button{{Label: "New goal", Style: bot.StylePrimary, Act: bot.ActStart}})
	for _, part := range []struct {
		head string
		list []bot.Fact
	}{{"This month", h.Month}, {"Settings", h.Settings}} {
		if len(part.list) > 0 {
			c.Parts = append(c.Parts, bot.Heading{Text: part.head}, bot.Facts{List: part.list})
		}
	}
	return c
}
