package terminal

// This file draws a plan as a tree: a task stands under the deepest of the
// tasks that it comes after.

import (
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

// maxDepth bounds the indentation of a long chain of tasks.
const maxDepth = 6

// stateInks set the marks of tasks off.
var stateInks = map[agent.TaskState]ink{
	agent.TaskPending: dim, agent.TaskRunning: yellow, agent.TaskDone: green, agent.TaskFailed: red, agent.TaskSkipped: dim,
}

// markOf is the mark of a task's state.
func markOf(s agent.TaskState) span { return span{bot.TaskMark(s), stateInks[s]} }

// node is a task at its place in the tree.
type node struct {
	bot.TaskItem

	branch string // the lines that lead to it
}

// tree draws a plan in so many rows, 0 for all of it. Where it is longer, what
// is finished goes first, then what is far off.
func tree(p bot.Tasks, lead string, most int) []row {
	nodes := layOut(p.Items)
	drop := map[string]bool{}
	if most > 0 && len(nodes) > most {
		drop = expendable(nodes, len(nodes)-most+1)
	}
	var rows []row
	for _, n := range nodes {
		if !drop[n.ID] && (most <= 0 || len(rows) < most) {
			rows = append(rows, n.row(lead))
		}
	}
	if len(drop) > 0 {
		rows = append(rows, row{in(dim, lead+"… and "+format.Count(len(drop), "more task"))})
	}
	return rows
}

// expendable are so many tasks that a short tree leaves out.
func expendable(nodes []node, many int) map[string]bool {
	drop := map[string]bool{}
	for _, state := range []agent.TaskState{agent.TaskDone, agent.TaskSkipped, agent.TaskPending, agent.TaskFailed} {
		of := nodes
		if state == agent.TaskPending {
			of = slices.Clone(nodes)
			slices.Reverse(of)
		}
		for _, n := range of {
			if len(drop) < many && n.State == state {
				drop[n.ID] = true
			}
		}
	}
	return drop
}

func (n node) row(lead string) row {
	r := row{in(dim, lead+n.branch), markOf(n.State), {" ", normal}}
	switch n.State {
	case agent.TaskRunning:
		r = append(r, in(bold, n.Title))
		if n.Note != "" {
			r = append(r, in(dim, "  "+n.Note))
		}
	case agent.TaskPending, agent.TaskSkipped:
		r = append(r, in(dim, n.Title))
	case agent.TaskFailed:
		r = append(r, in(normal, n.Title), in(red, "  "+n.Note))
	case agent.TaskDone:
		r = append(r, in(normal, n.Title))
	}
	return r
}

// layOut puts the tasks in the order and under the branches of the tree. Tasks
// of a circle, which no accepted plan has, stand at the end.
func layOut(items []bot.TaskItem) []node {
	depth := depths(items)
	children := map[string][]bot.TaskItem{}
	var nodes, circle []node
	for _, t := range items {
		parent := ""
		for _, id := range t.After {
			if depth[id] > depth[parent] {
				parent = id
			}
		}
		if depth[t.ID] > 0 {
			children[parent] = append(children[parent], t)
		} else {
			circle = append(circle, node{TaskItem: t})
		}
	}
	var walk func(parent, lead string, level int)
	walk = func(parent, lead string, level int) {
		for i, t := range children[parent] {
			branch, below := "├ ", "│ "
			if i == len(children[parent])-1 {
				branch, below = "└ ", "  "
			}
			if level == 0 {
				branch, below = "", ""
			}
			if level >= maxDepth {
				below = ""
			}
			nodes = append(nodes, node{t, lead + branch})
			walk(t.ID, lead+below, level+1)
		}
	}
	walk("", "", 0)
	return append(nodes, circle...)
}

// depths is the longest way to each task, from 1; tasks of a circle have none.
func depths(items []bot.TaskItem) map[string]int {
	known := map[string]bool{}
	for _, t := range items {
		known[t.ID] = true
	}
	depth := map[string]int{}
	for range items { // the longest way has as many tasks as there are, at most
		for _, t := range items {
			waits := slices.ContainsFunc(t.After, func(id string) bool { return known[id] && depth[id] == 0 })
			if waits || t.ID == "" {
				continue
			}
			depth[t.ID] = 1
			for _, id := range t.After {
				depth[t.ID] = max(depth[t.ID], depth[id]+1)
			}
		}
	}
	return depth
}
