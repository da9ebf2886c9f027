package plan

// This file holds the rules about ids and dependencies, V1 to V4, V16, V19
// and V20: tasks are told apart, dependencies lead to existing tasks without
// cycles, and spare ones are dropped.

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// checkIDs is V1.
func checkIDs(d *draft) {
	d.reindex()
	for i, t := range d.plan.Tasks {
		switch {
		case !d.out[i]:
		case t.ID == "":
			d.fail("V1", "", "task %d (%q) has no id: give it one of its own", i+1, format.Cut(t.Title, 60))
		default:
			d.fail("V1", t.ID, "id %q is used by task %d and by task %d: give each task an id of its own",
				t.ID, d.index[t.ID]+1, i+1)
		}
	}
}

// checkLinks is V2, V3 and the part of V19 that a typed plan can still have.
func checkLinks(d *draft) {
	d.deps = make([][]int, len(d.plan.Tasks))
	for i, t := range d.plan.Tasks {
		if d.out[i] {
			continue
		}
		seen := map[int]bool{}
		for _, id := range t.DependsOn {
			j, known := d.index[id]
			switch {
			case d.kept[t.ID] && (!known || j == i):
			case id == "":
				d.fail("V19", t.ID, "%s has a dependency without a name: name the task or remove the entry", t.ID)
			case !known:
				d.fail("V2", t.ID, "%s depends on %q, which is no task of this plan%s: name an existing task or add it",
					t.ID, id, d.nearest(string(id), d.ids))
			case j == i:
				d.fail("V3", t.ID, "%s depends on itself: remove the dependency", t.ID)
			case !seen[j]:
				seen[j] = true
				d.deps[i] = append(d.deps[i], j)
			}
			d.given = d.given || !d.kept[t.ID]
		}
	}
}

// checkCycle is V4; it says whether the plan has an order. Edges that follow
// from inputs count.
func checkCycle(d *draft) bool {
	needs := d.needs()
	order, rest := topological(needs)
	if len(rest) == 0 {
		d.order = order
		return true
	}
	d.circular = circular(needs, rest)
	round := cycle(needs, rest)
	ids := make([]string, 0, len(round)+1)
	byInput := false
	for at, i := range round {
		ids = append(ids, string(d.plan.Tasks[i].ID))
		before := round[(at+len(round)-1)%len(round)]
		byInput = byInput || !slices.Contains(d.deps[i], before)
	}
	first := ids[0]
	if len(ids) > 40 {
		ids = slices.Concat(ids[:20], []string{"(" + strconv.Itoa(len(ids)-40) + " more)"}, ids[len(ids)-20:])
	}
	why := "remove one of these dependencies"
	if byInput {
		why = "remove one of these dependencies, or the input that implies it"
	}
	d.fail("V4", agent.TaskID(first), "tasks wait for each other in a circle: %s → %s; %s",
		strings.Join(ids, " → "), first, why)
	return false
}

// circular trims what only comes after cycles as well.
func circular(needs [][]int, rest []int) []bool {
	on := make([]bool, len(needs))
	for _, i := range rest {
		on[i] = true
	}
	back := reversed(needs)
	_, front := topological(back)
	ahead := make([]bool, len(needs))
	for _, i := range front {
		ahead[i] = true
	}
	for i := range on {
		on[i] = on[i] && ahead[i]
	}
	return on
}

// chainTasks is V20: where nobody gave a dependency, the tasks run one after the
// other in the order in which they are listed, unless the plan says that they are
// independent. Inputs that one has of another are dependencies all the same.
func chainTasks(d *draft) {
	js := d.judged()
	if d.given || len(js) < 2 || d.keptNeedsNew() {
		return
	}
	if d.plan.Independent {
		d.note("V20", "", "no dependencies were given and the tasks are independent: the %d tasks run side by side", len(js))
		return
	}
	for at, i := range js[1:] {
		j := js[at]
		d.deps[i] = []int{j}
		d.plan.Tasks[i].DependsOn = []agent.TaskID{d.plan.Tasks[j].ID}
	}
	d.order, _ = topological(d.needs())
	first, last := d.plan.Tasks[js[0]].ID, d.plan.Tasks[js[len(js)-1]].ID
	d.note("V20", "", "no dependencies were given: the %d tasks run one after the other as listed, %s first, %s last",
		len(js), first, last)
}

// keptNeedsNew says that an accepted task waits for one that is new, so that
// chaining could close a circle.
func (d *draft) keptNeedsNew() bool {
	for i, needs := range d.needs() {
		if d.kept[d.plan.Tasks[i].ID] && slices.ContainsFunc(needs, func(j int) bool {
			return !d.kept[d.plan.Tasks[j].ID]
		}) {
			return true
		}
	}
	return false
}

// reduceEdges is V16: a dependency that another one implies is dropped.
func reduceEdges(d *draft) {
	place := make([]int, len(d.order))
	for at, i := range d.order {
		place[i] = at
	}
	for i := range d.plan.Tasks {
		t := &d.plan.Tasks[i]
		if d.out[i] || d.kept[t.ID] {
			continue
		}
		last := slices.Clone(d.deps[i])
		slices.SortFunc(last, func(a, b int) int { return place[b] - place[a] })
		covered, drop := newBits(len(d.plan.Tasks)), map[int]bool{}
		for _, j := range last {
			if covered.has(j) {
				drop[j] = true
				continue
			}
			covered.join(d.before[j])
		}
		d.keepEdges(i, drop)
	}
}

// keepEdges rewrites the dependencies of a task without the ones dropped and
// without repetitions. Wrong ones stay: their findings speak of them.
func (d *draft) keepEdges(i int, drop map[int]bool) {
	t := &d.plan.Tasks[i]
	var keep, gone []agent.TaskID
	seen := map[agent.TaskID]bool{}
	for _, id := range t.DependsOn {
		j, known := d.index[id]
		if seen[id] || known && drop[j] {
			gone = append(gone, id)
			continue
		}
		seen[id] = true
		keep = append(keep, id)
	}
	if gone = distinct(gone); len(gone) == 0 {
		return
	}
	t.DependsOn = keep
	d.deps[i] = slices.DeleteFunc(d.deps[i], func(j int) bool { return drop[j] })
	d.note("V16", t.ID, "%s need not name %s: other dependencies already imply it; removed", t.ID, names(gone, 10))
}
