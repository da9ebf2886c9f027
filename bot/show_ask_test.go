package bot

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// A new plan says why it is made, and shows each task as it will be: what failed begins anew.
func TestProposalOfANewPlan(t *testing.T) {
	before := agent.Plan{Name: "Harbour", Tasks: []agent.Task{{ID: "a", Title: "Dredge"}, {ID: "b", Title: "Light"}, {ID: "c", Title: "Open"}}}
	r := told(agent.RunStarted{}, on(agent.Main, agent.PlanAccepted{Plan: before}), starts("a"), starts("b"),
		ends("a", agent.TaskDone, "deep"), ends("b", agent.TaskFailed, "no *lamp*"))
	again := agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "May I work by this plan?", Plan: &before, Choices: []string{agent.DecideApprove}}
	r = more(r, asksFor(agent.Main, again))
	parts := proposal(r, theCheck(r))
	var said strings.Builder
	states := map[string]agent.TaskState{}
	for _, p := range parts {
		said.WriteString(drawnPart(p) + "\n")
		if list, is := p.(Tasks); is {
			for _, i := range list.Items {
				states[i.ID] = i.State
			}
		}
	}
	want := map[string]agent.TaskState{"a": agent.TaskDone, "b": agent.TaskPending, "c": agent.TaskPending}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
	if want := "**Why a new plan**\n- “Light” failed: no \\*lamp\\*\n"; !strings.Contains(said.String(), want) {
		t.Errorf("the question does not say %q:\n%s", want, said.String())
	}
	first := told(agent.RunStarted{}, asksFor(agent.Main, again))
	for _, p := range proposal(first, theCheck(first)) {
		if strings.Contains(drawnPart(p), "Why a new plan") {
			t.Errorf("the first plan is no new one:\n%s", drawnPart(p))
		}
	}
}
