package plan

import (
	"maps"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// Merge joins a running plan with a new one for the rest of the work. Tasks that
// are done or running stay as they are, first, in their old order; they may be
// restated in the new plan under their id, but neither repeated (V13) nor replaced
// by other work of the same id (V1). All other tasks are those of the new plan: a
// failed or pending task that it does not name is given up. The name, description
// and so on are the new plan's where it has any. The result is checked with the
// kept tasks as Options.Kept.
func Merge(old agent.Plan, states map[agent.TaskID]agent.TaskState, revised agent.Plan, o Options) (
	agent.Plan, []agent.PlanFinding,
) {
	p := revised
	inherit(&p, old)
	kept := map[agent.TaskID]agent.Task{}
	p.Tasks = nil
	o.Kept = nil
	o.Found = slices.Clone(o.Found)
	for _, t := range old.Tasks {
		if _, twice := kept[t.ID]; twice || !begun(states[t.ID]) {
			continue
		}
		kept[t.ID] = t
		o.Kept = append(o.Kept, t.ID)
		p.Tasks = append(p.Tasks, t)
	}
	for _, t := range revised.Tasks {
		was, taken := kept[t.ID]
		switch {
		case !taken:
			p.Tasks = append(p.Tasks, t)
		case !restates(was, t):
			o.Found = append(o.Found, agent.PlanFinding{
				Code: "V1", Severity: agent.SeverityError, Task: t.ID,
				Message: "id " + string(t.ID) + " belongs to \"" + format.Cut(was.Title, 80) + "\", which is " +
					string(states[t.ID]) + ": give \"" + format.Cut(t.Title, 80) + "\" an id of its own",
			})
		}
	}
	return Check(p, o)
}

func begun(s agent.TaskState) bool { return s == agent.TaskDone || s == agent.TaskRunning }

// restates says that the new plan means the kept task by its id: no title, about
// the same title, or the same outputs.
func restates(was, now agent.Task) bool {
	if now.Title == "" || jaccard(wordsOf(was.Title), wordsOf(now.Title)) >= 0.5 ||
		slices.Equal(titleWords(was.Title), titleWords(now.Title)) {
		return true
	}
	outputs := func(t agent.Task) []string {
		var all []string
		for _, o := range t.Outputs {
			all = append(all, o.Name)
		}
		slices.Sort(all)
		return all
	}
	return len(was.Outputs) > 0 && slices.Equal(outputs(was), outputs(now))
}

func inherit(p *agent.Plan, old agent.Plan) {
	if p.Name == "" {
		p.Name = old.Name
	}
	if p.Description == "" {
		p.Description = old.Description
	}
	if len(p.Goals) == 0 {
		p.Goals = old.Goals
	}
	if len(p.Assumptions) == 0 {
		p.Assumptions = old.Assumptions
	}
	if p.Playbook == "" {
		p.Playbook, p.Stages = old.Playbook, old.Stages
	}
	if len(p.DoneWhen) == 0 {
		p.DoneWhen = old.DoneWhen
	}
}

// Extend adds tasks that the task parent found necessary (add_tasks); an empty
// parent adds them at the top. All tasks of the old plan are kept as they are. The
// parents of earlier additions belong in o.Parents.
func Extend(old agent.Plan, tasks []agent.Task, parent agent.TaskID, o Options) (agent.Plan, []agent.PlanFinding) {
	p := old
	p.Tasks = slices.Concat(old.Tasks, tasks)
	o.Kept = nil
	taken := map[agent.TaskID]bool{}
	for _, t := range old.Tasks {
		taken[t.ID] = true
		o.Kept = append(o.Kept, t.ID)
	}
	o.Parents = maps.Clone(o.Parents)
	if o.Parents == nil {
		o.Parents = map[agent.TaskID]agent.TaskID{}
	}
	for _, t := range tasks {
		if parent != "" && !taken[t.ID] {
			o.Parents[t.ID] = parent
		}
	}
	return Check(p, o)
}
