package agent

import (
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Plan is a graph of tasks that serves a goal, as the model submits it
// (submit_plan) and as a person may edit it.
type Plan struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Goals       []string `json:"goals,omitempty"`
	Assumptions []string `json:"assumptions,omitempty"`
	DoneWhen    Texts    `json:"done_when,omitempty"`
	Tasks       []Task   `json:"tasks"`
	// Independent says that tasks without a dependency need nothing of each other
	// where no task of the plan has one (V20).
	Independent bool `json:"independent,omitempty"`
	// Playbook is the name of the playbook that the plan follows. Stages are the
	// playbook's, Roles those that tasks and reviewers have, as their files were
	// when the plan was accepted: a file that changes counts for the next run.
	Playbook string  `json:"playbook,omitempty"`
	Stages   []Stage `json:"stages,omitempty"`
	Roles    []Role  `json:"roles,omitempty"`
}

// Stage is a step of a playbook that no plan may leave out (V22): the artifacts
// that it takes and gives, how they are checked, and the role that reviews them.
type Stage struct {
	Name     string       `json:"name"`
	Role     string       `json:"role"`
	In       []string     `json:"in,omitempty"` // names of other stages' artifacts
	Out      []OutputSpec `json:"out"`
	Check    *Check       `json:"check,omitempty"`
	Reviewer string       `json:"reviewer,omitempty"`
}

// Role is who works a task: its prompt, the tools that it may use (empty: any),
// the model that works it (main or fast), what of earlier runs it is told (Memory
// none: nothing), and the types of artifacts that it gives and may be given
// (empty: any).
type Role struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Prompt      string `json:"prompt,omitempty"`
	Tools       Texts  `json:"tools,omitempty"`
	Model       string `json:"model,omitempty"`
	Memory      string `json:"memory,omitempty"`
	Publishes   Texts  `json:"publishes,omitempty"`
	Subscribes  Texts  `json:"subscribes,omitempty"`
}

// The models that a role names, and the memory of one that is told nothing.
const (
	RoleMain   = "main"
	RoleFast   = "fast"
	MemoryNone = "none"
)

// Task is one node of a plan: work for one agent loop. Effort is the expected
// time in minutes, Value is 1 to 10.
type Task struct {
	ID           TaskID       `json:"id"`
	Title        string       `json:"title"`
	Instructions string       `json:"instructions,omitempty"`
	Role         string       `json:"role,omitempty"`
	DependsOn    []TaskID     `json:"depends_on,omitempty"`
	Inputs       []string     `json:"inputs,omitempty"`
	Outputs      []OutputSpec `json:"outputs,omitempty"`
	Tools        []string     `json:"tools,omitempty"`
	Effort       float64      `json:"effort,omitempty"`
	Value        float64      `json:"value,omitempty"`
	Acceptance   string       `json:"acceptance,omitempty"`
	Deliverable  bool         `json:"deliverable,omitempty"`
	// Serves names the plan's goals that the task is for, by number from 1 or by
	// their text; empty: the task does not say.
	Serves GoalRefs `json:"serves,omitempty"`
	Env    *Env     `json:"env,omitempty"` // what its programs need
	// Writes are the files of the workspace that the task changes, by path: people
	// who approve the plan may allow these at once.
	Writes Texts `json:"writes,omitempty"`
	// Check is how a program sees that the task is done, nil: a judge looks.
	Check *Check `json:"check,omitempty"`
	// Reviewer is the role in which a model looks at the result, after the check.
	Reviewer string `json:"reviewer,omitempty"`
}

// OutputSpec announces a named result of a task. Type is a media type or a
// word such as "text" or "number".
type OutputSpec struct {
	Name        string `json:"name"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
}

// Output is a named result that a task delivered: a JSON value, a file in the
// workspace, or both.
type Output struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value,omitempty"`
	File  string          `json:"file,omitempty"`
}

// Texts is a list of texts that also reads a single text.
type Texts []string

// GoalRefs names goals of a plan, by number from 1 or by text.
type GoalRefs []string

// UnmarshalJSON reads a number, a text or a list of both. Anything else names no
// goal: a reference that nobody can follow does not make a plan unreadable.
func (g *GoalRefs) UnmarshalJSON(b []byte) error {
	var list []any
	if json.Unmarshal(b, &list) != nil {
		list = make([]any, 1)
		if err := json.Unmarshal(b, &list[0]); err != nil {
			return err
		}
	}
	*g = nil
	for _, ref := range list {
		switch ref := ref.(type) {
		case string:
			*g = append(*g, ref)
		case float64:
			*g = append(*g, strconv.FormatFloat(ref, 'f', -1, 64))
		}
	}
	return nil
}

// EnvOf is what the task of a strand needs, nil: nothing, or it is no task's.
func (w Work) EnvOf(s StrandID) *Env {
	if id, is := s.Task(); is {
		if t, planned := w.Plan.Task(id); planned {
			return t.Env
		}
	}
	return nil
}

