package authority

import (
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// The audience of an approval is the reviewers only while they are asked.
func TestAudienceOfAReview(t *testing.T) {
	a := Authority{Approvers: []string{"slack:U5"}}
	r := bottest.UnderReview(t, agent.RunStarted{})
	if got := a.Audience(r, agent.CheckApproval); len(got) != 2 || got[0] != "slack:U8" || got[1] != "slack:S3" {
		t.Errorf("the audience is %v", got) // without the requester: four eyes
	}
	r = bottest.More(r, bottest.On(agent.Main, agent.CheckpointDecided{ID: r.Review().ID, Decision: agent.DecideApprove, By: "slack:U8"}))
	if got := a.Audience(r, agent.CheckApproval); len(got) != 1 || got[0] != "slack:U5" {
		t.Errorf("afterwards it is %v", got)
	}
}
