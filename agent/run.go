package agent

import (
	"maps"
	"slices"
	"time"
)

// Run is what is true of a run: the fold of its journal. A Run is a value:
// Apply returns a new one and leaves the old one as it was, so that folds may
// be shared between goroutines. It is also what a snapshot holds, as JSON.
type Run struct {
	ID      RunID      `json:"id"`
	Seq     uint64     `json:"seq"`
	Started time.Time  `json:"started"`
	Last    time.Time  `json:"last"` // stamp of the newest event
	Brief   RunStarted `json:"brief"`

	Paused    string         `json:"paused,omitempty"`  // who or what paused it; empty: it runs
	Refused   string         `json:"refused,omitempty"` // the model refused the configuration: why
	Cancelled *RunControlled `json:"cancelled,omitempty"`
	Alone     bool           `json:"alone,omitempty"`  // nobody can be asked about trouble
	Finish    bool           `json:"finish,omitempty"` // a person wants what there is

	Plan     Plan                        `json:"plan"`
	Plans    int                         `json:"plans"`             // plans accepted so far
	Replans  int                         `json:"replans"`           // plans that followed a failure
	Retries  int                         `json:"retries,omitempty"` // people allowed re-plans up to this many
	Tasks    map[TaskID]TaskStatus       `json:"tasks,omitempty"`
	Parents  map[TaskID]TaskID           `json:"parents,omitempty"` // who added a task on the way
	Strands  map[StrandID]Strand         `json:"strands,omitempty"`
	Asked    []CheckpointID              `json:"asked,omitempty"` // in the order of opening
	Checks   map[CheckpointID]Checkpoint `json:"checks,omitempty"`
	Grants   []string                    `json:"grants,omitempty"`
	Denied   map[string]string           `json:"denied,omitempty"` // Digest of a call → what the model is told
	Raised   map[string]int              `json:"raised,omitempty"` // budget → percent added by people
	Notices  map[string]int              `json:"notices,omitempty"`
	Spent    Spent                       `json:"spent"`
	Report   *Reported                   `json:"report,omitempty"`
	Ended    *RunEnded                   `json:"ended,omitempty"`
	Finished time.Time                   `json:"finished,omitzero"` // when it ended
	Said     []Note                      `json:"said,omitempty"`    // by people, on the way
	Findings []Finding                   `json:"findings,omitempty"`
	Recalled *Recalled                   `json:"recalled,omitempty"`
	Lessons  []Lesson                    `json:"lessons,omitempty"` // of check-ins, the newest of each task
	Rethink  *Rethink                    `json:"rethink,omitempty"` // before another task starts
	Files    []Attachment                `json:"files,omitempty"`   // that people gave
	Touched  []string                    `json:"touched,omitempty"` // workspace files, the newest last
	Shown    map[string]Shown            `json:"shown,omitempty"`   // posts that were made, by key
	Watched  []string                    `json:"watched,omitempty"` // further places that show the run
}

