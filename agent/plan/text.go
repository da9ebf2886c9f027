package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// The bounds of a drawn plan: lines, levels that are indented, runes of a title.
const (
	textLines  = 60
	textLevels = 8
	textTitle  = 80
)

var marks = map[agent.TaskState]string{
	"":                "○",
	agent.TaskPending: "○",
	agent.TaskRunning: "▶",
	agent.TaskDone:    "✓",
	agent.TaskFailed:  "✗",
	agent.TaskSkipped: "–",
}

// Text draws the plan as a tree, one line a task: mark, id, title, and what it
// needs beside the task that it stands under. A task stands under the latest of
// its dependencies. At most 60 tasks are drawn and eight levels indented; a last
// line counts the rest. Lines end with a line break. Marks: ○ pending, ▶ running,
// ✓ done, ✗ failed, – skipped.
func Text(p agent.Plan, states map[agent.TaskID]agent.TaskState) string {
	n := newNet(p)
	under := n.tree()
	type entry struct {
		task, level int
		lead        string // what the lines below begin with
		last        bool
	}
	var stack []entry
	push := func(list []int, level int, lead string) {
		for at, l := range slices.Backward(list) {
			stack = append(stack, entry{l, level, lead, at == len(list)-1})
		}
	}
	push(under[len(p.Tasks)], 0, "")
	var b strings.Builder
	drawn := 0
	for len(stack) > 0 && drawn < textLines {
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		drawn++
		below := e.lead
		if e.level > 0 && e.level <= textLevels {
			branch, more := "├─ ", "│  "
			if e.last {
				branch, more = "└─ ", "   "
			}
			b.WriteString(e.lead + branch)
			below += more
		} else if e.level > textLevels {
			b.WriteString(e.lead + "· ")
		}
		n.line(&b, e.task, under, states)
		push(under[e.task], e.level+1, below)
	}
	if rest := len(p.Tasks) - drawn; rest > 0 {
		fmt.Fprintf(&b, "… and %d more\n", rest)
	}
	return b.String()
}

// tree puts each task under the latest of its dependencies; the list at the end
// holds those that stand at the top: without dependencies, or on a cycle.
func (n net) tree() [][]int {
	place := make([]int, len(n.tasks))
	for at, i := range n.order {
		place[i] = at + 1
	}
	under := make([][]int, len(n.tasks)+1)
	for i := range n.tasks {
		top := len(n.tasks)
		if place[i] > 0 {
			for _, j := range n.needs[i] {
				if top == len(n.tasks) || place[j] > place[top] {
					top = j
				}
			}
		}
		under[top] = append(under[top], i)
	}
	return under
}

func (n net) line(b *strings.Builder, i int, under [][]int, states map[agent.TaskID]agent.TaskState) {
	t := n.tasks[i]
	mark, known := marks[states[t.ID]]
	if !known {
		mark = "?"
	}
	fmt.Fprintf(b, "%s %s %s", mark, oneLine(string(t.ID), 40), oneLine(t.Title, textTitle))
	var also []string
	for _, id := range t.DependsOn {
		j, known := n.index[id]
		if !known || !slices.Contains(under[j], i) {
			also = append(also, oneLine(string(id), 40))
		}
	}
	if len(also) > 0 {
		word := "also needs "
		if len(also) == len(t.DependsOn) {
			word = "needs "
		}
		fmt.Fprintf(b, " (%s%s)", word, names(also, 5))
	}
	b.WriteByte('\n')
}

// oneLine keeps a text on its line: no breaks, no characters that steer a
// terminal or turn the writing round.
func oneLine(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
	return format.Cut(strings.Join(strings.Fields(s), " "), most)
}
