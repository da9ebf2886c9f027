package plan

// This file holds the graph algorithms that the rules and the ordering share:
// sets of nodes, a topological order, finding a cycle, and the edges of a
// plan.

import (
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// bits is a set of small numbers.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) join(o bits) {
	for i, w := range o {
		b[i] |= w
	}
}

// topological returns the nodes so that each stands after what it needs, first
// listed first; rest are the nodes on cycles and behind them, which are left out
// (Kahn's algorithm: linear, never recursive).
func topological(needs [][]int) (order, rest []int) {
	next := reversed(needs)
	open := make([]int, len(needs))
	for i, ns := range needs {
		open[i] = len(ns)
		if len(ns) == 0 {
			order = append(order, i)
		}
	}
	for at := 0; at < len(order); at++ {
		for _, n := range next[order[at]] {
			if open[n]--; open[n] == 0 {
				order = append(order, n)
			}
		}
	}
	for i := range needs {
		if open[i] > 0 {
			rest = append(rest, i)
		}
	}
	return order, rest
}

// reversed turns "needs" into "is needed by".
func reversed(needs [][]int) [][]int {
	next := make([][]int, len(needs))
	for i, ns := range needs {
		for _, n := range ns {
			next[n] = append(next[n], i)
		}
	}
	return next
}

// cycle finds one cycle among the nodes that topological left over, in the
// order of work, starting with its first listed node. Each of them needs another
// one of them, so walking back must come round.
func cycle(needs [][]int, rest []int) []int {
	left := make(map[int]bool, len(rest))
	for _, i := range rest {
		left[i] = true
	}
	seen := make(map[int]int, len(rest))
	var walk []int
	for at := rest[0]; ; {
		if from, again := seen[at]; again {
			walk = walk[from:]
			break
		}
		seen[at] = len(walk)
		walk = append(walk, at)
		at = needs[at][slices.IndexFunc(needs[at], func(n int) bool { return left[n] })]
	}
	slices.Reverse(walk)
	first := slices.Index(walk, slices.Min(walk))
	return slices.Concat(walk[first:], walk[:first])
}

// net is the graph of a plan as it stands: declared dependencies on tasks that
// exist. A second task with the same id has no edges.
type net struct {
	tasks []agent.Task
	index map[agent.TaskID]int
	needs [][]int
	next  [][]int
	order []int  // topological; tasks on and behind cycles are left out
	loose []int  // those tasks
	lost  []bool // needs something that does not exist
}

func newNet(p agent.Plan) net {
	n := net{
		tasks: p.Tasks,
		index: make(map[agent.TaskID]int, len(p.Tasks)),
		needs: make([][]int, len(p.Tasks)),
		lost:  make([]bool, len(p.Tasks)),
	}
	for i, t := range p.Tasks {
		if _, taken := n.index[t.ID]; !taken {
			n.index[t.ID] = i
		}
	}
	seen := make([]int, len(p.Tasks)) // by which task, counted from 1
	for i, t := range p.Tasks {
		if n.index[t.ID] != i {
			continue
		}
		for _, id := range t.DependsOn {
			j, known := n.index[id]
			if !known {
				n.lost[i] = true
				continue
			}
			if seen[j] != i+1 {
				seen[j] = i + 1
				n.needs[i] = append(n.needs[i], j)
			}
		}
	}
	n.next = reversed(n.needs)
	n.order, n.loose = topological(n.needs)
	return n
}

// union joins two lists of small numbers, the first one's order first.
func union(a, b []int) []int {
	if len(b) == 0 {
		return a
	}
	out := slices.Clone(a)
	seen := make(map[int]bool, len(a)+len(b))
	for _, x := range a {
		seen[x] = true
	}
	for _, x := range b {
		if !seen[x] {
			seen[x] = true
			out = append(out, x)
		}
	}
	return out
}
