package bot

import (
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// CheckCard is the message of an open question: what is asked, what it is
// about, and a button for each way to decide.
func CheckCard(r agent.Run, c agent.Checkpoint, now time.Time, audience Audience) Card {
	card := Card{Key: Key{Run: r.ID, Name: keyAsk + string(c.ID), Kind: agent.PostCheckpoint},
		Text: inLine(c.Title, 200), Mentions: audience(r, c.Ask)}
	card.Parts = append(card.Parts, Heading{inLine(c.Title, 150)}, Small{about(r, c)})
	card.Parts = append(card.Parts, asks(r, c)...)
	card.Parts = append(card.Parts, Facts{stakes(r, c, now)})
	if line := votes(r, c); line != "" {
		card.Parts = append(card.Parts, Small{line})
	}
	return with(card, decisions(c))
}

// RemindCard is the second message of a question that nobody has decided.
func RemindCard(r agent.Run, c agent.Checkpoint, now time.Time, audience Audience) Card {
	text := "Still waiting " + wants[c.Ask] + ": " + inLine(c.Title, 150)
	line := "**Still waiting** " + wants[c.Ask] + ": " + quoted(c.Title, 150)
	if expiry := untilThen(c.Expires, now); expiry != "" {
		line += "\nIt " + expiry + "; then " + expired[c.Ask] + "."
	}
	card := Card{Key: Key{Run: r.ID, Name: keyRemind + string(c.ID), Kind: agent.PostCheckpoint},
		Text: text, Mentions: audience(r, c.Ask), Parts: []Part{Prose{line}}}
	if c.Ask == agent.CheckApproval {
		card.Parts = append(card.Parts, arguments(c)...)
	}
	return with(card, decisions(c))
}

// expired is what becomes of a question that nobody decides in time.
var expired = map[agent.CheckpointKind]string{
	agent.CheckClarify: "I decide myself", agent.CheckPlan: "the run is cancelled",
	agent.CheckApproval: "it counts as denied", agent.CheckBudget: "the run ends with what there is",
	agent.CheckStuck: "the run ends with what there is", agent.CheckUncertain: "it stays unknown whether it happened",
}

// ClosedCard is what stays of a question's message after its decision or after
// the run's end: who decided what, and no button.
func ClosedCard(r agent.Run, c agent.Checkpoint) Card {
	line := verdict(r, c)
	card := Card{Key: Key{Run: r.ID, Name: keyAsk + string(c.ID), Kind: agent.PostCheckpoint},
		Text: inLine(c.Title, 150) + " – " + plain(line)}
	card.Parts = append(card.Parts, Heading{inLine(c.Title, 150)})
	if c.Ask == agent.CheckApproval {
		card.Parts = append(card.Parts, arguments(c)...)
	}
	card.Parts = append(card.Parts, answered(c)...)
	return Card{Key: card.Key, Text: card.Text, Parts: append(card.Parts, Small{line})}
}

// verdict says who decided what and when.
func verdict(r agent.Run, c agent.Checkpoint) string {
	if c.Open() {
		if r.Ended == nil {
			return "This question is not open any more."
		}
		return "Not decided: the run had ended (" + string(r.Ended.State) + ")."
	}
	d := c.Decision
	when := " · " + moment(decidedAt(r, c))
	switch {
	case d.Decision == agent.DecideExpired:
		return "**Expired**: nobody decided in time; " + expired[c.Ask] + when
	case c.Ask == agent.CheckClarify && d.Decision == agent.DecideAnswer:
		return "**Answered** by " + Mention(d.By) + when
	}
	text := "**" + escape(label(d.Decision)) + "** by " + Mention(d.By) + when
	for i, v := range c.Votes {
		if i == 0 {
			text += "\nApproved before by "
		} else {
			text += ", "
		}
		text += Mention(v.By)
	}
	return text
}

// decidedAt is when the question was decided.
func decidedAt(r agent.Run, _ agent.Checkpoint) time.Time { return r.Last }

// answered is what people wrote with their decision.
func answered(c agent.Checkpoint) []Part {
	if c.Open() {
		return nil
	}
	var lines []string
	for _, q := range c.Questions {
		if a := c.Decision.Answers[q.ID]; a != "" {
			lines = append(lines, quoted(q.Question, 200)+" → "+quoted(a, 300))
		}
	}
	if len(lines) == 0 && len(c.Questions) == 1 {
		lines = append(lines, quoted(c.Questions[0].Question, 200))
	}
	if text := strings.TrimSpace(c.Decision.Text); text != "" {
		lines = append(lines, "> "+quoted(text, 600))
	}
	if len(lines) == 0 {
		return nil
	}
	return []Part{Prose{strings.Join(lines, "\n\n")}}
}

// about is the run and the task that a question belongs to.
func about(r agent.Run, c agent.Checkpoint) string {
	text := "Goal: " + quoted(r.Brief.Goal, 150)
	if id, is := c.Strand.Task(); is {
		if t, known := r.Plan.Task(id); known {
			text += "\nTask: " + quoted(taskTitle(t), 120)
		}
	}
	return text
}

// stakes are risk, cost and expiry.
func stakes(r agent.Run, c agent.Checkpoint, now time.Time) []Fact {
	var list []Fact
	if c.Risk != "" {
		list = append(list, Fact{"Risk", inLine(c.Risk, 300)})
	}
	if c.Grant != "" {
		list = append(list, Fact{"Approving allows", inLine(allows(c.Grant), 200)})
	}
	list = append(list, Fact{"Cost so far", spending(r)})
	if expiry := untilThen(c.Expires, now); expiry != "" {
		list = append(list, Fact{"Expiry", expiry + "; then " + expired[c.Ask]})
	}
	return list
}

// allows is a grant in words.
func allows(grant string) string {
	if tool, is := strings.CutPrefix(grant, "tool:"); is {
		return "every further " + tool + " of this run"
	}
	return grant + " for the rest of this run"
}

// votes is who approved so far, where more than one must.
func votes(r agent.Run, c agent.Checkpoint) string {
	if r.Brief.Quorum <= 1 || (c.Ask != agent.CheckApproval && c.Ask != agent.CheckPlan) {
		return ""
	}
	text := fmt.Sprintf("%d of %d approvals", len(c.Votes), r.Brief.Quorum)
	var by []string
	for _, v := range c.Votes {
		by = append(by, v.By)
	}
	if len(by) > 0 {
		text += ": " + mentions(by, "and")
	}
	return text
}
