package trace

// What each kind of event says.

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// word is the phase and the text of an event that is no call; no phase: it is
// left out.
func word(body agent.Body) (phase Phase, text string) {
	if phase, text = observed(body); phase != "" {
		return phase, text
	}
	if phase, text = oriented(body); phase != "" {
		return phase, text
	}
	return decided(body)
}

// observed tells what came in.
func observed(body agent.Body) (Phase, string) {
	switch b := body.(type) { //nolint:gochecksumtype // the other kinds are told by the other parts of word
	case agent.RunStarted:
		return Observe, fmt.Sprintf("goal of %s: %s", b.Requester, b.Goal)
	case agent.PersonSaid:
		return Observe, fmt.Sprintf("%s said: %s", b.By, b.Text)
	case agent.Recalled:
		return Observe, fmt.Sprintf("recalled %s and %s", format.Count(len(b.Episodes), "earlier run"), format.Count(len(b.Precedents), "precedent"))
	case agent.ToolsOffered:
		return Observe, offered(b)
	case agent.CheckpointDecided:
		return Observe, fmt.Sprintf("%s decided: %s%s", b.By, b.Decision, behind(b.Text))
	case agent.CheckpointVoted:
		return Observe, fmt.Sprintf("%s voted: %s%s", b.By, b.Decision, behind(b.Text))
	case agent.Feedback:
		return Observe, fmt.Sprintf("%s rated the report %+d%s", b.By, b.Rating, behind(b.Comment))
	case agent.RunControlled:
		if b.Word == agent.WordWake {
			return "", ""
		}
		return Observe, fmt.Sprintf("%s: %s%s", b.By, b.Word, behind(b.Reason))
	case agent.BudgetNotice:
		return Observe, fmt.Sprintf("%d %% of the budget of %s is spent", b.Percent, b.Budget)
	case agent.CheckInDue:
		return Observe, "time to look at where the work stands"
	}
	return "", ""
}

// offered tells which tools were found and what the model read about some.
func offered(b agent.ToolsOffered) string {
	var parts []string
	if len(b.Names) > 0 {
		names := make([]string, len(b.Names))
		for i, name := range b.Names {
			names[i] = name
			if i < len(b.Scores) {
				names[i] = fmt.Sprintf("%s (%.2f)", name, b.Scores[i])
			}
		}
		from := "for the text of the task"
		if b.Query != "" {
			from = "for “" + b.Query + "”"
		}
		parts = append(parts, "tools offered "+from+": "+strings.Join(names, ", "))
	}
	for _, d := range b.Documents {
		parts = append(parts, fmt.Sprintf("documentation of %s (%s) put before the model%s", d.Tool, d.Hash, behind(d.Text)))
	}
	return strings.Join(parts, "; ")
}

// oriented tells how it was made sense of.
func oriented(body agent.Body) (Phase, string) {
	switch b := body.(type) { //nolint:gochecksumtype // the other kinds are told by the other parts of word
	case agent.Understood:
		return Orient, fmt.Sprintf("what event %d says means: %s%s", b.Said, cmp.Or(string(b.Meaning), "nothing"), behind(b.Reason))
	case agent.Finding:
		return Orient, fmt.Sprintf("%s %s: %s", b.Severity, b.Rule, b.Message)
	case agent.TaskJudged:
		if b.Accepted {
			return Orient, fmt.Sprintf("the judge accepts %s", b.Task)
		}
		return Orient, fmt.Sprintf("the judge rejects %s: %s", b.Task, strings.Join(append(b.Reasons, b.Missing...), "; "))
	case agent.CheckInMade:
		return Orient, fmt.Sprintf("looked at the work: %s%s", b.Verdict, behind(b.Reason))
	}
	return "", ""
}

// decided tells what was decided, and what is done without a tool.
func decided(body agent.Body) (Phase, string) {
	switch b := body.(type) { //nolint:gochecksumtype // the other kinds are told by the other parts of word
	case agent.PlanAccepted:
		return Decide, fmt.Sprintf("plan with %s%s", format.Count(len(b.Plan.Tasks), "task"), behind(b.Reason))
	case agent.CallReplied:
		return Decide, "answered without a tool: " + b.Text
	case agent.CheckpointOpened:
		return Decide, fmt.Sprintf("ask people (%s): %s", b.Ask, b.Title)
	case agent.TaskStarted:
		return Act, fmt.Sprintf("task %s starts", b.Task)
	case agent.TaskFinishing:
		return Act, fmt.Sprintf("task %s says that it is finished%s", b.Task, behind(b.Summary))
	case agent.TaskEnded:
		return Act, fmt.Sprintf("task %s ends: %s%s", b.Task, b.State, behind(cmp.Or(b.Reason, b.Summary)))
	case agent.Reported:
		return Act, "report: " + b.Headline
	case agent.RunEnded:
		return Act, fmt.Sprintf("the run ends: %s%s", b.State, behind(b.Reason))
	}
	return "", ""
}

// answered tells an answer of the model: its words, and what it calls.
func answered(b agent.ModelAnswered) string {
	switch {
	case b.Message == nil:
		return fmt.Sprintf("the model gave no answer%s", behind(cmp.Or(b.Error, b.RetryReason, b.Problem)))
	case len(b.Message.Calls) == 0:
		return fmt.Sprintf("%s: %s", b.Purpose, b.Message.Content)
	}
	names := make([]string, len(b.Message.Calls))
	for i, c := range b.Message.Calls {
		names[i] = c.Name
	}
	return fmt.Sprintf("%s: calls %s", b.Purpose, format.List(names, "and"))
}

func behind(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}
