package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// What a worker is told follows from the fold: what was done, what is left and
// what there is.
func TestStanding(t *testing.T) {
	j := begin(RunStarted{Slots: 2, Limits: Limits{USD: Dollar, Tokens: 1000, Time: time.Hour, Steps: 3}})
	j.on(Main, PlanAccepted{Plan: Plan{Tasks: []Task{
		{ID: "a", Title: "A", Outputs: []OutputSpec{{Name: "table"}}},
		{ID: "b", Title: "B\nand more", DependsOn: []TaskID{"a"}, Outputs: []OutputSpec{{Name: "report"}}},
		{ID: "c", Title: "C", DependsOn: []TaskID{"b"}},
	}}}, TaskStarted{Task: "a"})
	j.on("task/a", TaskEnded{Task: "a", State: TaskDone, Outputs: []Output{{Name: "table", File: "table.md"}}})
	j.on(Main, TaskStarted{Task: "b"})
	j.answer("task/b", "read", CallStatus, "write").on("task/b",
		ToolIntent{Effect: "task/b.1.0"}, ToolOutcome{Effect: "task/b.1.0", Text: "error: gone"},
		CallReplied{Effect: "task/b.1.1", Text: "Where things stand"},
		ToolIntent{Effect: "task/b.1.2"}, ToolOutcome{Effect: "task/b.1.2", Text: "wrote", Files: []string{"x.md", "y.md"}, Artifact: "00ff", Took: time.Minute})
	j.answer("task/b", "read", "write").on("task/b",
		ToolIntent{Effect: "task/b.2.1"}, ToolOutcome{Effect: "task/b.2.1", Text: "wrote", Files: []string{"x.md"}})
	j.on(Main, CheckpointOpened{ID: "r1-q", Ask: CheckBudget, Title: "More?"})
	line, err := json.MarshalIndent(j.Standing("b"), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "task": "b",
 "calls": [
  {
   "name": "read",
   "times": 1,
   "errors": 1
  },
  {
   "name": "write",
   "times": 2
  }
 ],
 "outputs_to_deliver": [
  "report"
 ],
 "tasks": [
  {
   "id": "b",
   "state": "running",
   "title": "B and more"
  },
  {
   "id": "c",
   "state": "pending",
   "title": "C"
  },
  {
   "id": "a",
   "state": "done",
   "title": "A"
  }
 ],
 "outputs_available": [
  {
   "name": "table",
   "task": "a",
   "file": "table.md"
  }
 ],
 "files_changed": [
  "y.md",
  "x.md"
 ],
 "artifacts": [
  {
   "id": "00ff",
   "tool": "write"
  }
 ],
 "spent": {
  "usd": 0.00,
  "tokens": 0,
  "time": "1m0s",
  "steps": 2
 },
 "left": {
  "usd": 1.00,
  "tokens": 1000,
  "time": "59m0s",
  "steps": 1
 },
 "open_questions": [
  {
   "kind": "budget",
   "title": "More?"
  }
 ]
}`
	if diff := cmp.Diff(want, string(line)); diff != "" {
		t.Error(diff)
	}
}

// However large a run is, its worker is told little, and how much is left out.
func TestStandingIsBounded(t *testing.T) {
	j := begin(RunStarted{})
	var p Plan
	for i := range 500 {
		p.Tasks = append(p.Tasks, Task{ID: TaskID(fmt.Sprint("t", i)), Title: fmt.Sprintf("%0200d", i)})
	}
	j.on(Main, PlanAccepted{Plan: p}, TaskStarted{Task: "t0"}).answer("task/t0", "write")
	var files []string
	for i := range 500 {
		files = append(files, fmt.Sprint(i, ".md"))
	}
	j.on("task/t0", ToolIntent{Effect: "task/t0.1.0"}, ToolOutcome{Effect: "task/t0.1.0", Files: files})
	s := j.Standing("t0")
	line, err := json.Marshal(s)
	if err != nil || len(line) > 10_000 || s.More["tasks"] != 450 || s.Files[len(s.Files)-1] != "499.md" {
		t.Errorf("%d bytes, %v, %v", len(line), s.More, err)
	}
}

// A fold shares nothing with the one before it.
func TestTouchedIsAValue(t *testing.T) {
	before := touched(nil, []string{"a", "b", "c"})
	after := touched(before, []string{"a"})
	if !slices.Equal(before, []string{"a", "b", "c"}) || !slices.Equal(after, []string{"b", "c", "a"}) {
		t.Errorf("%v, then %v", before, after)
	}
}
