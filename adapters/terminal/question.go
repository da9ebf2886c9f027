package terminal

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// question shows a checkpoint in full: what, why, the arguments, the preview,
// what it costs so far and when it expires. Of a preview longer than most lines
// the beginning is shown, so that the title stays on the screen; 0: all of it.
func question(r agent.Run, c agent.Checkpoint, most int) []row {
	rows := []row{nil, {in(yellow, "? "), in(bold, oneLine(c.Title))}}
	if task := titleOf(r, c.Strand); task != "" && c.Ask != agent.CheckStuck { // whose title says it
		rows = append(rows, row{in(dim, "  for: "), in(normal, task)})
	}
	if c.Risk != "" {
		rows = append(rows, row{in(dim, "  risk: "), in(normal, oneLine(c.Risk))})
	}
	values := shownLines
	if c.Detail != "" {
		values = shownBeside
	}
	rows = append(rows, arguments(c.Arguments, values)...)
	if c.Ask == agent.CheckStuck && c.Detail != "" {
		rows = append(rows, row{in(dim, "  what was tried:")})
	}
	rows = append(rows, preview(c.Detail, most)...)
	rows = append(rows, ways(c)...)
	if len(c.Questions) == 1 {
		rows = append(rows, point(c.Questions[0])...)
	}
	if c.Grant != "" {
		rows = append(rows, row{in(dim, "  approving allows for the rest of the run: "), in(normal, oneLine(c.Grant))})
	}
	var facts []string
	if r.Spent.Calls > 0 {
		facts = append(facts, "so far "+cost(r.Spent.Dollars(), r.Spent.Tokens()))
	}
	if !c.Expires.IsZero() {
		facts = append(facts, "expires "+lasting(c.Expires.Sub(c.Opened))+" after it was asked")
	}
	if len(facts) > 0 {
		rows = append(rows, row{in(dim, "  "+strings.Join(facts, " · "))})
	}
	return rows
}

// preview is the Markdown of a question, or its first lines.
func preview(detail string, most int) []row {
	all := lines(detail)
	keep := len(all)
	if most > 0 && keep > most {
		keep = most - 1
	}
	var rows []row
	fences := 0
	for _, l := range all[:keep] {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fences++
		}
		rows = append(rows, say("  "+l))
	}
	if more := len(all) - keep; more > 0 {
		if fences%2 == 1 {
			rows = append(rows, say("  ```"))
		}
		rows = append(rows, row{in(yellow, fmt.Sprintf("  … %s; ? shows them", plural(more, "more line")))})
	}
	return rows
}

// ways are what each choice of a run that is stuck does.
func ways(c agent.Checkpoint) []row {
	if c.Ask != agent.CheckStuck {
		return nil
	}
	var rows []row
	for i, choice := range c.Choices {
		if what := card.WayOut(c, choice); what != "" {
			rows = append(rows, row{in(cyan, fmt.Sprintf("  [%d] %s", i+1, oneLine(choice))), in(dim, ": "+what)})
		}
	}
	return rows
}

// point is one unclear point with its numbered choices.
func point(q agent.Question) []row {
	rows := []row{say("  " + oneLine(q.Question))}
	if q.Why != "" {
		rows = append(rows, row{in(dim, "  why: "+oneLine(q.Why))})
	}
	for i, choice := range q.Choices {
		rows = append(rows, row{in(cyan, fmt.Sprintf("  [%d] ", i+1)), in(normal, oneLine(choice))})
	}
	return rows
}

// keys are what is typed for the choices of an approval.
var keys = map[string]string{
	agent.DecideApprove: "[y] approve", agent.DecideDeny: "[n] deny", agent.DecideEdit: "[e] edit",
	agent.DecideAlways: "[a] always in this run",
}

