package agent

import "encoding/json"

// Plan is a graph of tasks that serves a goal, as the model submits it
// (submit_plan) and as a person may edit it.
type Plan struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Goals       []string `json:"goals,omitempty"`
	Assumptions []string `json:"assumptions,omitempty"`
	DoneWhen    Texts    `json:"done_when,omitempty"`
	Tasks       []Task   `json:"tasks"`
}

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

// PlanFinding is what the validator says of a plan (RULES.md, "Plan"): Code is
// V1 to V20, Task the task concerned, empty for the plan as a whole.
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
