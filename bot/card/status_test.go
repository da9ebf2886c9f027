package card

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/text"
)

func TestStatus(t *testing.T) {
	plan := agent.PlanAccepted{Plan: agent.Plan{Tasks: []agent.Task{{ID: "a"}, {ID: "b"}}}}
	cost := agent.Nano(50_000_000)
	started := func(bodies ...agent.Body) agent.Run {
		r := bottest.Asked()
		for _, b := range bodies {
			r = r.Apply(agent.Event{Run: bottest.AskedRun, Strand: agent.Main, Seq: r.Seq + 1, At: bottest.Noon, Body: b})
		}
		return r
	}
	zero := agent.Nano(0)
	base := Status{Run: bottest.AskedRun, Goal: "count the lines", State: agent.RunRunning, Started: bottest.Noon, Cost: &zero}
	for _, tt := range []struct {
		name   string
		run    agent.Run
		change func(s *Status)
	}{
		{"begun", started(), func(*Status) {}},
		{"with a plan", started(plan, agent.TaskEnded{Task: "a", State: agent.TaskDone}), func(s *Status) { s.Tasks = Progress{1, 2} }},
		{"after a call", started(agent.ModelAsked{Call: "x"}, agent.ModelAnswered{Call: "x", Cost: &cost, Prompt: 100, Completion: 20}),
			func(s *Status) { s.Cost, s.Tokens = &cost, 120 }},
		{"without a price", started(agent.ModelAsked{Call: "x"}, agent.ModelAnswered{Call: "x", Prompt: 100}),
			func(s *Status) { s.Cost, s.Tokens = nil, 100 }},
		{"waiting", started(bottest.Approval), func(s *Status) {
			s.State, s.WaitingFor = agent.RunWaiting, "approval "+string(bottest.Approval.ID)+": May I?"
			s.Waits = "waits for an approval: May I?"
		}},
		{"paused", started(agent.RunControlled{Word: agent.WordPause, By: "slack:U1"}), func(s *Status) {
			s.State, s.WaitingFor = agent.RunPaused, "resume (paused by slack:U1)"
			s.Waits = "paused by " + bot.Mention("slack:U1")
		}},
		{"refused", started(agent.ModelAsked{Call: "x"}, agent.ModelAnswered{Call: "x", Error: "model: no key", Refused: true, Cost: &zero}),
			func(s *Status) {
				s.State, s.WaitingFor = agent.RunPaused, "model: no key"
				s.Waits = "paused: the model refuses my key, or is not there by this name"
			}},
		{"ended with a question open", started(bottest.Approval, agent.RunEnded{State: agent.RunCancelled}),
			func(s *Status) { s.State = agent.RunCancelled }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := base
			tt.change(&want)
			if diff := cmp.Diff(want, StatusOf(tt.run)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// `status --json` has these fields in every state (CONTRACT.md).
func TestStatusInJSON(t *testing.T) {
	data, err := json.Marshal(Status{Run: bottest.AskedRun})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"run":"` + bottest.AskedRun + `","goal":"","state":"","waiting_for":"","started":"0001-01-01T00:00:00Z","tasks":{"done":0,"total":0},"cost_usd":null,"tokens":0}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}

// Who cancelled a run, and when, is told from then on: before it has ended, and
// however it stood.
func TestStatusOfACancelledRun(t *testing.T) {
	cancel := bottest.On(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: "slack:U5", Reason: "not *now*"})
	ask := bottest.AsksFor(agent.Main, agent.CheckpointOpened{Ask: agent.CheckPlan, Title: "May I?", Choices: []string{agent.DecideCancel}})
	for name, r := range map[string]agent.Run{
		"at work":             bottest.More(bottest.AtWork(agent.RunStarted{}), cancel),
		"paused":              bottest.Told(agent.RunStarted{}, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordPause, By: "slack:U1"}), cancel),
		"without its model":   bottest.Told(agent.RunStarted{}, bottest.Thinks(agent.Main, 1, "intake"), bottest.On(agent.Main, agent.ModelAnswered{Call: "main.1", Refused: true, Error: "no key"}), cancel),
		"at a question":       bottest.Told(agent.RunStarted{}, ask, bottest.Decided(agent.DecideCancel, "not *now*")),
		"once it has ended":   bottest.Told(agent.RunStarted{}, cancel, bottest.On(agent.Main, agent.RunEnded{State: agent.RunCancelled, Reason: "cancelled by slack:U5"})),
		"cancelled once more": bottest.Told(agent.RunStarted{}, cancel, bottest.On(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: "slack:U1"})),
	} {
		want := "cancelled by " + bot.Mention("slack:U5") + ", " + text.Moment(r.Stopped) + ": not \\*now\\*"
		if s := StatusOf(r); s.State != agent.RunCancelled || s.Waits != want || r.Stopped.IsZero() {
			t.Errorf("%s: %s, %q; want %q", name, s.State, s.Waits, want)
		}
		if card := bottest.Drawn(Standing(r, bottest.TaleBegin)); !strings.Contains(card, " by @slack:U5, 2 Mar 12:") || !strings.Contains(card, "UTC: not \\*now\\*") {
			t.Errorf("%s: the card does not say who and when:\n%s", name, card)
		}
	}
}
