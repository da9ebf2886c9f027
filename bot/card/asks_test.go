package card

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// A new plan says why it is made, and shows each task as it will be: what failed begins anew.
func TestProposalOfANewPlan(t *testing.T) {
	before := agent.Plan{Name: "Harbour", Tasks: []agent.Task{{ID: "a", Title: "Dredge"}, {ID: "b", Title: "Light"}, {ID: "c", Title: "Open"}}}
	r := bottest.Told(agent.RunStarted{}, bottest.On(agent.Main, agent.PlanAccepted{Plan: before}), bottest.Starts("a"), bottest.Starts("b"),
		bottest.Ends("a", agent.TaskDone, "deep"), bottest.Ends("b", agent.TaskFailed, "no *lamp*"))
	again := agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "May I work by this plan?", Plan: &before, Choices: []string{agent.DecideApprove}}
	r = bottest.More(r, bottest.AsksFor(agent.Main, again))
	parts := planParts(r, bottest.TheCheck(r))
	var said strings.Builder
	states := map[string]agent.TaskState{}
	for _, p := range parts {
		said.WriteString(bottest.DrawnPart(p) + "\n")
		if list, is := p.(bot.Tasks); is {
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
	first := bottest.Told(agent.RunStarted{}, bottest.AsksFor(agent.Main, again))
	for _, p := range planParts(first, bottest.TheCheck(first)) {
		if strings.Contains(bottest.DrawnPart(p), "Why a new plan") {
			t.Errorf("the first plan is no new one:\n%s", bottest.DrawnPart(p))
		}
	}
}
