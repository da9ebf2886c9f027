package plan

import "github.com/deckhand-bot/deckhand/agent"

// Timing is when a task can start and end at the earliest, in minutes from now,
// and its slack: by how much it may be late without delaying the whole.
type Timing struct {
	Task                 agent.TaskID
	Start, Finish, Slack float64
}

// Path is the critical path of what is left: the longest chain of tasks, its
// length in minutes, and the timing of every unfinished task in the order of work.
type Path struct {
	Tasks  []agent.TaskID
	Length float64
	Timing []Timing
}

// Critical computes the critical path and the slack of the unfinished tasks, with
// as many slots as it takes. Of equally long chains the one with the smaller ids
// is named. Tasks on a cycle are left out.
func Critical(p agent.Plan, done map[agent.TaskID]bool) Path {
	n := newNet(p)
	finished := make([]bool, len(p.Tasks))
	for i, t := range p.Tasks {
		finished[i] = done[t.ID]
	}
	ahead := n.ahead(finished)
	start := make([]float64, len(p.Tasks))
	var c Path
	var live []int
	for _, i := range n.order {
		if finished[i] || n.index[n.tasks[i].ID] != i {
			continue
		}
		live = append(live, i)
		for _, j := range n.needs[i] {
			if !finished[j] {
				start[i] = max(start[i], start[j]+effort(n.tasks[j]))
			}
		}
		c.Length = max(c.Length, ahead[i])
	}
	for _, i := range live {
		slack := c.Length - start[i] - ahead[i]
		if slack < c.Length*1e-12 { // the sums were rounded in different orders
			slack = 0
		}
		c.Timing = append(c.Timing, Timing{
			Task: n.tasks[i].ID, Start: start[i], Finish: start[i] + effort(n.tasks[i]), Slack: slack,
		})
	}
	for from := live; ; {
		i := n.longest(from, ahead)
		if i < 0 {
			return c
		}
		c.Tasks = append(c.Tasks, n.tasks[i].ID)
		from = n.next[i]
	}
}

// longest picks the node with the most ahead of it, the smaller id of equals; -1
// where nothing is ahead.
func (n net) longest(from []int, ahead []float64) int {
	best := -1
	for _, i := range from {
		if ahead[i] == 0 || n.index[n.tasks[i].ID] != i {
			continue
		}
		if best < 0 || ahead[i] > ahead[best] || ahead[i] == ahead[best] && n.tasks[i].ID < n.tasks[best].ID {
			best = i
		}
	}
	return best
}
