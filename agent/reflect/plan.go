package reflect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// FewestPlans is how many plans a run has at least before L11 can find anything.
const FewestPlans = 3

// planMark is an event that L11 looks at.
type planMark struct {
	event    uint64
	tasks    key // what is still to be done
	open     int // how many tasks that are
	replan   bool
	finished bool // a task was finished, nothing else
	person   bool // a person spoke, nothing else
}

// board knows the plan and which of its tasks are done.
type board struct {
	done  map[agent.TaskID]bool
	plans int
}

func (b *board) clone() board { return board{done: maps.Clone(b.done), plans: b.plans} }

func (b *board) accept(e agent.Event, p agent.PlanAccepted) planMark {
	m := planMark{event: e.Seq, replan: b.plans > 0 && e.Strand == agent.Main}
	b.plans++
	var lines []string
	for _, t := range p.Plan.Tasks {
		if b.done[t.ID] {
			continue
		}
		m.open++
		lines = append(lines, taskLine(t))
	}
	slices.Sort(lines)
	m.tasks = sum([]byte(strings.Join(lines, "\n")))
	return m
}

// taskLine is what a task is about, whatever its id.
func taskLine(t agent.Task) string {
	tools := slices.Sorted(slices.Values(t.Tools))
	text := strings.Join([]string{t.Title, t.Instructions, t.Role, t.Acceptance, strings.Join(tools, " ")}, " | ")
	return strings.Join(strings.Fields(strings.ToLower(text)), " ")
}

// end reports whether the task was finished by it.
func (b *board) end(t agent.TaskEnded) bool {
	if t.State != agent.TaskDone || b.done[t.Task] {
		return false
	}
	if b.done == nil {
		b.done = map[agent.TaskID]bool{}
	}
	b.done[t.Task] = true
	return true
}

// Plans judges the plan level (L11): a plan that two re-plans left as it was, a
// backlog that grows while nothing is finished. A nudge asks for a re-plan, a
// stop for the person. V12 is the plan validator's.
func (j *Journal) Plans(th Thresholds) []agent.Finding {
	return slices.Concat(unchanged(j.plans, th), growing(j.plans, th))
}

// unchanged finds plans that come back the same from re-plans.
func unchanged(plans []planMark, th Thresholds) []agent.Finding {
	var found []agent.Finding
	var row []planMark
	for _, m := range plans {
		switch {
		case m.person || m.finished:
			row = nil
			continue
		case len(row) > 0 && !m.replan:
			continue // added on the way: the next re-plan shows what became of it
		case len(row) > 0 && row[len(row)-1].tasks != m.tasks:
			row = nil
		}
		row = append(row, m)
		switch n := len(row) - 1; {
		case n == th.SamePlan:
			found = append(found, planFinding(Stop, row, ""))
		case n > th.SamePlan:
			found[len(found)-1] = planFinding(Stop, row, "")
		default:
			continue
		}
		found[len(found)-1].Message = fmt.Sprintf("the plan is the same after %d re-plans: its %s did not change", len(row)-1, openTasks(m.open))
	}
	return found
}

// growing finds backlogs that only grow.
func growing(plans []planMark, th Thresholds) []agent.Finding {
	var found []agent.Finding
	var row []planMark
	last := -1 // open tasks of the plan before; -1: none
	for _, m := range plans {
		switch {
		case m.person:
			row, last = nil, -1
			continue
		case m.finished:
			row = nil
			continue
		case last >= 0 && m.open > last:
			row = append(row, m)
		case last >= 0:
			row = nil
		}
		last = m.open
		text := fmt.Sprintf("the backlog grew for %d rounds to %s, and no task was finished", len(row), openTasks(m.open))
		switch n := len(row); {
		case n == th.Backlog:
			found = append(found, planFinding(Nudge, row, text))
		case n == 2*th.Backlog:
			found = append(found, planFinding(Stop, row, text))
		case n > th.Backlog:
			found[len(found)-1] = planFinding(found[len(found)-1].Severity, row, text)
		}
	}
	return found
}

func planFinding(severity string, row []planMark, text string) agent.Finding {
	f := agent.Finding{Rule: agent.RulePlanLevel, Severity: severity, Strand: agent.Main, Message: text}
	for _, m := range row {
		f.Events = append(f.Events, m.event)
	}
	return f
}

// openTasks counts tasks in words.
func openTasks(n int) string {
	if n == 1 {
		return "1 open task"
	}
	return fmt.Sprintf("%d open tasks", n)
}
