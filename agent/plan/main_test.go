package plan_test

import (
	"slices"
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// sound is a plan without any finding.
func sound() agent.Plan {
	return agent.Plan{
		Name:  "Lines of code",
		Goals: []string{"Count the code of each package", "Show a chart"},
		Tasks: []agent.Task{
			{
				ID: "t1", Title: "Count lines by package", Instructions: "Walk the tree with run_code.",
				Outputs: []agent.OutputSpec{{Name: "loc_table", Type: "text"}},
				Tools:   []string{"run_code"}, Effort: 2, Value: 3, Acceptance: "one row per package",
			},
			{
				ID: "t2", Title: "Draw the bar chart", Instructions: "Plot ${loc_table}.",
				DependsOn: []agent.TaskID{"t1"}, Inputs: []string{"loc_table"},
				Outputs: []agent.OutputSpec{{Name: "loc_chart", Type: "image/png"}},
				Tools:   []string{"plot"}, Effort: 1, Value: 5, Acceptance: "one bar per package", Deliverable: true,
			},
		},
	}
}

func tools() []agent.ToolSpec {
	return []agent.ToolSpec{
		{Name: "run_code", Output: []string{"text"}},
		{Name: "plot", Input: []string{"text", "json"}, Output: []string{"image"}},
		{Name: "read_file"},
		{Name: "write_to_file"},
		{Name: "play", Input: []string{"audio"}},
	}
}

// item is a task with nothing wrong of its own; it does its own thing.
func item(id agent.TaskID, deps ...agent.TaskID) agent.Task {
	return agent.Task{
		ID: id, Title: "Do the thing called " + string(id), Tools: []string{"run_code"}, DependsOn: deps,
		Effort: 1, Value: 1, Acceptance: "thing " + string(id) + " is there", Deliverable: true,
	}
}

func has(found []agent.PlanFinding, code string, s agent.Severity, task agent.TaskID) bool {
	return slices.ContainsFunc(found, func(f agent.PlanFinding) bool {
		return f.Code == code && f.Severity == s && f.Task == task
	})
}

func codes(found []agent.PlanFinding) []string {
	list := []string{}
	for _, f := range found {
		if !slices.Contains(list, f.Code) {
			list = append(list, f.Code)
		}
	}
	return list
}

func ids(p agent.Plan) []agent.TaskID {
	var list []agent.TaskID
	for _, t := range p.Tasks {
		list = append(list, t.ID)
	}
	return list
}

func mustTask(t *testing.T, p agent.Plan, id agent.TaskID) agent.Task {
	t.Helper()
	got, ok := p.Task(id)
	if !ok {
		t.Fatalf("the plan lost task %s: it has %v", id, ids(p))
	}
	return got
}

func check(p agent.Plan) (agent.Plan, []agent.PlanFinding) { return plan.Check(p, plan.Options{}) }
