package prompt

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Bounds of a Standing: longer lists are cut, and it says by how much.
const (
	standingList  = 50 // of a list's entries
	standingTitle = 80 // characters
)

// Standing is where the run stands, as a task's worker sees it: what was done,
// what is left, what there is. It follows from the fold alone, and holds
// nothing that a tool returned.
type Standing struct {
	Task      agent.TaskID   `json:"task"`
	Calls     []CallCount    `json:"calls"` // of this task's work so far, by name
	Missing   []string       `json:"outputs_to_deliver"`
	Rejected  int            `json:"rejected,omitempty"` // results of this task
	Tasks     []TaskLine     `json:"tasks"`              // of the plan, the unfinished first
	Available []OutputLine   `json:"outputs_available"`
	Files     []string       `json:"files_changed"`       // by this run, the newest last
	Artifacts []ArtifactLine `json:"artifacts,omitempty"` // whole results that this task's calls had
	Spent     Usage          `json:"spent"`
	Left      Usage          `json:"left"` // what has no limit is not there
	Questions []QuestionLine `json:"open_questions"`
	More      map[string]int `json:"left_out,omitempty"` // how many entries of a list
}

// CallCount is how often a function was called.
type CallCount struct {
	Name   string `json:"name"`
	Times  int    `json:"times"`
	Errors int    `json:"errors,omitempty"`
}

// TaskLine is a task of the plan.
type TaskLine struct {
	ID    agent.TaskID    `json:"id"`
	State agent.TaskState `json:"state"`
	Title string          `json:"title"`
}

// OutputLine is an output that is there.
type OutputLine struct {
	Name string       `json:"name"`
	Task agent.TaskID `json:"task"`
	File string       `json:"file,omitempty"`
}

// ArtifactLine is a result that was too long to be shown.
type ArtifactLine struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
}

// QuestionLine is a question to people that nobody has decided.
type QuestionLine struct {
	Kind  agent.CheckpointKind `json:"kind"`
	Title string               `json:"title"`
}

// Usage is an amount of each budget. Nil is unknown, or no limit.
type Usage struct {
	USD    *agent.Nano `json:"usd,omitempty"`
	Tokens *int64      `json:"tokens,omitempty"`
	Time   string      `json:"time,omitempty"`
	Steps  *int64      `json:"steps,omitempty"`
}

// StandingOf is where the run stands for the worker of the task.
func StandingOf(r agent.Run, id agent.TaskID) Standing {
	task, _ := r.Plan.Task(id)
	s := Standing{Task: id, Calls: []CallCount{}, Missing: []string{}, Tasks: []TaskLine{}, Available: []OutputLine{},
		Files: []string{}, Questions: []QuestionLine{}, Rejected: r.Tasks[id].Rejections, More: map[string]int{}}
	for _, o := range task.Outputs {
		s.Missing = append(s.Missing, o.Name)
	}
	s.did(r.Strands.Of(agent.TaskStrand(id)).Talks.Of(llm.Work).Entries)
	for _, t := range r.Plan.Tasks {
		st := r.Tasks[t.ID]
		s.Tasks = append(s.Tasks, TaskLine{t.ID, st.State, format.LineStart(t.Title, standingTitle)})
		for _, o := range st.Outputs {
			s.Available = append(s.Available, OutputLine{o.Name, t.ID, o.File})
		}
	}
	slices.SortStableFunc(s.Tasks, func(a, b TaskLine) int { return finished(a) - finished(b) })
	s.Files = append(s.Files, r.Touched...)
	for _, c := range r.OpenCheckpoints() {
		s.Questions = append(s.Questions, QuestionLine{c.Ask, format.LineStart(c.Title, standingTitle)})
	}
	s.Spent, s.Left = usage(r)
	s.Tasks = cut(s.More, "tasks", s.Tasks)
	s.Available = cut(s.More, "outputs_available", s.Available)
	s.Artifacts = cut(s.More, "artifacts", s.Artifacts)
	return s
}

func finished(t TaskLine) int {
	if t.State == agent.TaskDone {
		return 1
	}
	return 0
}

// cut keeps the beginning of a list and notes how much is left out.
func cut[T any](more map[string]int, name string, list []T) []T {
	if left := len(list) - standingList; left > 0 {
		more[name] = left
		return list[:standingList]
	}
	return list
}

// did counts the calls of a conversation that have a reply. Looks at where
// things stand are not among them: they change nothing.
func (s *Standing) did(entries agent.History) {
	calls := map[string]CallCount{}
	for _, e := range entries.All() {
		if e.Reply == nil || e.Reply.Name == agent.CallStatus {
			continue
		}
		c := calls[e.Reply.Name]
		c.Name = e.Reply.Name
		c.Times++
		if strings.HasPrefix(e.Reply.Text, "error") {
			c.Errors++
		}
		calls[e.Reply.Name] = c
		if e.Reply.Artifact != "" {
			s.Artifacts = append(s.Artifacts, ArtifactLine{e.Reply.Artifact, e.Reply.Name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(calls)) {
		s.Calls = append(s.Calls, calls[name])
	}
}

// usage is what was spent of each budget, and what is left of those that have
// a limit.
func usage(r agent.Run) (spent, left Usage) {
	tokens, steps, limits := r.Spent.Tokens(), r.Spent.Steps(), r.Limits()
	spent = Usage{USD: r.Spent.Dollars(), Tokens: &tokens, Time: r.Spent.Time.Round(time.Second).String(), Steps: &steps}
	if limits.USD > 0 {
		left.USD = new(max(0, limits.USD-r.Spent.Cost))
	}
	if limits.Tokens > 0 {
		left.Tokens = new(max(0, limits.Tokens-tokens))
	}
	if limits.Time > 0 {
		left.Time = max(0, limits.Time-r.Spent.Time).Round(time.Second).String()
	}
	if limits.Steps > 0 {
		left.Steps = new(max(0, limits.Steps-steps))
	}
	return spent, left
}