// TaskStatus is where a task of the plan stands.
type TaskStatus struct {
	State        TaskState `json:"state"`
	Started      time.Time `json:"started,omitzero"`
	Ended        time.Time `json:"ended,omitzero"`
	Instructions string    `json:"instructions,omitempty"`
	Summary      string    `json:"summary,omitempty"`
	Outputs      []Output  `json:"outputs,omitempty"`
	Reason       string    `json:"reason,omitempty"`
	Fail         FailKind  `json:"fail,omitempty"`
	Rejections   int       `json:"rejections,omitempty"` // by the judge
	// Heard is how much of Run.Said had been said when the task began: its brief
	// has that, and its conversation what came later.
	Heard      int     `json:"heard,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // the model's own estimate: it decides nothing
}

// question has the fields of CheckpointOpened without being an event.
type question CheckpointOpened

// Checkpoint is a question to people and, once given, the decision. Its fields
// are those of CheckpointOpened and these.
type Checkpoint struct {
	question
	Strand   StrandID           `json:"strand"`
	Opened   time.Time          `json:"opened"`
	Votes    []CheckpointVoted  `json:"votes,omitempty"` // approvals so far, where a quorum is set
	Decision *CheckpointDecided `json:"decided,omitempty"`
	Closed   time.Time          `json:"closed,omitzero"` // when it was decided
}

// Voted reports whether the person approved already.
func (c Checkpoint) Voted(by string) bool {
	return slices.ContainsFunc(c.Votes, func(v CheckpointVoted) bool { return v.By == by })
}

// Open reports whether nobody has decided yet.
func (c Checkpoint) Open() bool { return c.Decision == nil }

// Spent is what a run has used. Lost reservations are included.
type Spent struct {
	Cost       Nano          `json:"cost"`
	Unpriced   bool          `json:"unpriced,omitempty"` // a call had no known price
	Prompt     int           `json:"prompt"`
	Completion int           `json:"completion"`
	Calls      int           `json:"calls"`
	Tools      int           `json:"tools"`
	Time       time.Duration `json:"time"` // while executing, all strands together
}

// Tokens is prompt and completion together.
func (s Spent) Tokens() int64 { return int64(s.Prompt) + int64(s.Completion) }

// Dollars is the cost, nil where a call had no known price.
func (s Spent) Dollars() *Nano {
	if s.Unpriced {
		return nil
	}
	return &s.Cost
}

// State is the run's state as people see it.
func (r Run) State() RunState {
	switch {
	case r.Ended != nil:
		return r.Ended.State
	case r.Paused != "" || r.Refused != "":
		return RunPaused
	case r.OpenCheckpoint() != nil && !r.busy():
		return RunWaiting
	}
	return RunRunning
}

// busy reports whether some strand has work that waits for nobody.
func (r Run) busy() bool {
	for id := range r.Strands {
		if id != Voice && len(r.Next(id).Steps) > 0 {
			return true
		}
	}
	return false
}

// OpenCheckpoint is the oldest question that nobody has decided, nil if none.
func (r Run) OpenCheckpoint() *Checkpoint {
	for _, id := range r.Asked {
		if c := r.Checks[id]; c.Open() {
			return &c
		}
	}
	return nil
}

// OpenCheckpoints lists the undecided questions, the oldest first.
func (r Run) OpenCheckpoints() []Checkpoint {
	var open []Checkpoint
	for _, id := range r.Asked {
		if c := r.Checks[id]; c.Open() {
			open = append(open, c)
		}
	}
	return open
}

// waitsFor is the strand's own open checkpoint, nil if none.
func (r Run) waitsFor(s StrandID) *Checkpoint {
	for _, id := range r.Asked {
		if c := r.Checks[id]; c.Open() && c.Strand == s {
			return &c
		}
	}
	return nil
}

// budgetOpen reports whether a question about a budget waits for an answer.
func (r Run) budgetOpen() bool {
	for _, id := range r.Asked {
		if c := r.Checks[id]; c.Open() && c.Ask == CheckBudget {
			return true
		}
	}
	return false
}

// Wakeful is a wake-up at once for every strand that has not ended. Facts that
// may concern any of them are committed with it.
func (r Run) Wakeful() map[StrandID]time.Time {
	wake := map[StrandID]time.Time{Main: AtOnce}
	for id, s := range r.Strands {
		if !s.Ended {
			wake[id] = AtOnce
		}
	}
	return wake
}

// Values are the outputs that are there, by name, with goal.text.
func (r Run) Values() map[string]Output {
	values := map[string]Output{"goal.text": {Name: "goal.text", Value: jsonString(r.Brief.Goal)}}
	for _, t := range r.Plan.Tasks {
		for _, o := range r.Tasks[t.ID].Outputs {
			values[o.Name] = o
		}
	}
	return values
}

// States is the state of every task, by id.
func (r Run) States() map[TaskID]TaskState {
	states := make(map[TaskID]TaskState, len(r.Tasks))
	for id, t := range r.Tasks {
		states[id] = t.State
	}
	return states
}

// Limits is what the run may spend, with what people added.
func (r Run) Limits() Limits {
	l := r.Brief.Limits
	l.USD += l.USD * Nano(r.Raised[BudgetUSD]) / 100
	l.Tokens += l.Tokens * int64(r.Raised[BudgetTokens]) / 100
	l.Time += l.Time * time.Duration(r.Raised[BudgetTime]) / 100
	l.Steps += l.Steps * int64(r.Raised[BudgetSteps]) / 100
	return l
}

// Complete reports whether the plan's goal is reached: every deliverable task
// is done, or every task where none is marked as deliverable.
func (r Run) Complete() bool {
	marked := slices.ContainsFunc(r.Plan.Tasks, func(t Task) bool { return t.Deliverable })
	for _, t := range r.Plan.Tasks {
		if (t.Deliverable || !marked) && r.Tasks[t.ID].State != TaskDone {
			return false
		}
	}
	return len(r.Plan.Tasks) > 0
}

// Progress is how many tasks of the plan are done, and how many there are.
func (r Run) Progress() (done, total int) {
	for _, t := range r.Plan.Tasks {
		if r.Tasks[t.ID].State == TaskDone {
			done++
		}
	}
	return done, len(r.Plan.Tasks)
}

// with returns a copy of the map that has the entry.
func with[K comparable, V any](m map[K]V, k K, v V) map[K]V {
	c := make(map[K]V, len(m)+1)
	maps.Copy(c, m)
	c[k] = v
	return c
}

// push returns the list with one more element, sharing nothing with a sibling
// that was pushed to as well.
func push[T any](list []T, v ...T) []T { return append(slices.Clip(list), v...) }
