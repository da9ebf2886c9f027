package intake

import (
	"context"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// hint takes in what somebody who may decide it says under the oldest question
// of a run that is stuck: it tries again, and knows how.
func (h decider) hint(ctx context.Context, r agent.Run, text string, files []agent.Attachment) (a bot.Answer, is bool, err error) {
	check, asks := h.question(r)
	if !asks || !runs.Hinted(check) || text == "" && len(files) == 0 {
		return bot.Answer{}, false, nil
	}
	if text != "" && len(files) == 0 && runs.Vague(check, text) {
		return bot.Answer{Run: r.ID, Private: "Did you mean to decide? Then press a button of the question, or say what I should do differently."}, true, nil
	}
	if len(files) == 0 {
		a, err := h.decide(ctx, check.ID, agent.CheckpointDecided{Decision: agent.DecideRetry, Text: text})
		return a, true, err
	}
	said := agent.PersonSaid{Text: text, Files: files}
	if err := h.wrote(h.cfg.Desk.Unstick(ctx, h.in.By, check.ID, said, h.dedupe)); err != nil {
		return bot.Answer{}, true, &undecidedError{check.ID, err}
	}
	return h.marked(r.ID, "Noted."), true, nil
}
