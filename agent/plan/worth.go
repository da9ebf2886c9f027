package plan

// This file holds the rules on the value and size of a plan: each task states
// its effort and value (V14), each goal has a task that serves it (V15), and
// number, depth and fan-out of the tasks stay within bounds (V18).

import (
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// The bounds of V18.
const (
	maxLevel  = 4
	maxFanOut = 20
)

// checkWorth is V14.
func checkWorth(d *draft) {
	if d.foreign() {
		return
	}
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		var missing []string
		if !positive(t.Effort) {
			missing = append(missing, "effort (expected minutes)")
		}
		if !positive(t.Value) {
			missing = append(missing, "value (1 to 10)")
		}
		if len(missing) > 0 {
			d.fail("V14", t.ID, "%s needs a positive %s", t.ID, strings.Join(missing, " and a positive "))
		}
	}
}

// positive is false for NaN as well.
func positive(x float64) bool { return x > 0 }

// checkGoals is V15. A plan without any task serves nothing. Where there are
// several goals, each should have a task: one that names it, else one that speaks
// of it. Words alone prove nothing, least of all across languages: people and the
// judge see the doubt, and the plan is worked.
func checkGoals(d *draft) {
	if len(d.plan.Tasks) == 0 {
		d.fail("V15", "", "the plan has no task: nothing serves the goal")
		return
	}
	if d.foreign() {
		return
	}
	if len(d.plan.Goals) < 2 { // what the whole plan is for needs no saying
		return
	}
	named, said := d.served()
	for at, goal := range d.plan.Goals {
		if !named[at] && !said.tells(goal) {
			d.warn("V15", "", "no task seems to serve goal %d, “%s”", at+1, format.Cut(goal, 120))
		}
	}
}

// served says which goals tasks name as theirs, and what the tasks that name
// none speak of.
func (d *draft) served() (named map[int]bool, said wordSet) {
	named, said = map[int]bool{}, wordSet{}
	for _, t := range d.plan.Tasks {
		for _, ref := range t.Serves {
			for at, goal := range d.plan.Goals {
				if ref = strings.TrimSpace(ref); ref == strconv.Itoa(at+1) || slices.Equal(words(ref), words(goal)) {
					named[at] = true
				}
			}
		}
		if len(t.Serves) > 0 {
			continue
		}
		for _, text := range []string{t.Title, t.Instructions, t.Acceptance, strings.Join(t.Inputs, " ")} {
			said.add(text)
		}
		for _, o := range t.Outputs {
			said.add(o.Name + " " + o.Description + " " + o.Type)
		}
	}
	return named, said
}

// tells reports whether a goal has one of the words, or none that would tell it
// from another.
func (s wordSet) tells(goal string) bool {
	telling := false
	for w := range wordsOf(goal) {
		if !commonVerbs[w] {
			telling = true
			if s[w] {
				return true
			}
		}
	}
	return !telling
}

// checkOversize is the part of V18 that keeps the rest from being examined.
func checkOversize(d *draft) bool {
	if len(d.plan.Tasks) <= MaxPlan {
		return false
	}
	d.fail("V18", "", "the plan has %d tasks; more than %d are not examined: plan in coarser steps",
		len(d.plan.Tasks), MaxPlan)
	return true
}

// checkSize is V18.
func checkSize(d *draft) {
	if d.o.MaxTasks > 0 && len(d.plan.Tasks) > d.o.MaxTasks {
		d.fail("V18", "", "the plan has %d tasks, the budget carries %d: plan in coarser steps or ask for more budget",
			len(d.plan.Tasks), d.o.MaxTasks)
	}
	next := reversed(d.deps)
	parts := d.parts()
	for i, t := range d.plan.Tasks {
		if d.out[i] {
			continue
		}
		fresh := 0
		for _, j := range next[i] {
			if !d.kept[d.plan.Tasks[j].ID] {
				fresh++
			}
		}
		if fresh > 0 && len(next[i]) > maxFanOut {
			d.fail("V18", t.ID, "%d tasks depend directly on %s, at most %d may: group them", len(next[i]), t.ID, maxFanOut)
		}
		if n := len(parts[t.ID]); n > maxFanOut {
			d.fail("V18", t.ID, "%s has %d sub-tasks, at most %d are allowed: group them", t.ID, n, maxFanOut)
		}
		if level := d.level(t.ID); level > maxLevel && !d.kept[t.ID] {
			d.fail("V18", t.ID, "%s is more than %d levels deep: do it within %s",
				t.ID, maxLevel, d.parent(t.ID))
		}
	}
}

// parts are the sub-tasks of each task that has new ones.
func (d *draft) parts() map[agent.TaskID][]agent.TaskID {
	all := map[agent.TaskID][]agent.TaskID{}
	fresh := map[agent.TaskID]bool{}
	for i, t := range d.plan.Tasks {
		if d.out[i] {
			continue
		}
		if p := d.parent(t.ID); p != "" {
			all[p] = append(all[p], t.ID)
			fresh[p] = fresh[p] || !d.kept[t.ID]
		}
	}
	for p := range all {
		if !fresh[p] {
			delete(all, p)
		}
	}
	return all
}

// level counts from 1 at the top; it stops counting above the bound, so that
// parents in a circle end as well.
func (d *draft) level(id agent.TaskID) int {
	level := 1
	for p := d.parent(id); p != "" && level <= maxLevel; p = d.parent(p) {
		level++
	}
	return level
}
