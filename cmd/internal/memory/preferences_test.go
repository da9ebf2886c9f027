package memory

import (
	"slices"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

// The better rated report of a goal is chosen over each of the others; without a
// difference nobody preferred anything.
func TestPreferences(t *testing.T) {
	t.Parallel()
	journal := func(run agent.RunID, goal, body string, ratings ...int) []agent.Event {
		list := []agent.Event{{Run: run, Body: agent.RunStarted{Goal: goal, ReplyTo: "slack:T1:C1:1"}}, {Run: run, Body: agent.Reported{Headline: "so", Body: body}}}
		for i, r := range ratings {
			list = append(list, agent.Event{Run: run, Body: agent.Feedback{Rating: r, By: string(rune('a' + i)), Comment: "because"}})
		}
		return list
	}
	goals := map[string][]attempt{}
	for _, events := range [][]agent.Event{
		journal("r1", "Count the files", "three", -1), journal("r2", "count the  files.", "four", 1, 1), journal("r3", "Count the files", "none"),
		journal("r4", "Count the files", "four", 0), journal("r5", "Something else", "x", 1),
	} {
		name, a := attemptOf(events)
		goals[name] = append(goals[name], a)
	}
	if len(goals) != 2 {
		t.Fatalf("%d goals", len(goals))
	}
	var got []preference
	for _, tried := range goals {
		got = append(got, pairs(tried)...)
	}
	slices.SortFunc(got, func(a, b preference) int { return len(a.RejectedRun) - len(b.RejectedRun) })
	if len(got) != 2 || got[0].ChosenRun != "r2" || got[0].ChosenRating != 2 || got[0].Chosen != "so\n\nfour" || got[0].ChosenComment != "because" {
		t.Errorf("%+v", got)
	}
	for _, p := range got {
		if p.RejectedRun != "r1" && p.RejectedRun != "r3" {
			t.Errorf("rejected is %+v", p)
		}
	}
}
