package card

import (
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// reviewParts is what the reviewers are to decide about: what was delivered, with
// its files and with what the model itself thinks of it, which decides nothing.
func reviewParts(c agent.Checkpoint) []bot.Part {
	return append(delivered(c), bot.Small{Markdown: "Only reviewers can decide. If you deny, say why: I plan anew with your words."})
}

// delivered is what the reviewers look at.
func delivered(c agent.Checkpoint) []bot.Part {
	return append([]bot.Part{bot.Prose{Markdown: "**Delivered**"}}, detail(c)...)
}

// OnExpiry is what becomes of the question when nobody decides in time.
func OnExpiry(c agent.Checkpoint) string {
	if c.Review {
		return "the run ends without a review, and its result is not reported"
	}
	return expired[c.Ask]
}
