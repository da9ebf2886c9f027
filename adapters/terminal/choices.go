package terminal

// This file is what can be typed in answer to a question. The question itself
// is a card.

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// keys are what is typed for the choices of an approval.
var keys = map[string]string{
	agent.DecideApprove: "[y] approve", agent.DecideDeny: "[n] deny", agent.DecideEdit: "[e] edit",
	agent.DecideAlways: "[a] always in this run",
}

// choices is the row of what may be answered.
func choices(c agent.Checkpoint) row {
	var words []string
	for i, choice := range c.Choices {
		if word := choiceWord(c, i, choice); word != "" {
			words = append(words, word)
		}
	}
	switch c.Ask {
	case agent.CheckClarify:
		hint := strings.Join(words, ", ")
		if len(c.Questions) > 0 && len(c.Questions[0].Choices) > 0 {
			hint = "a number, " + hint
		}
		return row{in(cyan, "  type "+hint)}
	case agent.CheckStuck:
		words = append(words, "or what should be done differently")
	case agent.CheckApproval, agent.CheckPlan, agent.CheckBudget, agent.CheckUncertain:
	}
	return row{in(cyan, "  "+strings.Join(append(words, "[?] why, then Enter"), "  "))}
}

// choiceWord is what is typed for the choice at i, "" where the question shows it.
func choiceWord(c agent.Checkpoint, i int, choice string) string {
	if c.Ask != agent.CheckClarify {
		if key, is := keys[choice]; is && c.Ask == agent.CheckApproval {
			return key
		}
		return fmt.Sprintf("[%d] %s", i+1, oneLine(choice))
	}
	switch {
	case len(c.Questions) == 1 && i < len(c.Questions[0].Choices):
		return ""
	case choice == agent.DecideAnswer:
		return "your answer"
	}
	return strconv.Quote(choice)
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

// current is the question that the person is asked now, nil for none.
func current(r agent.Run) *agent.Checkpoint {
	if r.Ended != nil {
		return nil
	}
	return r.OpenCheckpoint()
}

// asks reports whether the checkpoint is there and open.
func asks(r agent.Run, id agent.CheckpointID) bool {
	c, known := r.Checks[id]
	return known && c.Open()
}

// several reports whether the points of a question are asked one by one.
func several(c *agent.Checkpoint) bool {
	return c != nil && c.Ask == agent.CheckClarify && len(c.Questions) > 1
}

// chosen is the choice that a line means by its text, whatever its case and
// spaces, and whether there is one.
func chosen(choices []string, line string) (string, bool) {
	loose := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }
	i := slices.IndexFunc(choices, func(c string) bool { return loose(c) == loose(line) })
	if i < 0 {
		return "", false
	}
	return choices[i], true
}
