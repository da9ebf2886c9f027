package plan

// This file holds the rules about data, V5 to V9 and V17: inputs and
// placeholders come from the goal or from one task that is finished by then,
// and every output is of use to somebody.

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

const goalPrefix = "goal."

// checkProducers is V6.
func checkProducers(d *draft) {
	d.producer = map[string]int{}
	for i, t := range d.plan.Tasks {
		if d.out[i] {
			continue
		}
		for _, o := range t.Outputs {
			first, taken := d.producer[o.Name]
			switch {
			case !taken:
				d.producer[o.Name] = i
			case d.kept[t.ID]:
			case first == i:
				d.fail("V6", t.ID, "%s lists the output %q twice: give each output a name of its own", t.ID, o.Name)
			default:
				d.fail("V6", t.ID, "output %q of %s is also produced by %s: rename one of them",
					o.Name, t.ID, d.plan.Tasks[first].ID)
			}
		}
	}
}

// checkInputs is V5. Whoever produces an input becomes an ancestor by V7, so
// what is left here is an input that nobody else produces.
func checkInputs(d *draft) {
	d.feeds = make([][]int, len(d.plan.Tasks))
	for i, t := range d.plan.Tasks {
		if d.out[i] {
			continue
		}
		seen := map[int]bool{}
		for _, name := range t.Inputs {
			if d.goalInput(t, name) {
				continue
			}
			d.given = d.given || !d.kept[t.ID]
			j, known := d.producer[name]
			switch {
			case known && j != i:
				if !seen[j] {
					seen[j] = true
					d.feeds[i] = append(d.feeds[i], j)
				}
			case d.kept[t.ID]:
			case known:
				d.fail("V5", t.ID, "input %q of %s is its own output: no earlier task produces it", name, t.ID)
			default:
				d.fail("V5", t.ID, "no task produces the input %q of %s%s: name an output of an earlier task or goal.NAME",
					name, t.ID, d.nearest(name, d.outputs))
			}
		}
	}
}

func (d *draft) outputs() []string {
	var all []string
	for _, t := range d.plan.Tasks {
		for _, o := range t.Outputs {
			all = append(all, o.Name)
		}
	}
	return all
}

// goalInput says whether the name is one of the goal's; an unknown one is V5.
func (d *draft) goalInput(t agent.Task, name string) bool {
	rest, ok := strings.CutPrefix(name, goalPrefix)
	if !ok {
		return false
	}
	if !d.goalHas(rest) && !d.kept[t.ID] {
		d.fail("V5", t.ID, "the goal has no input %q that %s could use: its inputs are %s",
			rest, t.ID, orNone(d.o.GoalInputs))
	}
	return true
}

func (d *draft) goalHas(name string) bool {
	return d.o.GoalInputs == nil || slices.Contains(d.o.GoalInputs, name)
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return names(list, 10)
}

// addEdges is V7. It goes through the tasks in their order and computes what
// comes before each.
func addEdges(d *draft) {
	d.before = make([]bits, len(d.plan.Tasks))
	place := make([]int, len(d.plan.Tasks))
	for at, i := range d.order {
		place[i] = at
	}
	for _, i := range d.order {
		t := &d.plan.Tasks[i]
		before := newBits(len(d.plan.Tasks))
		for _, j := range d.deps[i] {
			before.join(d.before[j])
			before.set(j)
		}
		d.before[i] = before
		if d.kept[t.ID] {
			continue
		}
		// The latest producer first: it may have the others before it.
		feeds := slices.Clone(d.feeds[i])
		slices.SortFunc(feeds, func(a, b int) int { return place[b] - place[a] })
		var added []agent.TaskID
		for _, j := range feeds {
			if before.has(j) {
				continue
			}
			before.join(d.before[j])
			before.set(j)
			id := d.plan.Tasks[j].ID
			added = append(added, id)
			d.deps[i] = append(d.deps[i], j)
			d.note("V7", t.ID, "%s uses an output of %s: the dependency was added", t.ID, id)
		}
		if len(added) > 0 {
			t.DependsOn = slices.Concat(t.DependsOn, added)
		}
	}
}

// checkUse is V8 and V9.
func checkUse(d *draft) {
	taken := map[string]bool{}
	followed := make([]bool, len(d.plan.Tasks))
	for i, t := range d.plan.Tasks {
		for _, name := range t.Inputs {
			if d.producer[name] != i {
				taken[name] = true
			}
		}
		for _, j := range d.deps[i] {
			followed[j] = true
		}
		for _, j := range d.feeds[i] {
			followed[j] = true
		}
	}
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		if t.Deliverable {
			continue
		}
		for _, o := range t.Outputs {
			if !taken[o.Name] {
				d.warn("V8", t.ID, "output %q of %s is neither used by a task nor part of a deliverable", o.Name, t.ID)
			}
		}
		if followed[i] {
			continue
		}
		severity := agent.SeverityWarning
		if d.o.Final {
			severity = agent.SeverityError
		}
		d.add("V9", severity, t.ID,
			"%s is not essential: nothing uses it and it is no deliverable; remove it, use it, or mark it as deliverable", t.ID)
	}
}

// checkPlaceholders is V17. Parse looks after the placeholders of foreign plans.
func checkPlaceholders(d *draft) {
	if d.foreign() {
		return
	}
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		for _, name := range Placeholders(t.Instructions) {
			if rest, ok := strings.CutPrefix(name, goalPrefix); ok {
				if !d.goalHas(rest) {
					d.fail("V17", t.ID, "${%s} in %s: the goal has no such input; its inputs are %s",
						name, t.ID, orNone(d.o.GoalInputs))
				}
				continue
			}
			checkPlaceholder(d, i, name)
		}
	}
}

func checkPlaceholder(d *draft, i int, name string) {
	t := d.plan.Tasks[i]
	j, known := d.producer[name]
	listed := slices.Contains(t.Inputs, name)
	switch {
	case !known && (listed || !outputName(name)):
		// Listed without a producer is V5; ${HOME} or ${a + b} is nobody's output.
	case !known:
		d.fail("V17", t.ID, "${%s} in %s names an output that no task produces%s: "+
			"name an output of an earlier task, or write $${%s} to keep the text as it is",
			name, t.ID, d.nearest(name, d.outputs), name)
	case d.later(j, i):
		d.fail("V17", t.ID, "${%s} in %s is produced by %s, which is not finished by then: let %s depend on %s",
			name, t.ID, d.plan.Tasks[j].ID, t.ID, d.plan.Tasks[j].ID)
	case !listed:
		d.warn("V17", t.ID, "${%s} in %s stays as it is: %q is not among its inputs; add it there to get the value",
			name, t.ID, name)
	}
}

// later says that the producer j is not certain to be finished when i starts.
func (d *draft) later(j, i int) bool {
	if i == j {
		return true
	}
	if d.before == nil {
		return d.circular[i] && d.circular[j]
	}
	return !d.before[i].has(j)
}

// outputName tells names of outputs from other texts in ${}: identifiers with a
// small letter.
func outputName(name string) bool {
	small := false
	for i, r := range name {
		switch {
		case 'a' <= r && r <= 'z' || r > 127:
			small = true
		case 'A' <= r && r <= 'Z', r == '_':
		case i > 0 && ('0' <= r && r <= '9' || r == '-'):
		default:
			return false
		}
	}
	return small
}
