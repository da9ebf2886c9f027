package plan_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func TestMerge(t *testing.T) {
	st := states{"t1": agent.TaskDone, "t2": agent.TaskFailed}
	retry := item("t3", "t1")
	retry.Title, retry.Inputs = "Draw the pie chart", []string{"loc_table"}
	restated := sound().Tasks[0]
	restated.Title, restated.Effort = "Count the lines by package", 9
	other := item("t1")
	other.Title = "Sing a song"
	again := item("t4")
	again.Title = sound().Tasks[0].Title
	tests := []struct {
		name  string
		new   []agent.Task
		want  []agent.TaskID
		error string // code
		task  agent.TaskID
	}{
		{"only the rest", []agent.Task{retry}, []agent.TaskID{"t1", "t3"}, "", ""},
		{"the whole plan restated", []agent.Task{restated, retry}, []agent.TaskID{"t1", "t3"}, "", ""},
		{"a failed task again", []agent.Task{sound().Tasks[1]}, []agent.TaskID{"t1", "t2"}, "", ""},
		{"finished id for other work", []agent.Task{other, retry}, []agent.TaskID{"t1", "t3"}, "V1", "t1"},
		{"finished work under another id", []agent.Task{again, retry}, []agent.TaskID{"t1", "t4", "t3"}, "V13", "t4"},
		{"needs what was given up", []agent.Task{item("t3", "t2")}, []agent.TaskID{"t1", "t3"}, "V2", "t3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found := plan.Merge(sound(), st, agent.Plan{Tasks: tt.new}, plan.Options{})
			if tt.error == "" && plan.Stops(found) || tt.error != "" && !has(found, tt.error, agent.SeverityError, tt.task) {
				t.Errorf("want %q for %q, have %v", tt.error, tt.task, found)
			}
			if tt.error != "V13" { // its duplicate may be merged away
				if diff := cmp.Diff(tt.want, ids(got)); diff != "" {
					t.Error(diff)
				}
			}
			if diff := cmp.Diff(sound().Tasks[0], mustTask(t, got, "t1")); diff != "" {
				t.Errorf("the finished task changed:\n%s", diff)
			}
			if got.Name != sound().Name || len(got.Goals) != 2 {
				t.Errorf("name and goals were lost: %q %q", got.Name, got.Goals)
			}
		})
	}
}

func TestMergeTakesTheNewWords(t *testing.T) {
	got, _ := plan.Merge(sound(), nil, agent.Plan{
		Name: "n", Description: "d", Goals: []string{"g"}, Assumptions: []string{"a"}, DoneWhen: agent.Texts{"w"},
	}, plan.Options{})
	want := agent.Plan{Name: "n", Description: "d", Goals: []string{"g"}, Assumptions: []string{"a"}, DoneWhen: agent.Texts{"w"}}
	got.Tasks = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMergeKeepsRunningTasks(t *testing.T) {
	pie := item("t9", "t1")
	pie.Title = "Draw a pie chart"
	got, found := plan.Merge(sound(), states{"t1": agent.TaskRunning}, agent.Plan{Tasks: []agent.Task{pie}}, plan.Options{})
	if diff := cmp.Diff([]agent.TaskID{"t1", "t9"}, ids(got)); diff != "" || plan.Stops(found) {
		t.Errorf("%v\n%s", found, diff)
	}
}

func TestExtend(t *testing.T) {
	added := item("t3", "t2")
	added.Inputs = []string{"loc_table"}
	got, found := plan.Extend(sound(), []agent.Task{added}, "t1", plan.Options{})
	if len(found) != 0 {
		t.Errorf("findings: %v", found)
	}
	if diff := cmp.Diff(slices.Concat(sound().Tasks, []agent.Task{added}), got.Tasks); diff != "" {
		t.Error(diff)
	}
	if _, found = plan.Extend(sound(), []agent.Task{item("t2")}, "t1", plan.Options{}); !has(found, "V1", agent.SeverityError, "t2") {
		t.Errorf("a taken id must be refused: %v", found)
	}
	deep := plan.Options{Parents: map[agent.TaskID]agent.TaskID{"t2": "t1", "b": "t2", "c": "b"}}
	old := sound()
	old.Tasks = append(old.Tasks, item("b", "t2"), item("c", "b"))
	if _, found = plan.Extend(old, []agent.Task{item("d", "c")}, "c", deep); !has(found, "V18", agent.SeverityError, "d") {
		t.Errorf("a fifth level must be refused: %v", found)
	}
	if _, found = plan.Extend(old, []agent.Task{item("d", "c")}, "b", deep); plan.Stops(found) {
		t.Errorf("a fourth level must pass: %v", found)
	}
	if len(deep.Parents) != 3 {
		t.Error("Extend changed its argument")
	}
}

func TestExtendChainsNewTasksOnly(t *testing.T) {
	got, found := plan.Extend(sound(), []agent.Task{item("x"), item("y")}, "t1", plan.Options{})
	if !has(found, "V20", agent.SeverityInfo, "") {
		t.Errorf("want V20, have %v", found)
	}
	if diff := cmp.Diff([]agent.TaskID{"x"}, mustTask(t, got, "y").DependsOn); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(sound().Tasks, got.Tasks[:2]); diff != "" {
		t.Error(diff)
	}
}
