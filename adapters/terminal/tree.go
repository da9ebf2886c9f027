package terminal

import (
	"fmt"

	"github.com/deckhand-bot/deckhand/agent"
)

// marks show the state of a task.
var marks = map[agent.TaskState]span{
	agent.TaskPending: {"○", dim},
	agent.TaskRunning: {"◐", yellow},
	agent.TaskDone:    {"●", green},
	agent.TaskFailed:  {"✗", red},
	agent.TaskSkipped: {"–", dim},
}

// maxDepth bounds the indentation of a long chain of tasks.
const maxDepth = 6

// node is a task at its place in the tree of a plan.
type node struct {
	task   agent.Task
	branch string // the lines that lead to it
}

// tree lays out a plan: a task stands under the deepest of the tasks that it
// needs. Tasks of a circle, which no accepted plan has, stand at the end.
func tree(p agent.Plan) []node {
	depth := depths(p)
	children := map[agent.TaskID][]agent.Task{}
	for _, t := range p.Tasks {
		var parent agent.TaskID
		for _, d := range t.DependsOn {
			if _, known := depth[d]; known && (parent == "" || depth[d] > depth[parent]) {
				parent = d
			}
		}
		if _, sound := depth[t.ID]; sound {
			children[parent] = append(children[parent], t)
		}
	}
	var nodes []node
	var walk func(parent agent.TaskID, lead string, level int)
	walk = func(parent agent.TaskID, lead string, level int) {
		for i, t := range children[parent] {
			branch, below := "├ ", "│ "
			if i == len(children[parent])-1 {
				branch, below = "└ ", "  "
			}
			if level == 0 {
				branch, below = "", ""
			}
			nodes = append(nodes, node{t, lead + branch})
			if level >= maxDepth {
				below = ""
			}
			walk(t.ID, lead+below, level+1)
		}
	}
	walk("", "", 0)
	for _, t := range p.Tasks {
		if _, sound := depth[t.ID]; !sound {
			nodes = append(nodes, node{task: t})
		}
	}
	return nodes
}

// depths is the longest way to each task, from 1; tasks of a circle have none.
func depths(p agent.Plan) map[agent.TaskID]int {
	depth := map[agent.TaskID]int{}
	known := map[agent.TaskID]bool{}
	for _, t := range p.Tasks {
		known[t.ID] = true
	}
	for range p.Tasks {
		for _, t := range p.Tasks {
			d := 1
			for _, need := range t.DependsOn {
				switch at, placed := depth[need]; {
				case placed:
					d = max(d, at+1)
				case known[need]:
					d = 0
				}
				if d == 0 {
					break
				}
			}
			if d > 0 && t.ID != "" {
				depth[t.ID] = d
			}
		}
	}
	return depth
}

// plan is the run's plan with the state of each task, cut to so many rows (0:
// all of them). Where it is longer, what is finished goes first, then what is far off.
func plan(r agent.Run, most int) []row {
	nodes := tree(r.Plan)
	keep := len(nodes)
	hiddenTasks := 0
	if most > 0 && keep > most {
		hiddenTasks = keep - (most - 1)
	}
	drop := map[agent.TaskID]bool{}
	for _, state := range []agent.TaskState{agent.TaskDone, agent.TaskSkipped, agent.TaskPending, agent.TaskFailed} {
		for i := range nodes {
			n := nodes[i]
			if state == agent.TaskPending {
				n = nodes[len(nodes)-1-i]
			}
			if len(drop) < hiddenTasks && r.Tasks[n.task.ID].State == state {
				drop[n.task.ID] = true
			}
		}
	}
	var rows []row
	for _, n := range nodes {
		if !drop[n.task.ID] && (most <= 0 || len(rows) < most) {
			rows = append(rows, taskRow(r, n))
		}
	}
	if len(drop) > 0 {
		rows = append(rows, row{in(dim, fmt.Sprintf("… and %s", plural(len(drop), "more task")))})
	}
	return rows
}

func taskRow(r agent.Run, n node) row {
	s := r.Tasks[n.task.ID]
	mark, known := marks[s.State]
	if !known {
		mark = marks[agent.TaskPending]
	}
	name := in(normal, title(n.task))
	line := row{in(dim, n.branch), mark, {" ", normal}}
	switch s.State {
	case agent.TaskRunning:
		line = append(line, span{name.text, bold})
		if now := doing(r, agent.TaskStrand(n.task.ID)); now != "" {
			line = append(line, in(dim, "  "+now))
		}
	case agent.TaskPending, agent.TaskSkipped:
		line = append(line, span{name.text, dim})
	case agent.TaskFailed:
		line = append(line, name, in(red, "  "+short(s.Reason, 120)))
	case agent.TaskDone:
		line = append(line, name)
	default:
		line = append(line, name)
	}
	return line
}

// title is the task's title on one line, or its id where it has none.
func title(t agent.Task) string {
	if s := oneLine(t.Title); s != "" {
		return s
	}
	return clean(string(t.ID))
}

// titleOf names the task of a strand, "" for the other strands.
func titleOf(r agent.Run, id agent.StrandID) string {
	task, is := id.Task()
	if !is {
		return ""
	}
	if t, known := r.Plan.Task(task); known {
		return title(t)
	}
	return clean(string(task))
}
