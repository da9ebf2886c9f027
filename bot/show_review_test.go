package bot

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// underReview is a run whose results wait for the reviewers.
func underReview(t *testing.T, brief agent.RunStarted) agent.Run {
	t.Helper()
	brief.Slots, brief.Reviewers, brief.Expires = 4, []string{"slack:U8", "slack:S3", "slack:U1"}, 24*time.Hour
	r := told(brief, on(agent.Main, talePlan), starts("count"), ends("count", agent.TaskDone, "12 folders"),
		starts("prices"), ends("prices", agent.TaskDone, "found"), starts("write"),
		on("task/write", agent.TaskEnded{Task: "write", State: agent.TaskDone, Summary: "The table is there. @here <!channel>", Confidence: 0.9,
			Outputs: []agent.Output{{Name: "report", Value: json.RawMessage(`"x"`), File: "out/REPORT.md"}}}))
	for _, step := range r.Next(agent.Main).Steps {
		if d, is := step.(agent.Decide); is {
			r = more(r, d.Events...)
		}
	}
	if r.Review() == nil {
		t.Fatalf("no review is open: %+v", r.Next(agent.Main))
	}
	return r
}

func TestReviewCards(t *testing.T) {
	r := underReview(t, agent.RunStarted{})
	a := Authority{Approvers: []string{"slack:U5"}, RequesterMayApprove: true}
	golden(t, "check-review", CheckCard(r, *r.Review(), taleBegin, a.Audience))
	golden(t, "remind-review", RemindCard(r, *r.Review(), taleBegin.Add(12*time.Hour), a.Audience))
	c := *r.Review()
	for word, name := range map[string]string{agent.DecideDeny: "closed-review-denied", agent.DecideExpired: "closed-review-expired"} {
		by := map[string]string{agent.DecideDeny: "slack:U8", agent.DecideExpired: agent.DecideExpired}[word]
		after := more(r, on(agent.Main, agent.CheckpointDecided{ID: c.ID, Decision: word, By: by, Text: map[string]string{agent.DecideDeny: "the total is wrong"}[word]}))
		golden(t, name, ClosedCard(after, after.Checks[c.ID]))
	}
}

// A review is for the reviewers alone, at every door: not for the approvers,
// the operators or whoever has the command line.
func TestWhoReviews(t *testing.T) {
	for _, tt := range []struct {
		name string
		a    Authority
		by   Person
		want bool
	}{
		{"a reviewer", Authority{}, person("slack:U8"), true},
		{"a guest who is named", Authority{}, Person{ID: "slack:U8"}, true},
		{"a member of a reviewing group", Authority{}, Person{ID: "slack:U9", Also: []string{"slack:S3"}}, true},
		{"an approver", Authority{Approvers: []string{"slack:U5"}, RequesterMayApprove: true}, person("slack:U5"), false},
		{"an operator", Authority{Operators: []string{"slack:U7"}}, person("slack:U7"), false},
		{"the command line", Authority{}, person(Terminal), false},
		{"a bot of the name", Authority{AllowBots: []string{"slack:U8"}}, Person{ID: "slack:U8", Bot: true}, false},
		{"a requester who is named", Authority{RequesterMayApprove: true}, person("slack:U1"), true},
		{"a requester who is named, four eyes", Authority{}, person("slack:U1"), false},
		{"the same id elsewhere", Authority{}, person("discord:U8"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := underReview(t, agent.RunStarted{})
			d, m := open(t, tt.a)
			id, err := d.Start(t.Context(), r.Brief)
			if err != nil {
				t.Fatal(err)
			}
			m.happen(t, id, agent.Main, talePlan)
			for _, task := range talePlan.Plan.Tasks {
				m.happen(t, id, agent.Main, agent.TaskStarted{Task: task.ID})
				m.happen(t, id, agent.TaskStrand(task.ID), agent.TaskEnded{Task: task.ID, State: agent.TaskDone})
			}
			r, err = d.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range r.Next(agent.Main).Steps {
				if then, is := step.(agent.Decide); is {
					m.happen(t, id, agent.Main, then.Events[0].Body)
				}
			}
			r, err = d.Load(t.Context(), id)
			if err != nil || r.Review() == nil {
				t.Fatalf("no review is open: %v", err)
			}
			err = d.Decide(t.Context(), tt.by, agent.CheckpointDecided{ID: r.Review().ID, Decision: agent.DecideApprove})
			if tt.want && err != nil || !tt.want && !errors.Is(err, ErrNotAllowed) {
				t.Errorf("deciding: %v", err)
			}
		})
	}
}

// The audience of an approval is the reviewers only while they are asked.
func TestAudienceOfAReview(t *testing.T) {
	a := Authority{Approvers: []string{"slack:U5"}}
	r := underReview(t, agent.RunStarted{})
	if got := a.Audience(r, agent.CheckApproval); len(got) != 2 || got[0] != "slack:U8" || got[1] != "slack:S3" {
		t.Errorf("the audience is %v", got) // without the requester: four eyes
	}
	r = more(r, on(agent.Main, agent.CheckpointDecided{ID: r.Review().ID, Decision: agent.DecideApprove, By: "slack:U8"}))
	if got := a.Audience(r, agent.CheckApproval); len(got) != 1 || got[0] != "slack:U5" {
		t.Errorf("afterwards it is %v", got)
	}
}
