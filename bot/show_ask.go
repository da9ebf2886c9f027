package bot

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// maxQuestions is how many points one message asks about (CHAT.md).
const maxQuestions = 3

// asks is what a question is about, by its kind.
func asks(r agent.Run, c agent.Checkpoint) []Part {
	switch c.Ask {
	case agent.CheckClarify:
		return points(c)
	case agent.CheckPlan:
		return proposal(r, c)
	case agent.CheckApproval:
		if c.Review {
			return results(c)
		}
		return wish(r, c)
	case agent.CheckUncertain:
		return append(detail(c), arguments(c, longValue)...)
	case agent.CheckBudget:
		return left(r)
	case agent.CheckStuck:
		return despair(r, c)
	}
	return detail(c)
}

// detail is the question's own explanation.
func detail(c agent.Checkpoint) []Part {
	if strings.TrimSpace(c.Detail) == "" {
		return nil
	}
	return []Part{Prose{strings.TrimSpace(safe(c.Detail))}}
}

// points are the unclear points, with the buttons of each where there is more
// than one.
func points(c agent.Checkpoint) []Part {
	var parts []Part
	shown := c.Questions[:min(len(c.Questions), maxQuestions)]
	for i, q := range shown {
		lines := []string{"**" + quoted(q.Question, 500) + "**"}
		if len(shown) > 1 {
			lines[0] = fmt.Sprintf("**%d. %s**", i+1, quoted(q.Question, 500))
		}
		if q.Why != "" {
			lines = append(lines, quoted(q.Why, 300))
		}
		for n, choice := range q.Choices {
			if n >= maxChoices || choiceLabel(choice) != strings.TrimSpace(choice) { // the button does not say it all
				lines = append(lines, fmt.Sprintf("Choice %d: %s", n+1, quoted(choice, 400)))
			}
		}
		parts = append(parts, Prose{strings.Join(lines, nextLine)})
		if len(shown) > 1 && len(q.Choices) > 0 {
			parts = append(parts, Buttons{choices(c, q)})
		}
	}
	if more := len(c.Questions) - len(shown); more > 0 {
		parts = append(parts, Small{fmt.Sprintf("and %s: Other shows all of them", countOf(more, "more question"))})
	}
	return append(append(parts, detail(c)...), Small{"Words will do, too: reply to this, or mention me."})
}

// proposal is a plan that people are to decide about.
func proposal(r agent.Run, c agent.Checkpoint) []Part {
	if c.Plan == nil {
		return detail(c)
	}
	var parts []Part
	list := Tasks{Title: fmt.Sprintf("%s · %s", inLine(planName(*c.Plan), 100), countOf(len(c.Plan.Tasks), "task"))}
	for _, t := range c.Plan.Tasks {
		var note []string
		if len(t.Tools) > 0 {
			note = append(note, "uses "+inLine(strings.Join(t.Tools, ", "), 100))
		}
		if t.Acceptance != "" {
			note = append(note, "done when "+inLine(t.Acceptance, 120))
		}
		state := r.Tasks[t.ID].State
		if state != agent.TaskDone && state != agent.TaskRunning {
			state = agent.TaskPending // approving begins it anew, however it ended before
		}
		list.Items = append(list.Items, item(t, state, strings.Join(note, "; ")))
	}
	if lines := outgrown(r); len(lines) > 0 {
		parts = append(parts, Prose{"**Why a new plan**\n- " + strings.Join(first(lines, maxTried), "\n- ")})
	}
	if text := quoted(c.Plan.Description, 600); text != "" {
		parts = append(parts, Prose{text})
	}
	parts = append(parts, list)
	if broken := !slices.Contains(c.Choices, agent.DecideApprove); broken {
		parts = append(parts, detail(c)...) // the rules that it breaks; else it is the plan once more
	}
	for _, line := range assumptions(agent.Run{Plan: *c.Plan}) {
		parts = append(parts, Small{line})
	}
	return parts
}

// outgrown is why the plan that a run works by does not hold, a line for each
// reason: tasks that failed, and what was found about the plan itself.
func outgrown(r agent.Run) []string {
	var lines []string
	if r.Rethink != nil {
		if why := quoted(r.Rethink.Reason, maxTriedLine); why != "" {
			lines = append(lines, why)
		}
	}
	for _, t := range r.Plan.Tasks {
		if s := r.Tasks[t.ID]; s.State == agent.TaskFailed {
			lines = append(lines, "“"+inLine(taskTitle(t), 120)+"” failed: "+quoted(s.Reason, maxTriedLine))
		}
	}
	return lines
}

// wish is a call that wants to be allowed: what, why and with which arguments.
func wish(r agent.Run, c agent.Checkpoint) []Part {
	what := Facts{[]Fact{{"What", inLine(c.Tool, 80)}}}
	if id, is := c.Strand.Task(); is {
		t, _ := r.Plan.Task(id)
		why := r.Tasks[id].Instructions
		if why == "" {
			why = t.Instructions
		}
		if why = inLine(why, 300); why == "" {
			why = inLine(taskTitle(t), 120)
		}
		what.List = append(what.List, Fact{"Why", why})
	}
	most := longValue
	if c.Detail != "" {
		most = besideValue
	}
	parts := append([]Part{what}, arguments(c, most)...)
	return append(parts, detail(c)...)
}

// left is what is not done yet.
func left(r agent.Run) []Part {
	var done, rest []string
	for _, t := range r.Plan.Tasks {
		switch r.Tasks[t.ID].State {
		case agent.TaskDone:
			done = append(done, quoted(taskTitle(t), 80))
		case agent.TaskPending, agent.TaskRunning, agent.TaskFailed, agent.TaskSkipped:
			rest = append(rest, quoted(taskTitle(t), 80))
		}
	}
	var lines []string
	if len(done) > 0 {
		lines = append(lines, "**Done**: "+strings.Join(first(done, 10), "; "))
	}
	if len(rest) > 0 {
		lines = append(lines, "**Left**: "+strings.Join(first(rest, 10), "; "))
	}
	lines = append(lines, "**Spent**: "+spending(r)+" · "+countOf(r.Spent.Calls, "model call")+" · "+lasting(r.Spent.Time)+" of work")
	return []Part{Prose{"The next model call does not fit any more.\n\n" + strings.Join(lines, nextLine)}}
}
