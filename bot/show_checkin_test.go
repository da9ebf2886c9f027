package bot

import (
	"slices"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// What a check-in is not content with is one line of the card.
func TestCheckInsStandInTheCard(t *testing.T) {
	made := agent.CheckInMade{Verdict: agent.CheckInNudge, Reason: "the work goes *round* in circles",
		Ledger: &agent.Ledger{Verdict: agent.CheckInNudge, Evidence: []uint64{4}}}
	r := agent.Run{ID: "r1", Plan: agent.Plan{Tasks: []agent.Task{{ID: "a", Title: "Count lines"}}},
		Strands: map[agent.StrandID]agent.Strand{"task/a": {}}}
	for _, e := range r.FinishCheckIn("task/a", made, "think", time.Time{}).Events {
		if e.Body.Kind() == (agent.Finding{}).Kind() && !agent.Visible(e.Body) {
			t.Error("nobody would look at the card for it")
		}
		r = r.Apply(e)
	}
	want := Small{`Check-in on Count lines: the work goes \*round\* in circles`}
	if parts := LiveCard(r, time.Now()).Parts; !slices.Contains(parts, Part(want)) {
		t.Errorf("the card has %+v, want %+v among them", parts, want)
	}
}
