package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// MaxPlan is the number of tasks above which a plan is not examined any further
// than V18.
const MaxPlan = 5000

// Options is what Check knows beside the plan.
type Options struct {
	// Goal is what the person asked for, in their words.
	Goal string
	// GoalInputs are the names that tasks may use as goal.NAME; nil: any.
	GoalInputs []string
	// Tools and Roles are those that exist (V10, V11); nil: not judged.
	Tools []agent.ToolSpec
	Roles []string
	// MaxTasks is how many tasks the budget carries; 0: MaxPlan.
	MaxTasks int
	// Final makes V9 an error: what is not essential may no longer stay.
	Final bool
	// Shape is how the plan was written. Foreign plans know no effort, value or
	// goals (V14, V15) and name tools instead of actions (V12).
	Shape Shape
	// Found is what Parse found; it becomes part of the findings.
	Found []agent.PlanFinding
	// Kept are tasks of the plan that were accepted before: they are not judged
	// again and not changed, and may not be repeated (V13).
	Kept []agent.TaskID
	// Parents says which task made a task with add_tasks (V12, V18).
	Parents map[agent.TaskID]agent.TaskID
}

// Check examines a plan by the rules V1 to V20. It returns the normalised plan
// (V7, V13, V16 and V20 change it, and say so) and the findings, ordered by code,
// place of the task in the plan, and message. Only errors stop a plan. The
// argument is not changed. A plan with a cycle keeps its edges as they are.
func Check(p agent.Plan, o Options) (agent.Plan, []agent.PlanFinding) {
	d := newDraft(p, o)
	if d.oversize() {
		return p, d.sorted()
	}
	d.checkIDs()
	d.checkDuplicates()
	d.checkLinks()
	d.checkProducers()
	d.checkInputs()
	if d.checkCycle() {
		d.chain()
		d.addEdges()
		d.reduceEdges()
	}
	d.checkUse()
	d.checkCatalogue()
	d.checkTypes()
	d.checkActions()
	d.checkWorth()
	d.checkGoals()
	d.checkPlaceholders()
	d.checkSize()
	return d.plan, d.sorted()
}

// Stops says whether one of the findings is an error.
func Stops(found []agent.PlanFinding) bool {
	return slices.ContainsFunc(found, func(f agent.PlanFinding) bool {
		return f.Severity == agent.SeverityError
	})
}

// draft is a plan under examination. Tasks are addressed by their place in the
// plan; a task whose id is empty or taken takes no part in the graph.
type draft struct {
	plan  agent.Plan
	o     Options
	kept  map[agent.TaskID]bool
	index map[agent.TaskID]int // first task with the id
	out   []bool               // takes no part: its id is empty or taken

	given    bool           // some dependency was given, even a wrong one
	deps     [][]int        // valid declared dependencies, without repetitions
	producer map[string]int // first producer of an output
	feeds    [][]int        // producers of a task's inputs
	order    []int          // topological, nil with a cycle
	circular []bool         // on a cycle or between two
	before   []bits         // ancestors, nil with a cycle

	found     []agent.PlanFinding
	suggested int
}

func newDraft(p agent.Plan, o Options) *draft {
	d := &draft{plan: p, o: o, kept: make(map[agent.TaskID]bool, len(o.Kept))}
	d.plan.Tasks = slices.Clone(p.Tasks)
	for _, id := range o.Kept {
		d.kept[id] = true
	}
	d.found = slices.Clone(o.Found)
	// A link that could not be read was still a dependency that somebody gave.
	d.given = slices.ContainsFunc(o.Found, func(f agent.PlanFinding) bool {
		return f.Code == "V19" || f.Code == "V2"
	})
	return d
}

// reindex is to be called whenever the list of tasks has changed.
func (d *draft) reindex() {
	d.index = make(map[agent.TaskID]int, len(d.plan.Tasks))
	d.out = make([]bool, len(d.plan.Tasks))
	for i, t := range d.plan.Tasks {
		if _, taken := d.index[t.ID]; taken || t.ID == "" {
			d.out[i] = true
			continue
		}
		d.index[t.ID] = i
	}
}

// judged are the places of the tasks that rules about single tasks look at.
func (d *draft) judged() []int {
	var js []int
	for i, t := range d.plan.Tasks {
		if !d.out[i] && !d.kept[t.ID] {
			js = append(js, i)
		}
	}
	return js
}

func (d *draft) foreign() bool { return d.o.Shape != ShapeDeckhand }

func (d *draft) add(code string, s agent.Severity, task agent.TaskID, format string, args ...any) {
	d.found = append(d.found, agent.PlanFinding{
		Code: code, Severity: s, Task: task, Message: fmt.Sprintf(format, args...),
	})
}

func (d *draft) fail(code string, task agent.TaskID, format string, args ...any) {
	d.add(code, agent.SeverityError, task, format, args...)
}

func (d *draft) warn(code string, task agent.TaskID, format string, args ...any) {
	d.add(code, agent.SeverityWarning, task, format, args...)
}

func (d *draft) note(code string, task agent.TaskID, format string, args ...any) {
	d.add(code, agent.SeverityInfo, task, format, args...)
}

func (d *draft) sorted() []agent.PlanFinding {
	place := make(map[agent.TaskID]int, len(d.plan.Tasks))
	for i, t := range d.plan.Tasks {
		if _, taken := place[t.ID]; !taken && t.ID != "" {
			place[t.ID] = i + 1
		}
	}
	slices.SortStableFunc(d.found, func(a, b agent.PlanFinding) int {
		return cmp.Or(
			cmp.Compare(codeNumber(a.Code), codeNumber(b.Code)),
			cmp.Compare(place[a.Task], place[b.Task]),
			cmp.Compare(a.Task, b.Task),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return append([]agent.PlanFinding{}, slices.Compact(d.found)...)
}

func codeNumber(code string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(code, "V"))
	if err != nil {
		return 0 // a code of somebody else: first
	}
	return n
}

// names lists ids for people: a, b, c and 4 more.
func names[T ~string](ids []T, most int) string {
	var b strings.Builder
	for i, id := range ids {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(ids)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(id))
	}
	return b.String()
}
