package card

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What a question is about, by its kind, between its title and its buttons.

// maxQuestions is how many points one message asks about (CHAT.md).
const maxQuestions = 3

// questionParts is what a question is about, by its kind.
func questionParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	switch c.Ask {
	case agent.CheckClarify:
		return clarifyParts(r, c)
	case agent.CheckPlan:
		return planParts(r, c)
	case agent.CheckApproval:
		if c.Review {
			return reviewParts(c)
		}
		return approvalParts(r, c)
	case agent.CheckUncertain:
		return append(detail(c), arguments(c, longValue)...)
	case agent.CheckBudget:
		return budgetParts(r)
	case agent.CheckStuck:
		return stuckParts(r, c)
	}
	return detail(c)
}

// detail is the question's own explanation.
func detail(c agent.Checkpoint) []bot.Part {
	if strings.TrimSpace(c.Detail) == "" {
		return nil
	}
	return []bot.Part{bot.Prose{Markdown: strings.TrimSpace(text.Safe(c.Detail))}}
}

// clarifyParts are the unclear points, with the buttons of each where there is more
// than one.
func clarifyParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	var parts []bot.Part
	shown := c.Questions[:min(len(c.Questions), maxQuestions)]
	for i, q := range shown {
		lines := []string{"**" + text.Quoted(q.Question, 500) + "**"}
		if len(shown) > 1 {
			lines[0] = fmt.Sprintf("**%d. %s**", i+1, text.Quoted(q.Question, 500))
		}
		if q.Why != "" {
			lines = append(lines, text.Quoted(q.Why, 300))
		}
		for n, choice := range q.Choices {
			if n >= maxChoices || choiceLabel(choice) != strings.TrimSpace(choice) { // the button does not say it all
				lines = append(lines, fmt.Sprintf("Choice %d: %s", n+1, text.Quoted(choice, 400)))
			}
		}
		parts = append(parts, bot.Prose{Markdown: strings.Join(lines, text.NextLine)})
		if len(shown) > 1 && len(q.Choices) > 0 {
			parts = append(parts, bot.Buttons{List: choices(c, q)})
		}
	}
	if more := len(c.Questions) - len(shown); more > 0 {
		parts = append(parts, bot.Small{Markdown: fmt.Sprintf("and %s: Other shows all of them", format.Count(more, "more question"))})
	}
	parts = append(parts, detail(c)...)
	if r.Brief.ReplyTo == "" { // it stands in no thread
		return parts
	}
	return append(parts, bot.Small{Markdown: "Words will do, too: reply to this, or mention me."})
}

// planParts is a plan that people are to decide about.
func planParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	if c.Plan == nil {
		return detail(c)
	}
	var parts []bot.Part
	list := bot.Tasks{Title: fmt.Sprintf("%s · %s", text.InLine(planName(*c.Plan), 100), format.Count(len(c.Plan.Tasks), "task"))}
	for _, t := range c.Plan.Tasks {
		var note []string
		if len(t.Tools) > 0 {
			note = append(note, "uses "+text.InLine(strings.Join(t.Tools, ", "), 100))
		}
		if t.Acceptance != "" {
			note = append(note, "done when "+text.InLine(t.Acceptance, 120))
		}
		state := r.Tasks[t.ID].State
		if state != agent.TaskDone && state != agent.TaskRunning {
			state = agent.TaskPending // approving begins it anew, however it ended before
		}
		list.Items = append(list.Items, item(t, state, strings.Join(note, "; ")))
	}
	if lines := replanReasons(r); len(lines) > 0 {
		parts = append(parts, bot.Prose{Markdown: "**Why a new plan**\n- " + strings.Join(text.AtMost(lines, maxTried), "\n- ")})
	}
	if text := text.Quoted(c.Plan.Description, 600); text != "" {
		parts = append(parts, bot.Prose{Markdown: text})
	}
	parts = append(parts, list)
	if broken := !slices.Contains(c.Choices, agent.DecideApprove); broken {
		parts = append(parts, detail(c)...) // the rules that it breaks; else it is the plan once more
	}
	for _, line := range slices.Concat(assumptions(*c.Plan), doubts(c.Findings)) {
		parts = append(parts, bot.Small{Markdown: line})
	}
	return parts
}

// replanReasons is why the plan that a run works by does not hold, a line for each
// reason: tasks that failed, and what was found about the plan itself.
func replanReasons(r agent.Run) []string {
	var lines []string
	if r.Rethink != nil {
		if why := text.Quoted(r.Rethink.Reason, maxTriedLine); why != "" {
			lines = append(lines, why)
		}
	}
	for _, t := range r.Plan.Tasks {
		if s := r.Tasks[t.ID]; s.State == agent.TaskFailed {
			lines = append(lines, "“"+text.InLine(taskTitle(t), 120)+"” failed: "+text.Quoted(s.Reason, maxTriedLine))
		}
	}
	return lines
}

// approvalParts is a call that wants to be allowed: what, why and with which arguments.
func approvalParts(r agent.Run, c agent.Checkpoint) []bot.Part {
	what := bot.Facts{List: []bot.Fact{{Name: "What", Value: text.InLine(c.Tool, 80)}}}
	if id, is := c.Strand.Task(); is {
		t, _ := r.Plan.Task(id)
		why := r.Tasks[id].Instructions
		if why == "" {
			why = t.Instructions
		}
		if why = text.InLine(why, 300); why == "" {
			why = text.InLine(taskTitle(t), 120)
		}
		what.List = append(what.List, bot.Fact{Name: "Why", Value: why})
	}
	most := longValue
	if c.Detail != "" {
		most = besideValue
	}
	parts := append([]bot.Part{what}, arguments(c, most)...)
	return append(parts, detail(c)...)
}

// budgetParts is what is not done yet.
func budgetParts(r agent.Run) []bot.Part {
	var done, rest []string
	for _, t := range r.Plan.Tasks {
		switch r.Tasks[t.ID].State {
		case agent.TaskDone:
			done = append(done, text.Quoted(taskTitle(t), 80))
		case agent.TaskPending, agent.TaskRunning, agent.TaskFailed, agent.TaskSkipped:
			rest = append(rest, text.Quoted(taskTitle(t), 80))
		}
	}
	var lines []string
	if len(done) > 0 {
		lines = append(lines, "**Done**: "+strings.Join(text.AtMost(done, 10), "; "))
	}
	if len(rest) > 0 {
		lines = append(lines, "**Left**: "+strings.Join(text.AtMost(rest, 10), "; "))
	}
	lines = append(lines, "**Spent**: "+spending(r)+" · "+format.Count(r.Spent.Calls, "model call")+" · "+format.Duration(r.Spent.Time)+" of work")
	return []bot.Part{bot.Prose{Markdown: "The next model call does not fit any more.\n\n" + strings.Join(lines, text.NextLine)}}
}
