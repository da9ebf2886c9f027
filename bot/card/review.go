package card

import (
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// reviewParts is what the reviewers are to decide about: what was delivered, with
// its files and with what the model itself thinks of it, which decides nothing.
func reviewParts(c agent.Checkpoint) []bot.Part {
	parts := append([]bot.Part{bot.Prose{Markdown: "**Delivered**"}}, detail(c)...)
	return append(parts, bot.Small{Markdown: "Only a reviewer may decide. Deny and say why: a new plan is made with those words."})
}

// OnExpiry is what becomes of the question when nobody decides in time.
func OnExpiry(c agent.Checkpoint) string {
	if c.Review {
		return "the run ends as not reviewed"
	}
	return expired[c.Ask]
}
