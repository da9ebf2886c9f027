package terminal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// tell says in rows what an event means to a person; most say nothing. Before
// and after are the folds around it. With all set, the steps of the work are
// told too: that is for output without a live view.
func tell(before, after agent.Run, e agent.Event, all bool) []row {
	switch b := e.Body.(type) {
	case agent.RunStarted:
		return brief(after)
	case agent.PersonSaid:
		return said(b)
	case agent.RunControlled:
		return controlled(b)
	case agent.ModelAnswered:
		return answered(b)
	case agent.CallReplied:
		return replied(before, e.Strand, b)
	case agent.PlanAccepted:
		return accepted(after, b, all)
	case agent.TaskStarted:
		if all {
			return []row{{in(yellow, "◐"), in(normal, " "+titleOf(after, agent.TaskStrand(b.Task)))}}
		}
	case agent.TaskJudged:
		if !b.Accepted {
			return []row{{in(yellow, "↺ "), in(normal, titleOf(after, e.Strand)+" was sent back: "+oneLine(reasons(b)))}}
		}
	case agent.TaskEnded:
		return ended(after, b)
	case agent.ToolIntent:
		if all && e.Strand != agent.Voice {
			return []row{{in(dim, "  "+phrase(b.Tool, b.Arguments))}}
		}
	case agent.ToolOutcome:
		return outcome(before, e.Strand, b, all)
	case agent.CheckpointVoted:
		return []row{{in(dim, oneLine(b.By)+" approves; more approvals are needed")}}
	case agent.CheckpointDecided:
		return decided(before, b)
	case agent.BudgetNotice:
		return []row{{in(yellow, "! "), in(normal, budget(b))}}
	case agent.Finding:
		if passedOn(before, b) {
			return nil
		}
		return []row{{in(yellow, "! "), in(normal, oneLine(b.Message))}}
	case agent.Feedback:
		return []row{{in(dim, "feedback by "+oneLine(b.By)+": "+oneLine(b.Comment))}}
	case agent.RunEnded:
		return ending(after)
	case agent.RunWatched, agent.TimePassed, agent.ModelAsked, agent.TaskFinishing, agent.ToolDeferred,
		agent.CheckpointOpened, agent.CheckInDue, agent.CheckInMade, agent.Recalled, agent.Reported: // shown live, as a question, or with the end
	}
	return nil
}

// passedOn reports whether a check-in only says again what an exact rule found
// in the task's work: that stands on the screen already.
func passedOn(before agent.Run, f agent.Finding) bool {
	return f.Rule == "L13" && slices.ContainsFunc(before.Findings, func(o agent.Finding) bool {
		return o.Strand == f.Strand && o.Message == f.Message
	})
}

// brief is what the run is about.
func brief(r agent.Run) []row {
	rows := labelled("Goal", beginning(r.Brief.Goal))
	if l := limits(r.Brief.Limits); l != "" {
		rows = append(rows, row{in(bold, "Budget "), in(normal, l)})
	}
	if r.Brief.Folder != "" {
		rows = append(rows, row{in(bold, "Folder "), in(normal, r.Brief.Folder)})
	}
	return rows
}

// labelled is a text of several lines under a label.
// shownGoal is how many characters of a goal are shown: people know what they wrote.
const shownGoal = 1200

// beginning is a text, or its first characters and how many more there are.
func beginning(text string) string {
	all := []rune(text)
	if len(all) <= shownGoal+100 {
		return text
	}
	return string(all[:shownGoal]) + fmt.Sprintf(" … (%s)", plural(len(all)-shownGoal, "more character"))
}

func labelled(label, text string) []row {
	var rows []row
	for i, l := range lines(text) {
		if i == 0 {
			rows = append(rows, row{in(bold, label+" "), in(normal, l)})
			continue
		}
		rows = append(rows, say(strings.Repeat(" ", len(label)+1)+l))
	}
	return rows
}

func said(b agent.PersonSaid) []row {
	who := oneLine(b.By)
	if !b.Trusted {
		who += " (no authority here)"
	}
	return []row{{in(cyan, "› "), in(dim, who+": "), in(normal, oneLine(b.Text))}}
}

func controlled(b agent.RunControlled) []row {
	var text string
	switch b.Word {
	case agent.WordPause:
		text = "paused by " + b.By
	case agent.WordResume:
		text = "resumed by " + b.By
	case agent.WordCancel:
		text = "cancelled by " + b.By
	case agent.WordLeave:
		text = "end of input: nobody can be asked about trouble from here on"
	case agent.WordWake:
		return nil
	}
	if b.Reason != "" {
		text += ": " + b.Reason
	}
	return []row{{in(cyan, "› "), in(normal, oneLine(text))}}
}

// checkIn is the purpose of calls whose failure holds up nobody.
const checkIn = "check-in"

func answered(b agent.ModelAnswered) []row {
	switch {
	case b.Purpose == checkIn && b.Error != "":
		return []row{{in(dim, "a check-in is left out: "+oneLine(b.Error))}} // the work goes on
	case b.Refused:
		return []row{{in(red, "✗ the model refused: "), in(normal, oneLine(b.Error))}}
	case b.Error != "":
		return []row{{in(red, "✗ the model could not be asked: "), in(normal, oneLine(b.Error))}}
	case b.Lost:
		return []row{{in(yellow, "! "), in(normal, "a model call was cut off by an interruption; it counts as spent")}}
	}
	return nil
}

