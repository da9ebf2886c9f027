package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// nearShare is the token Jaccard from which two titles are nearly the same.
const nearShare = 0.8

// checkDuplicates is V13. Exact duplicates are merged where nothing is lost.
func checkDuplicates(d *draft) {
	into := make([]int, len(d.plan.Tasks)) // whose work the task repeats, itself if nobody's
	for i := range into {
		into[i] = i
	}
	why := map[int]string{}
	first := map[string]int{}
	for _, i := range d.keptFirst() {
		t := d.plan.Tasks[i]
		for _, k := range d.sameKeys(t) {
			j, taken := first[k.key]
			if !taken {
				first[k.key] = i
				continue
			}
			if into[i] == i && !d.kept[t.ID] {
				into[i], why[i] = into[j], k.what
			}
		}
	}
	reportDuplicates(d, into, why)
	checkNear(d, into)
	mergeDuplicates(d, into)
}

// keptFirst lists the tasks so that new ones yield to accepted ones.
func (d *draft) keptFirst() []int {
	var kept []int
	for i, t := range d.plan.Tasks {
		if !d.out[i] && d.kept[t.ID] {
			kept = append(kept, i)
		}
	}
	return append(kept, d.judged()...)
}

// sameKey is something that two tasks may not have in common.
type sameKey struct{ key, what string }

func (d *draft) sameKeys(t agent.Task) []sameKey {
	var keys []sameKey
	if title := strings.Join(titleWords(t.Title), " "); title != "" && !d.foreign() {
		keys = append(keys, sameKey{"title " + title, "has the same title as"})
	}
	var outs []string
	for _, o := range t.Outputs {
		outs = append(outs, o.Name)
	}
	slices.Sort(outs)
	if len(outs) > 0 {
		keys = append(keys, sameKey{"outputs " + joined(outs), "has the same outputs as"})
	}
	if args := d.arguments(t); args != "" {
		tools := slices.Clone(t.Tools)
		slices.Sort(tools)
		keys = append(keys, sameKey{"call " + joined(append(tools, args)), "does the same with the same tool as"})
	}
	return keys
}

// joined makes one key of several texts; no two lists give the same.
func joined(list []string) string {
	b, err := json.Marshal(list)
	if err != nil { // a list of strings always marshals
		return strings.Join(list, "\x00")
	}
	return string(b)
}

// arguments are what a task's tools are called with: in a foreign plan its args,
// which are its instructions. A Deckhand task has none of its own; its
// instructions stand for them, when they say enough and no output tells the tasks
// apart.
func (d *draft) arguments(t agent.Task) string {
	if len(t.Tools) == 0 {
		return ""
	}
	if d.foreign() {
		if t.Instructions == "" {
			return ""
		}
		return t.Instructions
	}
	if len(t.Outputs) > 0 || len(wordsOf(t.Instructions)) < 4 {
		return ""
	}
	inputs := slices.Clone(t.Inputs)
	slices.Sort(inputs)
	return joined(append(inputs, strings.Join(words(t.Instructions), " ")))
}

func titleWords(title string) []string {
	return slices.DeleteFunc(words(title), func(w string) bool { return w == "a" || w == "an" || w == "the" })
}

func reportDuplicates(d *draft, into []int, why map[int]string) {
	for i, j := range into {
		if i == j {
			continue
		}
		t, other := d.plan.Tasks[i], d.plan.Tasks[j]
		switch {
		case d.kept[other.ID]:
			d.fail("V13", t.ID, "%s %s %s, which is part of the plan already: use its result instead of repeating it",
				t.ID, why[i], other.ID)
		default:
			d.fail("V13", t.ID, "%s %s %s: keep one of them and share its result", t.ID, why[i], other.ID)
		}
	}
}

// checkNear warns of titles that are nearly the same. Only titles that share one
// of their rarest words can be near enough (prefix filter), so the pairs compared
// stay few.
func checkNear(d *draft, into []int) {
	if d.foreign() {
		return
	}
	sets := make([]wordSet, len(d.plan.Tasks))
	seen := map[string]int{}
	for i, t := range d.plan.Tasks {
		sets[i] = wordsOf(t.Title)
		for w := range sets[i] {
			seen[w]++
		}
	}
	shelf := map[string][]int{}
	for i, t := range d.plan.Tasks {
		if d.out[i] {
			continue
		}
		rare := make([]string, 0, len(sets[i]))
		for w := range sets[i] {
			rare = append(rare, w)
		}
		slices.SortFunc(rare, func(a, b string) int {
			if seen[a] != seen[b] {
				return seen[a] - seen[b]
			}
			return strings.Compare(a, b)
		})
		rare = rare[:min(len(rare), len(rare)/5+1)]
		if j := findNear(d, i, into, sets, rare, shelf); j >= 0 {
			d.warn("V13", t.ID, "%s (%q) is nearly the same as %s (%q): make sure that both are needed",
				t.ID, format.Cut(t.Title, 80), d.plan.Tasks[j].ID, format.Cut(d.plan.Tasks[j].Title, 80))
		}
		for _, w := range rare {
			shelf[w] = append(shelf[w], i)
		}
	}
}

// nearTries bounds the titles that one title is compared with.
const nearTries = 200

