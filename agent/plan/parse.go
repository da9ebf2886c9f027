package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Shape is how a plan was written.
type Shape string

// The shapes that Parse reads: Deckhand's own, TaskBench's
// {"task_nodes", "task_links"} and HuggingGPT's [{"task", "id", "dep", "args"}].
// The zero value is Deckhand's.
const (
	ShapeDeckhand   Shape = ""
	ShapeTaskBench  Shape = "taskbench"
	ShapeHuggingGPT Shape = "hugginggpt"
)

// What Parse cannot read.
var (
	// ErrShape: the text is no plan in a known shape.
	ErrShape = errors.New("not a plan in a known shape")
	// ErrEmpty: a foreign planner found nothing to do; the person should be asked
	// what they mean.
	ErrEmpty = errors.New("the plan is empty")
)

const shapes = `a plan is {"name", "goals", "tasks": [{"id", "title", …}]}, ` +
	`{"task_nodes", "task_links"} or [{"task", "id", "dep", "args"}]`

// Parse reads a plan. Deckhand's own shape may be wrapped as a call of
// submit_plan or as {"plan": …}. The findings are those that the typed plan
// cannot carry (V1, V2, V17, V19): hand them and the shape to Check. In foreign
// plans the ends of chains become deliverables. The error wraps ErrShape or
// ErrEmpty.
func Parse(data []byte) (agent.Plan, Shape, []agent.PlanFinding, error) {
	data = bytes.TrimPrefix(bytes.TrimSpace(data), []byte("\ufeff"))
	if len(data) == 0 {
		return agent.Plan{}, ShapeDeckhand, nil, fmt.Errorf("%w: the text is empty; %s", ErrShape, shapes)
	}
	if !json.Valid(data) {
		return agent.Plan{}, ShapeDeckhand, nil, fmt.Errorf("%w: %s; %s", ErrShape, syntaxOf(data), shapes)
	}
	data = unwrap(data)
	if data[0] == '[' {
		return parseCalls(data)
	}
	var fields struct {
		Tasks    json.RawMessage `json:"tasks"`
		Nodes    json.RawMessage `json:"task_nodes"`
		Playbook string          `json:"playbook"`
	}
	if err := json.Unmarshal(data, &fields); err != nil || data[0] != '{' {
		return agent.Plan{}, ShapeDeckhand, nil, fmt.Errorf("%w: it is a JSON %s; %s", ErrShape, kindOf(data), shapes)
	}
	switch {
	case fields.Nodes != nil:
		return parseNodes(data)
	case fields.Tasks == nil && fields.Playbook != "": // its stages are the tasks
	case fields.Tasks == nil:
		return agent.Plan{}, ShapeDeckhand, nil, fmt.Errorf(`%w: it has neither "tasks" nor "task_nodes"; %s`, ErrShape, shapes)
	case callList(fields.Tasks):
		return parseCalls(fields.Tasks)
	}
	p, found, err := parseOwn(data)
	return p, ShapeDeckhand, found, err
}

// syntaxOf describes the first syntax error.
func syntaxOf(data []byte) string {
	var v any
	err := json.Unmarshal(data, &v)
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		line := 1 + bytes.Count(data[:min(int(s.Offset), len(data))], []byte("\n"))
		return fmt.Sprintf("line %d: %s", line, s.Error())
	}
	return fmt.Sprint(err)
}

func kindOf(data []byte) string {
	switch data[0] {
	case '"':
		return "string"
	case '[':
		return "list"
	case '{':
		return "object with fields of other types"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	}
	return "number"
}

// unwrap takes a plan out of a tool call, at most four layers: {"function":
// {"name", "arguments"}}, arguments as text, {"plan": …}. Whatever is no wrapping
// comes back as it is.
func unwrap(data []byte) []byte {
	for range 4 {
		var text string
		if data[0] == '"' && json.Unmarshal(data, &text) == nil {
			inner := bytes.TrimSpace([]byte(text))
			if len(inner) == 0 || !json.Valid(inner) {
				return data
			}
			data = inner
			continue
		}
		inner := wrapped(data)
		if inner == nil {
			return data
		}
		data = inner
	}
	return data
}

// wrapped is what an object of a tool call holds, nil where it is none.
func wrapped(data []byte) []byte {
	var w struct {
		Tasks     json.RawMessage `json:"tasks"`
		Nodes     json.RawMessage `json:"task_nodes"`
		Plan      json.RawMessage `json:"plan"`
		Submit    json.RawMessage `json:"submit_plan"`
		Arguments json.RawMessage `json:"arguments"`
		Function  json.RawMessage `json:"function"`
	}
	if data[0] != '{' || json.Unmarshal(data, &w) != nil || w.Tasks != nil || w.Nodes != nil {
		return nil
	}
	for _, layer := range []json.RawMessage{w.Plan, w.Submit, w.Arguments, w.Function} {
		if len(layer) > 0 && (layer[0] == '{' || layer[0] == '"' || layer[0] == '[') {
			return layer
		}
	}
	return nil
}

// ownTask reads dependencies by itself, so that a malformed one is a finding
// about a task and not the end of the plan.
type ownTask struct {
	agent.Task
	DependsOn json.RawMessage `json:"depends_on"`
}

func parseOwn(data []byte) (agent.Plan, []agent.PlanFinding, error) {
	var own struct {
		agent.Plan
		Tasks []ownTask `json:"tasks"`
	}
	if err := json.Unmarshal(data, &own); err != nil {
		if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return agent.Plan{}, nil, fmt.Errorf("%w: %s should be %s, not a %s; %s", ErrShape, t.Field, wanted(t), t.Value, shapes)
		}
		return agent.Plan{}, nil, fmt.Errorf("%w: %w; %s", ErrShape, err, shapes)
	}
	p := own.Plan
	p.Tasks = make([]agent.Task, 0, len(own.Tasks))
	var found []agent.PlanFinding
	for _, o := range own.Tasks {
		t := o.Task
		deps, bad := links(o.DependsOn)
		t.DependsOn = deps
		for _, raw := range bad {
			found = append(found, malformed(t.ID, fmt.Sprintf("a dependency of %s is %s: it should be the id of a task, a string",
				t.ID, format.Cut(string(raw), 60))))
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p, found, nil
}

// wanted names a Go type in the words of JSON.
func wanted(e *json.UnmarshalTypeError) string {
	switch k := e.Type.Kind().String(); k {
	case "slice":
		return "a list"
	case "struct", "map":
		return "an object"
	case "float64", "int":
		return "a number"
	case "bool":
		return "true or false"
	default:
		return "a " + k
	}
}

// links reads a list of ids; a single id is a list of one.
func links(raw json.RawMessage) (ids []agent.TaskID, bad []json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var one agent.TaskID
	if json.Unmarshal(raw, &one) == nil {
		if one == "" {
			return nil, nil
		}
		return []agent.TaskID{one}, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, []json.RawMessage{raw}
	}
	for _, r := range list {
		var id agent.TaskID
		if string(r) == "null" || json.Unmarshal(r, &id) != nil {
			bad = append(bad, r)
			continue
		}
		ids = append(ids, id)
	}
	return ids, bad
}

func malformed(task agent.TaskID, message string) agent.PlanFinding {
	return agent.PlanFinding{Code: "V19", Severity: agent.SeverityError, Task: task, Message: message}
}
