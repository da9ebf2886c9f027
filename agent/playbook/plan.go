package playbook

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Plan makes the playbook's plan: a task a stage. In instructions ${input.NAME} is
// the value of that input, or its default. Tools are those that there are, by which
// a "?" at the end of a name is decided; nil: all.
func (b Playbook) Plan(inputs map[string]string, tools []string) (agent.Plan, error) {
	values, err := b.values(inputs)
	if err != nil {
		return agent.Plan{}, err
	}
	fill := func(text string) string { return values.Replace(strings.TrimSpace(text)) }
	p := agent.Plan{Name: cmp.Or(b.Title, b.Name), Description: b.Description, DoneWhen: agent.Texts(b.DoneWhen), Playbook: b.Name, Stages: b.stages()}
	for i := range p.Stages {
		p.Stages[i].Check = filled(p.Stages[i].Check, values)
	}
	makers, last := map[string]agent.TaskID{}, map[agent.TaskID]bool{}
	marked := false
	for _, s := range b.Stages {
		last[agent.TaskID(s.Name)] = true
		marked = marked || s.Deliverable
		for _, o := range s.Out {
			makers[o.Name] = agent.TaskID(s.Name)
		}
	}
	for i, s := range b.Stages {
		t := agent.Task{ID: agent.TaskID(s.Name), Title: cmp.Or(fill(s.Title), s.Name), Instructions: fill(s.Instructions), Role: s.Role,
			Inputs: p.Stages[i].In, Outputs: specs(s.Out), Tools: present(s.Tools, tools), Effort: cmp.Or(s.Effort, 5), Value: cmp.Or(s.Value, 5),
			Acceptance: fill(s.Acceptance), Deliverable: s.Deliverable, Writes: agent.Texts(s.Writes), Check: p.Stages[i].Check, Reviewer: s.Reviewer}
		if s.Env != nil {
			t.Env = &s.Env.Env
		}
		for _, in := range t.Inputs {
			t.DependsOn = append(t.DependsOn, makers[in])
		}
		for _, name := range s.After {
			t.DependsOn = append(t.DependsOn, agent.TaskID(name))
		}
		slices.Sort(t.DependsOn)
		t.DependsOn = slices.Compact(t.DependsOn)
		for _, id := range t.DependsOn {
			delete(last, id)
		}
		p.Tasks = append(p.Tasks, t)
	}
	for i := range p.Tasks {
		p.Tasks[i].Deliverable = p.Tasks[i].Deliverable || !marked && last[p.Tasks[i].ID]
	}
	return p, nil
}

// filled is a check with the inputs in their places.
func filled(c *agent.Check, values *strings.Replacer) *agent.Check {
	if c == nil {
		return nil
	}
	f := *c
	f.Command, f.File, f.Query = values.Replace(c.Command), values.Replace(c.File), values.Replace(c.Query)
	return &f
}

// values puts inputs in their places.
func (b Playbook) values(given map[string]string) (*strings.Replacer, error) {
	var pairs, known []string
	for _, in := range b.Inputs {
		known = append(known, in.Name)
		v, is := given[in.Name]
		switch {
		case is:
		case in.Default == nil:
			return nil, fmt.Errorf("the playbook %s needs the input %s (%s): give it as --input %s=…, or under inputs", b.Name, in.Name, in.Description, in.Name)
		default:
			v = *in.Default
		}
		pairs = append(pairs, "${input."+in.Name+"}", strings.ReplaceAll(v, "${", "$${")) // a value is no placeholder
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("the playbook %s has no input %q%s", b.Name, name, nearest(name, known))
		}
	}
	return strings.NewReplacer(pairs...), nil
}

// present are the tools of a list that there are; a name without "?" stays, so that
// the plan's rules name what is missing.
func present(list, tools []string) []string {
	var have []string
	for _, t := range list {
		plain := strings.TrimSuffix(t, "?")
		if plain == t || tools == nil || slices.Contains(tools, plain) {
			have = append(have, plain)
		}
	}
	return have
}

// Complete gives a plan what its words stand for: the tasks of its playbook where it
// has none, the stages that it is held to, and the roles that it names, as they are
// now. What the plan kept from before stays as it was. The error is for whoever
// wrote the plan.
func (l *Library) Complete(p agent.Plan, inputs map[string]string, tools []string) (agent.Plan, error) {
	if p.Playbook != "" && len(p.Stages) == 0 {
		b, known := l.Playbook(p.Playbook)
		if !known {
			return p, fmt.Errorf("there is no playbook %q%s", p.Playbook, l.Nearest(p.Playbook))
		}
		made, err := b.Plan(inputs, tools)
		switch {
		case len(p.Tasks) > 0:
			p.Stages = made.Stages
			if len(p.Stages) == 0 {
				p.Stages = b.stages()
			}
		case err != nil:
			return p, err
		default:
			made.Name, made.Description = cmp.Or(p.Name, made.Name), cmp.Or(p.Description, made.Description)
			made.Goals, made.Assumptions, made.Roles = p.Goals, p.Assumptions, p.Roles
			if len(p.DoneWhen) > 0 {
				made.DoneWhen = p.DoneWhen
			}
			p = made
		}
	}
	p.Roles = slices.Clip(p.Roles)
	add := func(name string) {
		r, known := l.Role(name)
		if _, has := p.Role(name); known && !has {
			role := r.Role
			role.Tools = present(r.Tools, tools)
			p.Roles = append(p.Roles, role)
		}
	}
	for _, s := range p.Stages {
		add(s.Role)
		add(s.Reviewer)
	}
	for _, t := range p.Tasks {
		add(t.Role)
		add(t.Reviewer)
	}
	return p, nil
}

// Given is the plan as a run's first answer, which no model gave: it is judged,
// approved and mended as a model's is. A playbook's plan names it alone: its stages
// are those that its file has when the run begins.
func Given(by string, p agent.Plan, inputs map[string]string) (agent.Body, error) {
	args, err := format.JSON(struct {
		agent.Plan
		Inputs map[string]string `json:"inputs,omitempty"`
	}{p, inputs})
	if err != nil {
		return nil, fmt.Errorf("write the plan down: %w", err)
	}
	if p.Playbook != "" && len(p.Tasks) == 0 {
		if args, err = format.JSON(map[string]any{"playbook": p.Playbook, "inputs": inputs}); err != nil {
			return nil, fmt.Errorf("write the plan down: %w", err)
		}
	}
	return agent.ModelAnswered{Call: "main.1", Purpose: llm.Intake, Given: by, Cost: new(agent.Nano),
		Message: &llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "given", Name: "submit_plan", Arguments: string(args)}}}}, nil
}

// Listed is the plan of a goal that is itself a list of steps: a line for each, or at
// least three on one line.
func Listed(goal string) (agent.Body, bool) {
	lines := strings.Split(goal, "\n")
	p, err := Steps(goal)
	if err != nil || numbered(lines) < 2 && len(p.Tasks) < 3 {
		return nil, false
	}
	b, err := Given("steps", p, nil)
	return b, err == nil
}
