package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

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

func (d *draft) ids() []string {
	ids := make([]string, 0, len(d.index))
	for i, t := range d.plan.Tasks {
		if !d.out[i] {
			ids = append(ids, string(t.ID))
		}
	}
	return ids
}

func (d *draft) tools() []string {
	all := make([]string, len(d.o.Tools))
	for i, s := range d.o.Tools {
		all[i] = s.Name
	}
	return all
}

// needs joins declared dependencies and those that follow from inputs.
func (d *draft) needs() [][]int {
	needs := make([][]int, len(d.deps))
	for i := range d.deps {
		needs[i] = union(d.deps[i], d.feeds[i])
	}
	return needs
}

// parent is the task that made this one: by Options.Parents, or by a dotted id
// whose beginning is a task ("t2" of "t2.1"). Empty: the task is at the top.
func (d *draft) parent(id agent.TaskID) agent.TaskID {
	if p, told := d.o.Parents[id]; told {
		return p
	}
	at := strings.LastIndexByte(string(id), '.')
	if at <= 0 {
		return ""
	}
	if _, known := d.index[id[:at]]; !known {
		return ""
	}
	return id[:at]
}

// suggestions is how many nearest names one examination looks for: a plan full of
// unknown names must not cost more than the rest of the examination.
const suggestions = 50

// nearest names the candidate with the smallest edit distance, as the end of a
// sentence; the first of equals.
func (d *draft) nearest(name string, candidates func() []string) string {
	if d.suggested++; d.suggested > suggestions {
		return ""
	}
	best := format.Nearest(name, candidates(), math.MaxInt)
	if best == "" {
		return ""
	}
	return `; the nearest is "` + best + `"`
}