// choices is the row of what may be answered.
func choices(c agent.Checkpoint) row {
	var words []string
	for i, choice := range c.Choices {
		key, is := keys[choice]
		switch {
		case c.Ask == agent.CheckClarify && len(c.Questions) == 1 && i < len(c.Questions[0].Choices):
			continue // shown with the question
		case c.Ask == agent.CheckClarify && choice == agent.DecideAnswer:
			words = append(words, "your answer")
		case c.Ask == agent.CheckClarify:
			words = append(words, strconv.Quote(choice))
		case c.Ask == agent.CheckApproval && is:
			words = append(words, key)
		default:
			words = append(words, fmt.Sprintf("[%d] %s", i+1, oneLine(choice)))
		}
	}
	if c.Ask == agent.CheckStuck { // whose choices are listed above
		return row{in(cyan, "  type a number, or what should be done differently, then Enter  [?] why")}
	}
	if c.Ask == agent.CheckClarify {
		hint := strings.Join(words, ", ")
		if len(c.Questions) > 0 && len(c.Questions[0].Choices) > 0 {
			hint = "a number, " + hint
		}
		return row{in(cyan, "  type "+hint)}
	}
	return row{in(cyan, "  "+strings.Join(append(words, "[?] why, then Enter"), "  "))}
}

// why tells more about a question: the task that it belongs to, what it was
// told, what was done so far, and a long preview in full.
func why(r agent.Run, c agent.Checkpoint) []row {
	rows := []row{{in(bold, "Why this is asked")}}
	if id, is := c.Strand.Task(); is {
		t, _ := r.Plan.Task(id)
		rows = append(rows, row{in(dim, "  task: "), in(normal, title(t))})
		instructions := r.Tasks[id].Instructions
		if instructions == "" {
			instructions = t.Instructions
		}
		if instructions != "" {
			rows = append(rows, row{in(dim, "  instructions:")})
			rows = append(rows, excerpt(instructions, "    ", shownInstruct)...)
		}
		if t.Acceptance != "" {
			rows = append(rows, row{in(dim, "  done when: "), in(normal, oneLine(t.Acceptance))})
		}
	} else {
		rows = append(rows, labelled("  goal:", r.Brief.Goal)...)
	}
	for _, q := range c.Questions {
		if q.Why != "" {
			rows = append(rows, row{in(dim, "  "+oneLine(q.Question)+" "), in(normal, oneLine(q.Why))})
		}
	}
	rows = append(rows, past(r, c)...)
	if len(lines(c.Detail)) > shownPreview {
		rows = append(rows, preview(c.Detail, 0)...)
	}
	return rows
}

// past lists what the question's strand called before, and the tasks that are done.
func past(r agent.Run, c agent.Checkpoint) []row {
	var rows []row
	var words string
	var calls []string
	for _, e := range r.Talk(c.Strand).Entries.All() {
		if e.Answer == nil {
			continue
		}
		if e.Answer.Content != "" {
			words = e.Answer.Content
		}
		for _, call := range e.Answer.Calls {
			calls = append(calls, phrase(call.Name, []byte(call.Arguments)))
		}
	}
	if words != "" {
		rows = append(rows, row{in(dim, "  the model's words: "), in(normal, short(words, shownColumns))})
	}
	if n := len(calls); n > 0 {
		calls = calls[max(0, n-8):]
		rows = append(rows, row{in(dim, "  its calls so far, this one included: "), in(normal, strings.Join(calls, ", "))})
	}
	for _, t := range r.Plan.Tasks {
		if s := r.Tasks[t.ID]; s.State == agent.TaskDone {
			rows = append(rows, row{in(dim, "  done: "), in(normal, title(t)+": "+short(s.Summary, 200))})
		}
	}
	return rows
}

// current is the question that the person is asked now, nil for none.
func current(r agent.Run) *agent.Checkpoint {
	if r.Ended != nil {
		return nil
	}
	return r.OpenCheckpoint()
}

// several reports whether the points of a question are asked one by one.
func several(c *agent.Checkpoint) bool {
	return c != nil && c.Ask == agent.CheckClarify && len(c.Questions) > 1
}

// loose makes answers comparable that differ in case and spaces only.
func loose(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

// chosen is the choice that a line means by its text, whatever its case and
// spaces, and whether there is one.
func chosen(choices []string, line string) (string, bool) {
	i := slices.IndexFunc(choices, func(c string) bool { return loose(c) == loose(line) })
	if i < 0 {
		return "", false
	}
	return choices[i], true
}