func findNear(d *draft, i int, into []int, sets []wordSet, rare []string, shelf map[string][]int) int {
	if into[i] != i || d.kept[d.plan.Tasks[i].ID] {
		return -1
	}
	best, tries := -1, 0
	for _, w := range rare {
		for _, j := range shelf[w] {
			if tries++; tries > nearTries {
				return best
			}
			if (best < 0 || j < best) && jaccard(sets[i], sets[j]) >= nearShare && !numbered(sets[i], sets[j]) {
				best = j
			}
		}
	}
	return best
}

// numbered says that two titles differ by a number, as parts of one series do.
func numbered(a, b wordSet) bool {
	digit := func(from, other wordSet) bool {
		for w := range from {
			if !other[w] && strings.ContainsAny(w, "0123456789") {
				return true
			}
		}
		return false
	}
	return digit(a, b) && digit(b, a)
}

// merge joins duplicates in the plan, all or none: no cycle may come of it.
func mergeDuplicates(d *draft, into []int) {
	target := make([]int, len(into))
	some := false
	for i, j := range into {
		target[i] = i
		if i != j && d.mergeable(i, j) {
			target[i], some = j, true
		}
	}
	if !some {
		return
	}
	tasks := d.joinTasks(target)
	if closed(d.plan.Tasks) || closed(tasks) {
		return
	}
	for i, j := range target {
		if i != j {
			into, from := d.plan.Tasks[j].ID, d.plan.Tasks[i].ID
			d.note("V13", into, "%s was merged into %s, which now serves for both", from, into)
		}
	}
	d.plan.Tasks = tasks
	d.reindex()
}

// mergeable says that j, with what i adds, does all that i would do.
func (d *draft) mergeable(i, j int) bool {
	a, b := d.plan.Tasks[j], d.plan.Tasks[i]
	if d.kept[a.ID] {
		covered := !slices.ContainsFunc(b.Outputs, func(o agent.OutputSpec) bool { return !produces(a, o.Name) })
		return covered && (!b.Deliverable || a.Deliverable)
	}
	same := func(x, y string) bool { return x == y || strings.Join(words(x), " ") == strings.Join(words(y), " ") }
	tools := func(t agent.Task) []string {
		ts := slices.Clone(t.Tools)
		slices.Sort(ts)
		return slices.Compact(ts)
	}
	return same(a.Instructions, b.Instructions) && same(a.Role, b.Role) && slices.Equal(tools(a), tools(b)) &&
		(b.Acceptance == "" || same(a.Acceptance, b.Acceptance))
}

func produces(t agent.Task, name string) bool {
	return slices.ContainsFunc(t.Outputs, func(o agent.OutputSpec) bool { return o.Name == name })
}

// joinTasks builds the list without the tasks that went into another one;
// dependencies on them go to that one.
func (d *draft) joinTasks(target []int) []agent.Task {
	moved := map[agent.TaskID]agent.TaskID{}
	whole := slices.Clone(d.plan.Tasks)
	for i, j := range target {
		if i == j {
			continue
		}
		moved[whole[i].ID] = whole[j].ID
		if !d.kept[whole[j].ID] {
			whole[j] = joinTask(whole[j], whole[i])
		}
	}
	tasks := make([]agent.Task, 0, len(whole))
	for i, t := range whole {
		if target[i] != i {
			continue
		}
		if slices.ContainsFunc(t.DependsOn, func(id agent.TaskID) bool { return moved[id] != "" }) {
			t.DependsOn = slices.Clone(t.DependsOn)
			for at, id := range t.DependsOn {
				if to := moved[id]; to != "" {
					t.DependsOn[at] = to
				}
			}
			t.DependsOn = distinct(t.DependsOn)
		}
		tasks = append(tasks, t)
	}
	return tasks
}

func joinTask(a, b agent.Task) agent.Task {
	a.DependsOn = distinct(slices.Concat(a.DependsOn, b.DependsOn))
	a.Inputs = distinct(slices.Concat(a.Inputs, b.Inputs))
	a.Outputs = slices.Clone(a.Outputs)
	for _, o := range b.Outputs {
		if !produces(a, o.Name) {
			a.Outputs = append(a.Outputs, o)
		}
	}
	a.Effort, a.Value = max(a.Effort, b.Effort), max(a.Value, b.Value)
	a.Deliverable = a.Deliverable || b.Deliverable
	return a
}

func distinct[T comparable](list []T) []T {
	seen := make(map[T]bool, len(list))
	var out []T
	for _, x := range list {
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	return out
}

// closed says that some tasks wait for each other, inputs included.
func closed(tasks []agent.Task) bool {
	n := newNet(agent.Plan{Tasks: tasks})
	producer := map[string]int{}
	for i, t := range tasks {
		for _, o := range t.Outputs {
			if _, taken := producer[o.Name]; !taken {
				producer[o.Name] = i
			}
		}
	}
	needs := make([][]int, len(tasks))
	for i, t := range tasks {
		var feeds []int
		for _, name := range t.Inputs {
			if j, known := producer[name]; known {
				feeds = append(feeds, j)
			}
		}
		needs[i] = union(n.needs[i], distinct(feeds))
	}
	_, rest := topological(needs)
	return len(rest) > 0
}
