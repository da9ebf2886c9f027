package estimate

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Use is what some work took. Model is the time spent waiting for the model,
// Compute that of the tools.
type Use struct {
	Calls                      int
	Prompt, Completion, Cached int // tokens
	Model, Compute             time.Duration
}

func (u *Use) add(o Use) {
	u.Calls += o.Calls
	u.Prompt, u.Completion, u.Cached = u.Prompt+o.Prompt, u.Completion+o.Completion, u.Cached+o.Cached
	u.Model, u.Compute = u.Model+o.Model, u.Compute+o.Compute
}

// Task is what one finished task of a run took. Effort is what its plan expected,
// in minutes; Busy is the time that model and tools worked for it.
type Task struct {
	Use
	Effort float64
}

// Busy is the time that model and tools worked for the task.
func (t Task) Busy() time.Duration { return t.Model + t.Compute }

// Sample is what an ended run used. Around is what was no task's: planning,
// hearing people, the report.
type Sample struct {
	Goal   string
	Around Use
	Tasks  []Task
}

// SampleOf reads a sample from a journal. False: the run did not come to its end
// with a plan, and says nothing about others.
func SampleOf(events []agent.Event) (Sample, bool) {
	var s Sample
	var planned agent.Plan
	used, done, ended := map[agent.TaskID]*Use{}, map[agent.TaskID]bool{}, false
	for _, e := range events {
		use := s.useOf(e.Strand, used)
		switch b := e.Body.(type) { //nolint:gochecksumtype // the others cost nothing
		case agent.RunStarted:
			s.Goal = b.Goal
		case agent.PlanAccepted:
			planned = b.Plan
		case agent.ModelAnswered:
			if !b.Free() && b.Given == "" {
				use.add(Use{Calls: 1, Prompt: b.Prompt, Completion: b.Completion, Cached: b.Cached, Model: b.Took})
			}
		case agent.ToolOutcome:
			use.Compute += b.Took
		case agent.TaskEnded:
			done[b.Task] = b.State == agent.TaskDone
		case agent.RunEnded:
			ended = b.State == agent.RunDone
		}
	}
	for _, t := range planned.Tasks {
		if u := used[t.ID]; u != nil && done[t.ID] {
			s.Tasks = append(s.Tasks, Task{Use: *u, Effort: t.Effort})
		}
	}
	return s, ended && len(s.Tasks) > 0
}

// useOf is what an event of the strand adds to.
func (s *Sample) useOf(at agent.StrandID, used map[agent.TaskID]*Use) *Use {
	id, works := at.Task()
	if !works {
		return &s.Around
	}
	if used[id] == nil {
		used[id] = &Use{}
	}
	return used[id]
}
