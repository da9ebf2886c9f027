package plan

// This file reads plans in the shapes of other systems, HuggingGPT's list of
// calls and lists of nodes with links, into Deckhand's own, so that the same
// rules can judge them.

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// foreign collects a plan whose links stand beside its tasks.
type foreign struct {
	plan    agent.Plan
	index   map[agent.TaskID]int // first task with the id
	links   bool                 // at least one link is well-formed
	given   bool                 // at least one link was written, however badly
	touched map[agent.TaskID]bool
	feeds   map[agent.TaskID]bool // has something after it
	found   []agent.PlanFinding
}

func newForeign() *foreign {
	return &foreign{
		index: map[agent.TaskID]int{}, touched: map[agent.TaskID]bool{}, feeds: map[agent.TaskID]bool{},
	}
}

// add takes a node: a call of one tool with arguments.
func (f *foreign) add(id agent.TaskID, tool string, args json.RawMessage) {
	t := agent.Task{ID: id, Title: tool, Tools: []string{tool}}
	if text := unescaped.Replace(compact(args)); text != "" && text != "null" && text != "{}" && text != "[]" {
		t.Instructions = text
	}
	if _, taken := f.index[id]; !taken {
		f.index[id] = len(f.plan.Tasks)
	}
	f.plan.Tasks = append(f.plan.Tasks, t)
}

// unescaped undoes what encoders escape for the sake of HTML, so that references
// are found.
var unescaped = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003C`, "<", `\u003e`, ">", `\u003E`, ">", `\u0026`, "&")

// link lets target depend on source.
func (f *foreign) link(source, target agent.TaskID) {
	f.links, f.given = true, true
	f.touched[source], f.touched[target] = true, true
	i, known := f.index[target]
	if known && source != target {
		f.feeds[source] = true
	}
	if !known {
		task := source
		if _, known := f.index[source]; !known {
			task = ""
		}
		f.fail("V2", task, "a link leads from %q to %q, which is no task of this plan: name an existing task or add it", source, target)
		return
	}
	f.plan.Tasks[i].DependsOn = append(f.plan.Tasks[i].DependsOn, source)
}

// broken reports a link that is none. Tasks that it names count as touched.
func (f *foreign) broken(raw json.RawMessage, wanted string, ends ...agent.TaskID) {
	f.given = true
	task := agent.TaskID("")
	for _, id := range ends {
		f.touched[id] = true
		if _, known := f.index[id]; known && task == "" {
			task = id
		}
	}
	f.found = append(f.found, malformed(task, fmt.Sprintf("the link %s is malformed: %s", format.Cut(compact(raw), 80), wanted)))
}

func (f *foreign) fail(code string, task agent.TaskID, format string, args ...any) {
	f.found = append(f.found, agent.PlanFinding{
		Code: code, Severity: agent.SeverityError, Task: task, Message: fmt.Sprintf(format, args...),
	})
}

// finish marks the ends of chains as deliverables. Without any link the last task
// is the end, for Check chains them all; where no link can be read, nobody knows
// the chains, and every task counts as an end.
func (f *foreign) finish() agent.Plan {
	last := 0
	for _, i := range f.index {
		last = max(last, i)
	}
	for i := range f.plan.Tasks {
		t := &f.plan.Tasks[i]
		switch {
		case f.links:
			t.Deliverable = f.touched[t.ID] && !f.feeds[t.ID]
		case f.given:
			t.Deliverable = true
		default:
			t.Deliverable = i == last
		}
	}
	return f.plan
}

// parseNodes reads {"task_nodes", "task_links"}: the name is the id.
func parseNodes(data []byte) (agent.Plan, Shape, []agent.PlanFinding, error) {
	var raw struct {
		Nodes []json.RawMessage `json:"task_nodes"`
		Links json.RawMessage   `json:"task_links"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return agent.Plan{}, ShapeTaskBench, nil, fmt.Errorf(`%w: "task_nodes" should be a list of {"task", "arguments"}`, ErrShape)
	}
	if len(raw.Nodes) == 0 {
		return agent.Plan{}, ShapeTaskBench, nil, fmt.Errorf(`%w: "task_nodes" has no entry; ask what is wanted`, ErrEmpty)
	}
	f := newForeign()
	for at, n := range raw.Nodes {
		name, args := node(n)
		if name == "" {
			f.fail("V1", "", `task_nodes[%d] has no name: write {"task": NAME, "arguments": …}`, at)
			continue
		}
		f.add(agent.TaskID(name), name, args)
	}
	f.readLinks(raw.Links)
	return f.finish(), ShapeTaskBench, f.found, nil
}

