package prompt

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// What a worker is told follows from the fold: what was done, what is left and
// what there is.
func TestStanding(t *testing.T) {
	j := (&history{}).on(agent.Main, agent.RunStarted{Slots: 2, Limits: agent.Limits{USD: agent.Dollar, Tokens: 1000, Time: time.Hour, Steps: 3}})
	j.on(agent.Main, agent.PlanAccepted{Plan: agent.Plan{Tasks: []agent.Task{
		{ID: "a", Title: "A", Outputs: []agent.OutputSpec{{Name: "table"}}},
		{ID: "b", Title: "B\nand more", DependsOn: []agent.TaskID{"a"}, Outputs: []agent.OutputSpec{{Name: "report"}}},
		{ID: "c", Title: "C", DependsOn: []agent.TaskID{"b"}},
	}}}, agent.TaskStarted{Task: "a"})
	j.on("task/a", agent.TaskEnded{Task: "a", State: agent.TaskDone, Outputs: []agent.Output{{Name: "table", File: "table.md"}}})
	j.on(agent.Main, agent.TaskStarted{Task: "b"})
	answer(j, "task/b", "read", agent.CallStatus, "write").on("task/b",
		agent.ToolIntent{Effect: "task/b.1.0"}, agent.ToolOutcome{Effect: "task/b.1.0", Text: "error: gone"},
		agent.CallReplied{Effect: "task/b.1.1", Text: "Where things stand"},
		agent.ToolIntent{Effect: "task/b.1.2"}, agent.ToolOutcome{Effect: "task/b.1.2", Text: "wrote", Files: []string{"x.md", "y.md"}, Artifact: "00ff", Took: time.Minute})
	answer(j, "task/b", "read", "write").on("task/b",
		agent.ToolIntent{Effect: "task/b.2.1"}, agent.ToolOutcome{Effect: "task/b.2.1", Text: "wrote", Files: []string{"x.md"}})
	j.on(agent.Main, agent.CheckpointOpened{ID: "r1-q", Ask: agent.CheckBudget, Title: "More?"})
	line, err := json.MarshalIndent(StandingOf(j.Run, "b"), "", " ")
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

// answer is the strand's next model call, which costs nothing, with the
// functions that it calls.
func answer(h *history, s agent.StrandID, functions ...string) *history {
	m := &llm.Message{Role: llm.Assistant}
	for i, f := range functions {
		m.Calls = append(m.Calls, llm.Call{ID: fmt.Sprint("c", i), Name: f, Arguments: "{}"})
	}
	call := fmt.Sprintf("%s.%d", s, h.Strands.Of(s).Calls+1)
	return h.on(s, agent.ModelAsked{Call: call, Purpose: h.Purpose(s)},
		agent.ModelAnswered{Call: call, Purpose: h.Purpose(s), Message: m, Cost: new(agent.Nano(0))})
}

// However large a run is, its worker is told little, and how much is left out.
func TestStandingIsBounded(t *testing.T) {
	j := (&history{}).on(agent.Main, agent.RunStarted{})
	var p agent.Plan
	for i := range 500 {
		p.Tasks = append(p.Tasks, agent.Task{ID: agent.TaskID(fmt.Sprint("t", i)), Title: fmt.Sprintf("%0200d", i)})
	}
	j.on(agent.Main, agent.PlanAccepted{Plan: p}, agent.TaskStarted{Task: "t0"})
	answer(j, "task/t0", "write")
	var files []string
	for i := range 500 {
		files = append(files, fmt.Sprint(i, ".md"))
	}
	j.on("task/t0", agent.ToolIntent{Effect: "task/t0.1.0"}, agent.ToolOutcome{Effect: "task/t0.1.0", Files: files})
	s := StandingOf(j.Run, "t0")
	line, err := json.Marshal(s)
	if err != nil || len(line) > 10_000 || s.More["tasks"] != 450 || s.Files[len(s.Files)-1] != "499.md" {
		t.Errorf("%d bytes, %v, %v", len(line), s.More, err)
	}
}
