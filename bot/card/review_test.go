package card

import (
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

func TestReviewCards(t *testing.T) {
	r := bottest.UnderReview(t, agent.RunStarted{})
	a := authority.Authority{Approvers: []string{"slack:U5"}, RequesterMayApprove: true}
	bottest.Golden(t, "check-review", Question(r, *r.Review(), bottest.TaleBegin, a.Audience))
	bottest.Golden(t, "remind-review", Reminder(r, *r.Review(), bottest.TaleBegin.Add(12*time.Hour), a.Audience))
	c := *r.Review()
	for word, name := range map[string]string{agent.DecideDeny: "closed-review-denied", agent.DecideExpired: "closed-review-expired"} {
		by := map[string]string{agent.DecideDeny: "slack:U8", agent.DecideExpired: agent.DecideExpired}[word]
		after := bottest.More(r, bottest.On(agent.Main, agent.CheckpointDecided{ID: c.ID, Decision: word, By: by, Text: map[string]string{agent.DecideDeny: "the total is wrong"}[word]}))
		bottest.Golden(t, name, Closed(after, after.Checks[c.ID]))
	}
}