// replied tells of calls that people or the policy did not allow.
func replied(before agent.Run, id agent.StrandID, b agent.CallReplied) []row {
	if b.Problem || (!strings.HasPrefix(b.Text, "denied ") && !strings.HasPrefix(b.Text, "expired")) {
		return nil
	}
	name := ""
	for _, c := range openCalls(before.Strands[id]) {
		if c.Effect == b.Effect {
			if c.Checkpoint != "" {
				return nil // the decision was told
			}
			name = strings.ReplaceAll(c.Name, "_", " ") + ": "
		}
	}
	return []row{{in(yellow, "– "), in(normal, oneLine(name+b.Text))}}
}

func accepted(after agent.Run, b agent.PlanAccepted, all bool) []row {
	what := "Plan"
	if after.Plans > 1 {
		what = "New plan"
	}
	head := row{in(bold, what+" ")}
	if name := oneLine(b.Plan.Name); name != "" {
		head = append(head, in(normal, name+" · "))
	}
	head = append(head, in(normal, plural(len(b.Plan.Tasks), "task")))
	rows := []row{head}
	if b.Reason != "" {
		rows = append(rows, say("  because: "+oneLine(b.Reason)))
	}
	for _, f := range b.Findings {
		if f.Severity == agent.SeverityWarning {
			rows = append(rows, row{in(dim, "  note: "+oneLine(f.Message))})
		}
	}
	if all {
		for _, t := range plan(after, 0) {
			rows = append(rows, append(row{{"  ", normal}}, t...))
		}
	}
	return rows
}

func reasons(b agent.TaskJudged) string {
	text := strings.Join(b.Reasons, "; ")
	if len(b.Missing) > 0 {
		text += " (missing: " + strings.Join(b.Missing, "; ") + ")"
	}
	return strings.TrimSpace(text)
}

func ended(after agent.Run, b agent.TaskEnded) []row {
	mark, known := marks[b.State]
	if !known {
		mark = span{"·", dim}
	}
	line := row{mark, {" ", normal}, in(bold, titleOf(after, agent.TaskStrand(b.Task)))}
	text := b.Summary
	if b.State != agent.TaskDone {
		text = b.Reason
	}
	if text != "" {
		line = append(line, in(normal, ": "+oneLine(text)))
	}
	return []row{line}
}

func outcome(before agent.Run, id agent.StrandID, b agent.ToolOutcome, all bool) []row {
	name := "the call"
	for _, c := range openCalls(before.Strands[id]) {
		if c.Effect == b.Effect && c.Intent != nil {
			name = phrase(c.Intent.Tool, c.Intent.Arguments)
		}
	}
	switch b.State {
	case agent.OutcomeUnknown:
		return []row{{in(yellow, "! "), in(normal, name+": nobody knows whether it happened")}}
	case agent.OutcomeSkipped:
		return []row{{in(dim, "– "+name+": skipped")}}
	case agent.OutcomeError:
		if all {
			return []row{{in(dim, "  "+name+": "+short(b.Text, 200))}}
		}
	case agent.OutcomeOK:
	}
	return nil
}

// verbs turn decisions into what was done.
var verbs = map[string]string{
	agent.DecideApprove: "approved", agent.DecideDeny: "denied", agent.DecideEdit: "edited",
	agent.DecideAlways: "approved for this run", agent.DecideCancel: "cancelled", agent.DecideForMe: "left to the agent",
}

func decided(before agent.Run, b agent.CheckpointDecided) []row {
	if b.Decision == agent.DecideExpired {
		return []row{{in(yellow, "– "), in(normal, "nobody answered in time")}}
	}
	check := before.Checks[b.ID]
	verb, known := verbs[b.Decision]
	text := b.Text
	switch {
	case known:
		verb += " by " + b.By
	case check.Ask != agent.CheckClarify:
		verb = b.Decision + " (" + b.By + ")"
	case b.Decision == agent.DecideAnswer:
		verb = "answered by " + b.By
	default: // a choice's own words
		verb, text = "answered by "+b.By, strings.TrimSpace(b.Decision+" "+text)
	}
	line := row{in(cyan, "› "), in(normal, oneLine(verb))}
	if text != "" {
		line = append(line, in(normal, ": "+oneLine(text)))
	}
	rows := []row{line}
	for _, q := range check.Questions {
		if a := b.Answers[q.ID]; a != "" {
			rows = append(rows, row{in(dim, "  "+oneLine(q.Question)+" → "), in(normal, oneLine(a))})
		}
	}
	return rows
}

var budgets = map[string]string{"usd": "money", "tokens": "tokens", "time": "time", "steps": "steps"}

func budget(b agent.BudgetNotice) string {
	name, own := budgets[b.Budget]
	if !own {
		name = oneLine(b.Budget)
	}
	return fmt.Sprintf("%d %% of the budget for %s is used", b.Percent, name)
}
