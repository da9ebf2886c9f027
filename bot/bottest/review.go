package bottest

// This file makes a run whose results wait for reviewers, so that the tests
// of several packages examine reviews on the same run.

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// UnderReview is a run whose results wait for the reviewers.
func UnderReview(t *testing.T, brief agent.RunStarted) agent.Run {
	t.Helper()
	brief.Slots, brief.Reviewers, brief.Expires = 4, []string{"slack:U8", "slack:S3", "slack:U1"}, 24*time.Hour
	r := Told(brief, On(agent.Main, TalePlan), Starts("count"), Ends("count", agent.TaskDone, "12 folders"),
		Starts("prices"), Ends("prices", agent.TaskDone, "found"), Starts("write"),
		On("task/write", agent.TaskEnded{Task: "write", State: agent.TaskDone, Summary: "The table is there. @here <!channel>", Confidence: 0.9,
			Outputs: []agent.Output{{Name: "report", Value: json.RawMessage(`"x"`), File: "out/REPORT.md"}}}))
	for _, step := range r.Next(agent.Main).Steps {
		if d, is := step.(agent.Decide); is {
			r = More(r, d.Events...)
		}
	}
	if r.Review() == nil {
		t.Fatalf("no review is open: %+v", r.Next(agent.Main))
	}
	return r
}