// Doubts are the warnings about a plan as a whole: people and the judge see
// them, and the plan is worked.
func Doubts(found []PlanFinding) []PlanFinding {
	var list []PlanFinding
	for _, f := range found {
		if f.Severity == SeverityWarning && f.Task == "" {
			list = append(list, f)
		}
	}
	return list
}

// UnmarshalJSON reads a string or a list of strings.
func (t *Texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = nil
		if one != "" {
			*t = Texts{one}
		}
		return nil
	}
	return json.Unmarshal(b, (*[]string)(t))
}

// MarshalJSON writes a list, also where there is nothing in it.
func (t Texts) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]string(t))
}

// Task returns the task with the id.
func (p Plan) Task(id TaskID) (Task, bool) {
	for _, t := range p.Tasks {
		if t.ID == id {
			return t, true
		}
	}
	return Task{}, false
}

// Role returns the role of the name, as the plan keeps it.
func (p Plan) Role(name string) (Role, bool) {
	i := slices.IndexFunc(p.Roles, func(r Role) bool { return r.Name == name })
	if i < 0 || name == "" {
		return Role{}, false
	}
	return p.Roles[i], true
}

// shaped reports whether the plan says what builds before roles, stages and
// checks do not know.
func (p Plan) shaped() bool {
	return p.Playbook != "" || len(p.Roles)+len(p.Stages) > 0 ||
		slices.ContainsFunc(p.Tasks, func(t Task) bool { return t.Check != nil || t.Reviewer != "" })
}

// PlanFinding is what the validator says of a plan (RULES.md, "Plan"): Code is
// V1 to V22, Task the task concerned, empty for the plan as a whole.
type PlanFinding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Task     TaskID   `json:"task"`
	Message  string   `json:"message"`
}

// Severity grades a finding about a plan.
type Severity string

// The severities of a plan finding. Only errors stop a plan.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityInfo    Severity = "info"
)

