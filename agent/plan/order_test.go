package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func work(id agent.TaskID, effort, value float64, deps ...agent.TaskID) agent.Task {
	t := item(id, deps...)
	t.Effort, t.Value, t.Deliverable = effort, value, value > 0
	return t
}

func TestOrder(t *testing.T) {
	tests := []struct {
		name  string
		tasks []agent.Task
		done  map[agent.TaskID]bool
		want  []agent.TaskID
	}{
		{
			"value over the effort still ahead",
			[]agent.Task{work("a", 10, 0), work("big", 1, 8, "a"), work("b", 1, 0), work("small", 1, 4, "b")},
			nil,
			[]agent.TaskID{"b", "small", "a", "big"}, // 4/2 before 8/11
		},
		{
			"finished effort no longer counts",
			[]agent.Task{work("a", 10, 0), work("big", 1, 8, "a"), work("b", 1, 0), work("small", 1, 4, "b")},
			map[agent.TaskID]bool{"a": true},
			[]agent.TaskID{"big", "b", "small"}, // 8/1 before 4/2
		},
		{
			"longest remaining path inside one deliverable",
			[]agent.Task{work("a", 1, 0), work("b", 3, 0), work("c", 1, 0, "a"), work("d", 1, 5, "b", "c")},
			nil,
			[]agent.TaskID{"b", "a", "c", "d"},
		},
		{
			"ties by id",
			[]agent.Task{work("z", 1, 2), work("b", 1, 2), work("m", 1, 2)},
			nil,
			[]agent.TaskID{"b", "m", "z"},
		},
		{
			"what serves no deliverable comes last",
			[]agent.Task{work("idle", 9, 0), work("d", 1, 1)},
			nil,
			[]agent.TaskID{"d", "idle"},
		},
		{
			"without deliverables the ends count",
			[]agent.Task{work("a", 5, 0), work("b", 1, 0), work("c", 1, 0, "b")},
			nil,
			[]agent.TaskID{"b", "c", "a"},
		},
		{
			"a cycle ends the list and the search",
			[]agent.Task{work("b", 1, 1, "c"), work("c", 1, 1, "b"), work("a", 1, 1), work("d", 1, 1, "d")},
			nil,
			[]agent.TaskID{"a", "b", "c", "d"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, plan.Order(agent.Plan{Tasks: tt.tasks}, tt.done)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

type states = map[agent.TaskID]agent.TaskState

func TestReadyAndBlocked(t *testing.T) {
	p := agent.Plan{Tasks: []agent.Task{
		work("a", 1, 0), work("b", 1, 0), work("c", 1, 9, "a", "b"), work("d", 1, 1, "b"), work("e", 1, 1, "c"), work("f", 1, 1, "gone"),
	}}
	tests := []struct {
		name           string
		states         states
		ready, blocked []agent.TaskID
	}{
		{"start", nil, []agent.TaskID{"a", "b"}, []agent.TaskID{"f"}},
		{"running is not ready", states{"a": agent.TaskRunning, "b": agent.TaskPending}, []agent.TaskID{"b"}, []agent.TaskID{"f"}},
		{"half", states{"a": agent.TaskDone}, []agent.TaskID{"b"}, []agent.TaskID{"f"}},
		{"both", states{"a": agent.TaskDone, "b": agent.TaskDone}, []agent.TaskID{"c", "d"}, []agent.TaskID{"f"}},
		{"failure stops descendants only", states{"a": agent.TaskFailed, "b": agent.TaskDone}, []agent.TaskID{"d"}, []agent.TaskID{"c", "e", "f"}},
		{"skipped as well", states{"a": agent.TaskDone, "b": agent.TaskDone, "c": agent.TaskSkipped}, []agent.TaskID{"d"}, []agent.TaskID{"e", "f"}},
		{"what is done stays done", states{"a": agent.TaskFailed, "b": agent.TaskDone, "c": agent.TaskDone}, []agent.TaskID{"d", "e"}, []agent.TaskID{"f"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.ready, plan.Ready(p, tt.states)); diff != "" {
				t.Errorf("ready:\n%s", diff)
			}
			if diff := cmp.Diff(tt.blocked, plan.Blocked(p, tt.states)); diff != "" {
				t.Errorf("blocked:\n%s", diff)
			}
		})
	}
}

func TestLostDeliverablesLendNoPriority(t *testing.T) {
	p := agent.Plan{Tasks: []agent.Task{
		work("broken", 1, 0), work("x", 1, 0), work("y", 1, 0), work("best", 1, 10, "broken", "x"), work("good", 1, 2, "y"),
	}}
	if diff := cmp.Diff([]agent.TaskID{"y", "x"}, plan.Ready(p, states{"broken": agent.TaskFailed})); diff != "" {
		t.Error(diff)
	}
}

func TestCritical(t *testing.T) {
	p := agent.Plan{Tasks: []agent.Task{
		work("a", 2, 0), work("b", 5, 0), work("c", 1, 0, "a"), work("d", 3, 9, "b", "c"), work("e", 1, 1),
	}}
	want := plan.Path{
		Tasks: []agent.TaskID{"b", "d"}, Length: 8,
		Timing: []plan.Timing{
			{Task: "a", Start: 0, Finish: 2, Slack: 2}, {Task: "b", Start: 0, Finish: 5}, {Task: "e", Start: 0, Finish: 1, Slack: 7},
			{Task: "c", Start: 2, Finish: 3, Slack: 2}, {Task: "d", Start: 5, Finish: 8},
		},
	}
	if diff := cmp.Diff(want, plan.Critical(p, nil)); diff != "" {
		t.Error(diff)
	}
	got := plan.Critical(p, map[agent.TaskID]bool{"b": true})
	if diff := cmp.Diff([]agent.TaskID{"a", "c", "d"}, got.Tasks); diff != "" || got.Length != 6 {
		t.Errorf("length %v\n%s", got.Length, diff)
	}
	if got := plan.Critical(agent.Plan{}, nil); len(got.Tasks) != 0 || got.Length != 0 {
		t.Errorf("an empty plan has the critical path %v", got)
	}
}