// node reads {"task", "arguments"} or a bare name.
func node(raw json.RawMessage) (name string, args json.RawMessage) {
	if json.Unmarshal(raw, &name) == nil {
		return name, nil
	}
	var n struct {
		Task      json.RawMessage `json:"task"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(raw, &n) != nil || json.Unmarshal(n.Task, &name) != nil {
		return "", nil
	}
	return name, n.Arguments
}

func (f *foreign) readLinks(raw json.RawMessage) {
	const wanted = `write {"source": NAME, "target": NAME}`
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		f.broken(raw, wanted)
		return
	}
	for _, r := range list {
		var ends struct {
			Source json.RawMessage `json:"source"`
			Target json.RawMessage `json:"target"`
		}
		if json.Unmarshal(r, &ends) != nil {
			f.broken(r, wanted)
			continue
		}
		source, one := end(ends.Source)
		target, two := end(ends.Target)
		switch {
		case one && two:
			f.link(source, target)
		case one:
			f.broken(r, wanted, source)
		case two:
			f.broken(r, wanted, target)
		default:
			f.broken(r, wanted)
		}
	}
}

// end reads one end of a link: a string that is not empty.
func end(raw json.RawMessage) (agent.TaskID, bool) {
	var id agent.TaskID
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &id) != nil {
		return "", false
	}
	return id, id != ""
}

// call is one entry of HuggingGPT's list.
type call struct {
	Task string          `json:"task"`
	ID   json.RawMessage `json:"id"`
	Dep  json.RawMessage `json:"dep"`
	Args json.RawMessage `json:"args"`
}

// callList tells a wrapped HuggingGPT list from Deckhand's tasks.
func callList(raw json.RawMessage) bool {
	var list []struct {
		Task  string `json:"task"`
		Title string `json:"title"`
	}
	return json.Unmarshal(raw, &list) == nil && len(list) > 0 && list[0].Task != "" && list[0].Title == ""
}

// parseCalls reads [{"task", "id", "dep", "args"}]. Ids may be numbers; a
// dependency on -1 is none; <GENERATED>-ID in args is the output of that task.
func parseCalls(data []byte) (agent.Plan, Shape, []agent.PlanFinding, error) {
	var calls []call
	if err := json.Unmarshal(data, &calls); err != nil {
		return agent.Plan{}, ShapeHuggingGPT, nil, fmt.Errorf(`%w: the list should hold {"task", "id", "dep", "args"}; %s`, ErrShape, shapes)
	}
	if len(calls) == 0 {
		return agent.Plan{}, ShapeHuggingGPT, nil, fmt.Errorf("%w: the list has no entry; ask what is wanted", ErrEmpty)
	}
	f := newForeign()
	ids := make([]agent.TaskID, len(calls))
	for at, c := range calls {
		if c.Task == "" {
			return agent.Plan{}, ShapeHuggingGPT, nil, fmt.Errorf(`%w: entry %d of the list has no "task"; %s`, ErrShape, at, shapes)
		}
		id, ok := looseID(c.ID)
		if !ok {
			id = agent.TaskID(strconv.Itoa(at))
		}
		ids[at] = id
		f.add(id, c.Task, c.Args)
	}
	for at, c := range calls {
		f.readDep(ids[at], c.Dep)
		f.readReferences(at, ids[at])
	}
	return f.finish(), ShapeHuggingGPT, f.found, nil
}

// looseID reads an id that may be a number.
func looseID(raw json.RawMessage) (agent.TaskID, bool) {
	var id agent.TaskID
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if json.Unmarshal(raw, &id) == nil {
		return id, id != ""
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return agent.TaskID(n.String()), true
	}
	return "", false
}

func (f *foreign) readDep(task agent.TaskID, raw json.RawMessage) {
	if len(raw) == 0 || string(raw) == "null" {
		return
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, r := range list {
		id, ok := looseID(r)
		if _, known := f.index[id]; ok && id == "-1" && !known {
			continue
		}
		if !ok {
			f.broken(r, fmt.Sprintf("dep of %s should hold ids of tasks", task), task)
			continue
		}
		f.link(id, task)
	}
}

var reference = regexp.MustCompile(`<GENERATED>-([A-Za-z0-9_]+)`)

// readReferences turns <GENERATED>-ID into an input of this task and an output of
// that one, so that the rules about data apply.
func (f *foreign) readReferences(at int, task agent.TaskID) {
	t := &f.plan.Tasks[at]
	for _, m := range reference.FindAllStringSubmatch(t.Instructions, -1) {
		name, id := m[0], agent.TaskID(m[1])
		i, known := f.index[id]
		switch {
		case !known:
			f.fail("V17", task, "%s in %s refers to a task that this plan does not have", name, task)
		case id == task:
			f.fail("V17", task, "%s in %s refers to the task itself", name, task)
		case !slices.Contains(t.Inputs, name):
			t.Inputs = append(t.Inputs, name)
			f.links, f.given = true, true
			f.touched[id], f.touched[task], f.feeds[id] = true, true, true
			if from := &f.plan.Tasks[i]; !produces(*from, name) {
				from.Outputs = append(from.Outputs, agent.OutputSpec{Name: name})
			}
		}
	}
}

// compact is JSON without spaces; strings keep their characters.
func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// Foreign reports whether a plan is in another shape than Deckhand's.
func Foreign(data []byte) bool {
	_, shape, _, _ := Parse(data) //nolint:dogsled // the shape alone
	return shape != ShapeDeckhand
}

// Adopt makes a checked plan of a foreign shape workable: a task whose result others
// wait for delivers it as an output, and they are given it.
func Adopt(p agent.Plan, shape Shape) agent.Plan {
	if shape == ShapeDeckhand {
		return p
	}
	p.Tasks = slices.Clone(p.Tasks)
	at := map[agent.TaskID]int{}
	for i, t := range p.Tasks {
		at[t.ID] = i
	}
	for i := range p.Tasks {
		t := &p.Tasks[i]
		t.Effort, t.Value = cmp.Or(t.Effort, 1), cmp.Or(t.Value, 1)
		for _, id := range t.DependsOn {
			j, known := at[id]
			if !known || slices.ContainsFunc(t.Inputs, func(name string) bool { return produces(p.Tasks[j], name) }) {
				continue
			}
			from := &p.Tasks[j]
			name := "result of " + string(id)
			if !produces(*from, name) {
				from.Outputs = append(slices.Clip(from.Outputs), agent.OutputSpec{Name: name})
			}
			t.Inputs = append(slices.Clip(t.Inputs), name)
		}
	}
	return p
}
