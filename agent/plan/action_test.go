package plan_test

import (
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

// only is a plan of a sound one and the task in question.
func only(t agent.Task) agent.Plan {
	p := sound()
	t.ID, t.DependsOn, t.Deliverable = "x", []agent.TaskID{"t2"}, true
	t.Effort, t.Value = 1, 1
	p.Tasks = append(p.Tasks, t)
	return p
}

func TestPlanningOnly(t *testing.T) {
	bare := func(title string) agent.Task { return agent.Task{Title: title, Tools: []string{"run_code"}} }
	full := func(title string) agent.Task {
		return agent.Task{
			Title: title, Tools: []string{"run_code"}, Acceptance: "it is there",
			Outputs: []agent.OutputSpec{{Name: "thing"}},
		}
	}
	with := func(t agent.Task, instructions string) agent.Task { t.Instructions = instructions; return t }
	tests := []struct {
		name string
		task agent.Task
		goal string
		want bool
	}{
		// The tasks of the endless planning loop, with a tool named.
		{"1591 break down", bare("Break down the goal into tasks"), "", true},
		{"1591 prioritize", bare("Prioritize the tasks"), "", true},
		{"1591 identify", bare("Identify required resources"), "", true},
		{"1591 roadmap", bare("Create a roadmap"), "", true},
		{"1591 plan", bare("Plan the next steps"), "", true},
		// The same with everything that a task can have.
		{"full break down", full("Break down the goal into smaller tasks"), "", true},
		{"full prioritise", full("Prioritising the sub-tasks by importance"), "", true},
		{"full identify", full("Identify the resources needed"), "", true},
		{"full roadmap", full("Develop a detailed roadmap for the project"), "", true},
		{"full plan", with(full("Plan the next steps"), "Think about what has to be done next and write it down."), "", true},
		// Other words for it.
		{"numbered", full("1. Identify key milestones"), "", true},
		{"two parts", full("Identify requirements and prioritise the tasks"), "", true},
		{"list of tasks", full("Create a list of tasks"), "", true},
		{"come up with", full("Come up with a strategy"), "", true},
		{"break X down", full("Break the project down"), "", true},
		{"divide", full("Divide the goal into subtasks"), "", true},
		{"determine", full("Determine the next steps"), "", true},
		{"identify something, nothing comes of it", bare("Identify the largest file"), "", true},
		{"analyse the goal", bare("Analyze the goal"), "", true},
		// Work.
		{"largest file", full("Identify the largest file"), "", false},
		{"root cause", full("Determine the cause of the failing build"), "", false},
		{"plan and do", full("Plan and build the site"), "", false},
		{"make something", bare("Create a chart of the counts"), "", false},
		{"list files", bare("List the files"), "", false},
		{"split a file", bare("Split the log by day"), "", false},
		{"break a build", bare("Break the build on warnings"), "", false},
		{"set up", bare("Set up the project"), "", false},
		{"research", bare("Research the market for e-bikes"), "", false},
		{"analyse data", bare("Analyse the sales data"), "", false},
		{"list of files", bare("Create a list of broken links"), "", false},
		{"strategy document", full("Write a marketing strategy for the new bike"), "", false},
		{"concrete", with(full("Prioritize the tasks"), "Sort tasks.csv by score with run_code."), "", false},
		{"asked for", full("Create a roadmap"), "We need a roadmap for 2027", false},
		{"asked for, but nothing comes of it", bare("Create a roadmap"), "We need a roadmap for 2027", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, found := plan.Check(only(tt.task), plan.Options{Goal: tt.goal})
			if got := has(found, "V12", agent.SeverityError, "x"); got != tt.want {
				t.Errorf("%q: V12 is %v, want %v: %v", tt.task.Title, got, tt.want, found)
			}
		})
	}
}

func TestNotActionable(t *testing.T) {
	with := func(e func(*agent.Task)) agent.Task {
		t := agent.Task{Title: "Sweep the floor", Instructions: "With a broom."}
		e(&t)
		return t
	}
	tests := []struct {
		name string
		task agent.Task
		want bool
	}{
		{"nothing", with(func(*agent.Task) {}), true},
		{"blank acceptance", with(func(t *agent.Task) { t.Acceptance = " " }), true},
		{"tool", with(func(t *agent.Task) { t.Tools = []string{"run_code"} }), false},
		{"output", with(func(t *agent.Task) { t.Outputs = []agent.OutputSpec{{Name: "dust"}} }), false},
		{"acceptance", with(func(t *agent.Task) { t.Acceptance = "no dust" }), false},
		{"no words", agent.Task{Tools: []string{"run_code"}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, found := check(only(tt.task)); has(found, "V12", agent.SeverityError, "x") != tt.want {
				t.Errorf("V12 should be %v: %v", tt.want, found)
			}
		})
	}
}

func TestRestates(t *testing.T) {
	const goal = "Build a web shop for bicycles"
	task := func(title, instructions string) agent.Task {
		return agent.Task{Title: title, Instructions: instructions, Tools: []string{"run_code"}, Acceptance: "it runs"}
	}
	lone := func(t agent.Task) agent.Plan {
		t.ID, t.Effort, t.Value, t.Deliverable = "x", 1, 1, true
		return agent.Plan{Tasks: []agent.Task{t}}
	}
	parents := map[agent.TaskID]agent.TaskID{"x": "t1"}
	tests := []struct {
		name string
		plan agent.Plan
		o    plan.Options
		want bool
	}{
		{"goal", only(task("Build the web shop for bicycles", "")), plan.Options{Goal: goal}, true},
		{"goal again in the instructions", only(task("Build a bicycle web shop", goal+" now")), plan.Options{Goal: goal}, true},
		{"another thing", only(task("Build the payment page", "")), plan.Options{Goal: goal}, false},
		{"says how", only(task(goal, "Scaffold pages, wire the payment provider, deploy to staging")), plan.Options{Goal: goal}, false},
		{"parent", only(task("Count the lines by package", "")), plan.Options{Parents: parents}, true},
		{"not its parent", only(task("Count the lines by package twice over", "")), plan.Options{Parents: parents}, false},
		{"small goal in one step", lone(task("Create hello.txt", "Write hello into it with run_code")), plan.Options{Goal: "create hello.txt"}, false},
		{"small goal in no step", lone(task("Create hello.txt", "Create hello.txt")), plan.Options{Goal: "create hello.txt"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, found := plan.Check(tt.plan, tt.o); has(found, "V12", agent.SeverityError, "x") != tt.want {
				t.Errorf("V12 should be %v: %v", tt.want, found)
			}
		})
	}
}