// PlanAccepted makes a plan the run's plan. Order is the order in which tasks
// are preferred when slots are short.
type PlanAccepted struct {
	Plan     Plan          `json:"plan"`
	By       string        `json:"by,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Findings []PlanFinding `json:"findings,omitempty"`
}

// TaskStarted gives a task a strand. Instructions are the task's instructions
// with the values of its inputs in place of the placeholders.
type TaskStarted struct {
	Task         TaskID `json:"task"`
	Instructions string `json:"instructions,omitempty"`
}

// TaskFinishing is a model's claim that its task is finished; a judge looks at it.
type TaskFinishing struct {
	Task       TaskID   `json:"task"`
	Effect     EffectID `json:"effect"` // of the finish_task call
	Summary    string   `json:"summary"`
	Outputs    []Output `json:"outputs,omitempty"`
	Confidence float64  `json:"confidence,omitempty"`
}

// TaskJudged is the verdict on a TaskFinishing.
type TaskJudged struct {
	Task     TaskID `json:"task"`
	Accepted bool   `json:"accepted"`
	Reasons  Texts  `json:"reasons,omitempty"`
	Missing  Texts  `json:"missing,omitempty"`
	// Checked is how the result was looked at: what program checked it, or who read it.
	Checked string `json:"checked,omitempty"`
}

// TaskState is where a task stands.
type TaskState string

// The states of a task. Skipped tasks never started: something they need
// failed, or the run ended first.
const (
	TaskPending TaskState = "pending"
	TaskRunning TaskState = "running"
	TaskDone    TaskState = "done"
	TaskFailed  TaskState = "failed"
	TaskSkipped TaskState = "skipped"
)

// FailKind says what a failure means for the plan.
type FailKind string

// The kinds of failure. Impossible is not planned again, Blocked asks the
// person first.
const (
	FailImpossible FailKind = "impossible"
	FailBlocked    FailKind = "blocked"
	FailBudget     FailKind = "budget"
	FailOther      FailKind = "other"
)

// TaskEnded ends a task's strand.
type TaskEnded struct {
	Task       TaskID    `json:"task"`
	State      TaskState `json:"state"`
	Summary    string    `json:"summary,omitempty"`
	Outputs    []Output  `json:"outputs"`
	Confidence float64   `json:"confidence,omitempty"`
	Reason     string    `json:"reason,omitempty"`
	Fail       FailKind  `json:"fail,omitempty"`
}

// Work is where a run stands with its plan.
type Work struct {
	Plan    Plan                  `json:"plan"`
	Plans   int                   `json:"plans"`             // plans accepted so far
	Replans int                   `json:"replans"`           // plans that followed a failure
	Retries int                   `json:"retries,omitempty"` // people allowed re-plans up to this many
	Tasks   map[TaskID]TaskStatus `json:"tasks,omitempty"`
	Parents map[TaskID]TaskID     `json:"parents,omitempty"` // who added a task on the way
	// Doubts are the validator's warnings about the plan as a whole.
	Doubts []PlanFinding `json:"doubts,omitempty"`
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
	Checked      []string  `json:"checked,omitempty"`    // how its result was looked at and accepted
	// Heard is how much of Run.Said had been said when the task began: its brief
	// has that, and its conversation what came later.
	Heard      int     `json:"heard,omitempty"`
	Confidence float64 `json:"confidence,omitempty"` // the model's own estimate: it decides nothing
}

// accept makes the plan the newest. Finished and running tasks keep their
// state; tasks that failed or were skipped begin anew when a new plan names
// them. A task that adds work on the way brings no failed task back: that is
// for a re-plan, and those are counted.
func (w Work) accept(by StrandID, b PlanAccepted) Work {
	p := b.Plan
	if w.Plans > 0 && by == Main {
		w.Replans++
	}
	if parent, adds := by.Task(); adds {
		for _, t := range p.Tasks {
			if _, old := w.Plan.Task(t.ID); !old {
				w.Parents = with(w.Parents, t.ID, parent)
			}
		}
	}
	w.Plan, w.Plans, w.Doubts = p, w.Plans+1, Doubts(b.Findings)
	tasks := make(map[TaskID]TaskStatus, len(p.Tasks))
	for _, t := range p.Tasks {
		old, known := w.Tasks[t.ID]
		if old.State == TaskDone || old.State == TaskRunning || (known && by != Main) {
			tasks[t.ID] = old
			continue
		}
		tasks[t.ID] = TaskStatus{State: TaskPending}
	}
	w.Tasks = tasks
	return w
}

// update changes a task's status.
func (w Work) update(id TaskID, change func(t *TaskStatus)) Work {
	t := w.Tasks[id]
	change(&t)
	w.Tasks = with(w.Tasks, id, t)
	return w
}

// endTask ends a task of the plan, unless it is done.
func (w Work) endTask(b TaskEnded, at time.Time) Work {
	if t, planned := w.Tasks[b.Task]; !planned || t.State == TaskDone {
		return w
	}
	return w.update(b.Task, func(t *TaskStatus) {
		t.State, t.Ended, t.Summary, t.Outputs = b.State, at, b.Summary, b.Outputs
		t.Reason, t.Fail, t.Confidence = b.Reason, b.Fail, b.Confidence
	})
}

// reject fails what was delivered: it is to be made anew.
func (w Work) reject(reason string) Work {
	for _, t := range w.delivered() {
		w = w.update(t.ID, func(s *TaskStatus) {
			s.State, s.Reason, s.Fail, s.Outputs = TaskFailed, reason, FailOther, nil
		})
	}
	return w
}

// States is the state of every task, by id.
func (w Work) States() map[TaskID]TaskState {
	states := make(map[TaskID]TaskState, len(w.Tasks))
	for id, t := range w.Tasks {
		states[id] = t.State
	}
	return states
}

// Complete reports whether the plan's goal is reached: every deliverable task
// is done, or every task where none is marked as deliverable.
func (w Work) Complete() bool {
	marked := slices.ContainsFunc(w.Plan.Tasks, func(t Task) bool { return t.Deliverable })
	for _, t := range w.Plan.Tasks {
		if (t.Deliverable || !marked) && w.Tasks[t.ID].State != TaskDone {
			return false
		}
	}
	return len(w.Plan.Tasks) > 0
}

// Progress is how many tasks of the plan are done, and how many there are.
func (w Work) Progress() (done, total int) {
	for _, t := range w.Plan.Tasks {
		if w.Tasks[t.ID].State == TaskDone {
			done++
		}
	}
	return done, len(w.Plan.Tasks)
}

func (w Work) running() int {
	n := 0
	for _, t := range w.Tasks {
		if t.State == TaskRunning {
			n++
		}
	}
	return n
}

// ready counts the tasks that nothing keeps from starting.
func (w Work) ready() int {
	n := 0
	for _, t := range w.Plan.Tasks {
		if w.Tasks[t.ID].State == TaskPending && !slices.ContainsFunc(t.DependsOn, w.unfinished) {
			n++
		}
	}
	return n
}

func (w Work) unfinished(id TaskID) bool { return w.Tasks[id].State != TaskDone }

// settled reports whether no task runs or can start.
func (w Work) settled() bool { return w.running() == 0 && w.ready() == 0 }

// failed lists the tasks of the plan that failed, in plan order.
func (w Work) failed() []TaskID {
	var ids []TaskID
	for _, t := range w.Plan.Tasks {
		if w.Tasks[t.ID].State == TaskFailed {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

func (w Work) anyFailed(kind FailKind) bool {
	return slices.ContainsFunc(w.failed(), func(id TaskID) bool { return w.Tasks[id].Fail == kind })
}

// delivered are the tasks whose results are reviewed: the deliverables, or
// where none are marked, what no other task needs.
func (w Work) delivered() []Task {
	var marked, last []Task
	for _, t := range w.Plan.Tasks {
		needed := slices.ContainsFunc(w.Plan.Tasks, func(o Task) bool { return slices.Contains(o.DependsOn, t.ID) })
		if t.Deliverable {
			marked = append(marked, t)
		}
		if !needed {
			last = append(last, t)
		}
	}
	if len(marked) > 0 {
		return marked
	}
	return last
}
