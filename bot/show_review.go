package bot

import "github.com/deckhand-bot/deckhand/agent"

// results is what the reviewers are to decide about: what was delivered, with
// its files and with what the model itself thinks of it, which decides nothing.
func results(c agent.Checkpoint) []Part {
	parts := append([]Part{Prose{"**Delivered**"}}, detail(c)...)
	return append(parts, Small{"Only a reviewer may decide. Deny and say why: a new plan is made with those words."})
}

// reviewing reports whether an approval of the run is its review.
func reviewing(r agent.Run, ask agent.CheckpointKind) bool {
	return ask == agent.CheckApproval && r.Review() != nil
}

// lapse is what becomes of the question when nobody decides in time.
func lapse(c agent.Checkpoint) string {
	if c.Review {
		return "the run ends as not reviewed"
	}
	return expired[c.Ask]
}
