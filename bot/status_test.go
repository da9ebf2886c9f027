package bot

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestStatus(t *testing.T) {
	plan := agent.PlanAccepted{Plan: agent.Plan{Tasks: []agent.Task{{ID: "a"}, {ID: "b"}}}}
	cost := agent.Nano(50_000_000)
	started := func(bodies ...agent.Body) agent.Run {
		r := asked()
		for _, b := range bodies {
			r = r.Apply(agent.Event{Run: run, Strand: agent.Main, Seq: r.Seq + 1, At: noon, Body: b})
		}
		return r
	}
	zero := agent.Nano(0)
	base := Status{Run: run, Goal: "count the lines", State: agent.RunRunning, Started: noon, Cost: &zero}
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
		{"waiting", started(approval), func(s *Status) {
			s.State, s.WaitingFor = agent.RunWaiting, "approval "+string(approval.ID)+": May I?"
			s.Waits = "waits for an approval: May I? (`" + string(approval.ID) + "`)"
		}},
		{"paused", started(agent.RunControlled{Word: agent.WordPause, By: "slack:U1"}), func(s *Status) {
			s.State, s.WaitingFor = agent.RunPaused, "resume (paused by slack:U1)"
			s.Waits = "paused by " + Mention("slack:U1")
		}},
		{"refused", started(agent.ModelAsked{Call: "x"}, agent.ModelAnswered{Call: "x", Error: "model: no key", Refused: true, Cost: &zero}),
			func(s *Status) {
				s.State, s.WaitingFor = agent.RunPaused, "model: no key"
				s.Waits = "the model refuses its configuration: model: no key"
			}},
		{"ended with a question open", started(approval, agent.RunEnded{State: agent.RunCancelled}),
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
	data, err := json.Marshal(Status{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"run":"` + run + `","goal":"","state":"","waiting_for":"","started":"0001-01-01T00:00:00Z","tasks":{"done":0,"total":0},"cost_usd":null,"tokens":0}`
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
}

// One damaged journal does not hide the others.
func TestListOfDamagedRuns(t *testing.T) {
	m := opened(t)
	good, damaged := m.begun(requester, 1), m.begun(requester, 2)
	for _, run := range []agent.RunID{good, damaged} {
		m.happen(t, run, "task/a", approval)
	}
	m.damaged = damaged
	list, err := ListRuns(t.Context(), m.desk)
	if err != nil || len(list) != 2 {
		t.Fatalf("list %+v, %v", list, err)
	}
	slices.SortFunc(list, func(a, b Status) int { return strings.Compare(a.Problem, b.Problem) })
	if list[0].Run != good || list[0].State != agent.RunRunning {
		t.Errorf("the good run is %+v", list[0])
	}
	if list[1].Run != m.damaged || !strings.Contains(list[1].Problem, "entry 2") || list[1].Started.IsZero() {
		t.Errorf("the damaged run is %+v", list[1])
	}
}
