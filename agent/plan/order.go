package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// The bounds within which an effort counts, in minutes. A missing one counts as
// 1. They keep sums of MaxPlan efforts exact enough that a task always has a
// longer path ahead than what comes after it.
const (
	minEffort = 0.001
	maxEffort = 1e6
)

func effort(t agent.Task) float64 {
	if t.Effort == 0 || math.IsNaN(t.Effort) {
		return 1
	}
	return min(max(t.Effort, minEffort), maxEffort)
}

func value(t agent.Task) float64 {
	switch {
	case t.Value == 0:
		return 1
	case t.Value > 0:
		return t.Value
	}
	return 0 // negative or NaN
}

// Order lists the unfinished tasks by priority. For a deliverable d that needs
// the unfinished tasks C(d), itself included, r(d) = value(d) / Σ effort(C(d));
// a task has the best r of the deliverables that need it. The best r comes first,
// inside it the longest remaining path (the sum of efforts up to the last task
// that waits for it), ties by id. So a task never stands before what it needs.
// Tasks that no deliverable needs come last; in a plan without deliverables the
// ends of chains count as such. Tasks on a cycle, which Check refuses, end the list.
func Order(p agent.Plan, done map[agent.TaskID]bool) []agent.TaskID {
	n := newNet(p)
	finished := make([]bool, len(p.Tasks))
	for i, t := range p.Tasks {
		finished[i] = done[t.ID]
	}
	return n.priority(finished, nil)
}

// priority orders the unfinished tasks; dead deliverables do not count.
func (n net) priority(finished, dead []bool) []agent.TaskID {
	path := n.ahead(finished)
	best := n.worth(finished, dead)
	var list []int
	for _, i := range n.order {
		if !finished[i] && n.index[n.tasks[i].ID] == i {
			list = append(list, i)
		}
	}
	slices.SortFunc(list, func(a, b int) int {
		return cmp.Or(cmp.Compare(best[b], best[a]), cmp.Compare(path[b], path[a]),
			cmp.Compare(n.tasks[a].ID, n.tasks[b].ID))
	})
	ids := make([]agent.TaskID, 0, len(list))
	for _, i := range list {
		ids = append(ids, n.tasks[i].ID)
	}
	var loose []agent.TaskID
	for _, i := range n.loose {
		if !finished[i] {
			loose = append(loose, n.tasks[i].ID)
		}
	}
	slices.Sort(loose)
	return append(ids, loose...)
}

// ahead is the longest remaining path from each unfinished task, itself
// included, in minutes.
func (n net) ahead(finished []bool) []float64 {
	path := make([]float64, len(n.tasks))
	for _, i := range slices.Backward(n.order) {
		if finished[i] {
			continue
		}
		after := 0.0
		for _, j := range n.next[i] {
			after = max(after, path[j])
		}
		path[i] = effort(n.tasks[i]) + after
	}
	return path
}

// worth is the best r(d) of the deliverables that need each task.
func (n net) worth(finished, dead []bool) []float64 {
	best := make([]float64, len(n.tasks))
	seen := make([]int, len(n.tasks))
	stack := []int{}
	for round, d := range n.ends() {
		if finished[d] || dead != nil && dead[d] {
			continue
		}
		sum := 0.0
		stack = append(stack[:0], d)
		seen[d] = round + 1
		for at := 0; at < len(stack); at++ {
			i := stack[at]
			sum += effort(n.tasks[i])
			for _, j := range n.needs[i] {
				if !finished[j] && seen[j] != round+1 {
					seen[j] = round + 1
					stack = append(stack, j)
				}
			}
		}
		r := value(n.tasks[d]) / sum
		for _, i := range stack {
			best[i] = max(best[i], r)
		}
	}
	return best
}

// ends are the deliverables; where there are none, the tasks that nothing needs.
func (n net) ends() []int {
	var ends []int
	for i, t := range n.tasks {
		if t.Deliverable && n.index[t.ID] == i {
			ends = append(ends, i)
		}
	}
	if len(ends) > 0 {
		return ends
	}
	for i, t := range n.tasks {
		if len(n.next[i]) == 0 && n.index[t.ID] == i {
			ends = append(ends, i)
		}
	}
	return ends
}

// Ready lists the tasks that may start now, by priority (Order): pending ones
// whose dependencies are all done. A task without a state is pending.
// Deliverables that can no longer be reached lend no priority.
func Ready(p agent.Plan, states map[agent.TaskID]agent.TaskState) []agent.TaskID {
	n := newNet(p)
	finished := n.finished(states)
	dead := n.dead(states)
	var ready []agent.TaskID
	for _, id := range n.priority(finished, dead) {
		i := n.index[id]
		waits := n.lost[i] || slices.ContainsFunc(n.needs[i], func(j int) bool { return !finished[j] })
		if !waits && pending(states[id]) {
			ready = append(ready, id)
		}
	}
	return ready
}

// Blocked lists, as the plan does, the pending tasks that can never start: they
// need, directly or not, a task that failed or was skipped, or one that is not in
// the plan.
func Blocked(p agent.Plan, states map[agent.TaskID]agent.TaskState) []agent.TaskID {
	n := newNet(p)
	dead := n.dead(states)
	var blocked []agent.TaskID
	for i, t := range p.Tasks {
		if dead[i] && pending(states[t.ID]) {
			blocked = append(blocked, t.ID)
		}
	}
	return blocked
}

func pending(s agent.TaskState) bool { return s == "" || s == agent.TaskPending }

func (n net) finished(states map[agent.TaskID]agent.TaskState) []bool {
	finished := make([]bool, len(n.tasks))
	for i, t := range n.tasks {
		finished[i] = states[t.ID] == agent.TaskDone
	}
	return finished
}

// dead are the tasks that failed, were skipped, or wait for such a one. Running
// and finished tasks need nothing any more.
func (n net) dead(states map[agent.TaskID]agent.TaskState) []bool {
	dead := make([]bool, len(n.tasks))
	var stack []int
	kill := func(i int) {
		if !dead[i] {
			dead[i] = true
			stack = append(stack, i)
		}
	}
	for i, t := range n.tasks {
		s := states[t.ID]
		if s == agent.TaskFailed || s == agent.TaskSkipped || n.lost[i] && pending(s) {
			kill(i)
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range n.next[i] {
			if pending(states[n.tasks[j].ID]) {
				kill(j)
			}
		}
	}
	return dead
}
