package runs

import (
	"errors"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// A review is for the reviewers alone, at every door: not for the approvers,
// the operators or whoever has the command line.
func TestWhoReviews(t *testing.T) {
	for _, tt := range []struct {
		name string
		a    authority.Authority
		by   bot.Person
		want bool
	}{
		{"a reviewer", authority.Authority{}, person("slack:U8"), true},
		{"a guest who is named", authority.Authority{}, bot.Person{ID: "slack:U8"}, true},
		{"a member of a reviewing group", authority.Authority{}, bot.Person{ID: "slack:U9", Also: []string{"slack:S3"}}, true},
		{"an approver", authority.Authority{Approvers: []string{"slack:U5"}, RequesterMayApprove: true}, person("slack:U5"), false},
		{"an operator", authority.Authority{Operators: []string{"slack:U7"}}, person("slack:U7"), false},
		{"the command line", authority.Authority{}, person(bot.Terminal), false},
		{"a bot of the name", authority.Authority{AllowBots: []string{"slack:U8"}}, bot.Person{ID: "slack:U8", Bot: true}, false},
		{"a requester who is named", authority.Authority{RequesterMayApprove: true}, person("slack:U1"), true},
		{"a requester who is named, four eyes", authority.Authority{}, person("slack:U1"), false},
		{"the same id elsewhere", authority.Authority{}, person("discord:U8"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := bottest.UnderReview(t, agent.RunStarted{})
			d, m := open(t, tt.a)
			id, err := d.Start(t.Context(), r.Brief)
			if err != nil {
				t.Fatal(err)
			}
			m.Happen(t, id, agent.Main, bottest.TalePlan)
			for _, task := range bottest.TalePlan.Plan.Tasks {
				m.Happen(t, id, agent.Main, agent.TaskStarted{Task: task.ID})
				m.Happen(t, id, agent.TaskStrand(task.ID), agent.TaskEnded{Task: task.ID, State: agent.TaskDone})
			}
			r, err = d.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			for _, step := range r.Next(agent.Main).Steps {
				if then, is := step.(agent.Decide); is {
					m.Happen(t, id, agent.Main, then.Events[0].Body)
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
