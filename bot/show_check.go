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
		Text: title(c), Mentions: firstAsked(r, c.Ask, audience)}
	card.Parts = append(card.Parts, Heading{title(c)}, Small{about(r, c)})
	card.Parts = append(card.Parts, asks(r, c)...)
	if facts := stakes(r, c, now); len(facts) > 0 {
		card.Parts = append(card.Parts, Facts{facts})
	}
	if line := askedLater(c, card.Mentions, lastAsked(r, c.Ask, audience)); line != "" {
		card.Parts = append(card.Parts, Small{line})
	}
	if line := votes(r, c); line != "" {
		card.Parts = append(card.Parts, Small{line})
	}
	return with(card, decisions(c))
}

// RemindCard is the second message of a question that nobody has decided.
func RemindCard(r agent.Run, c agent.Checkpoint, now time.Time, audience Audience) Card {
	text := "Still waiting " + wants[c.Ask] + ": " + title(c)
	line := "**Still waiting** " + wants[c.Ask] + ": " + escape(title(c))
	who := lastAsked(r, c.Ask, audience)
	if c.Ask == agent.CheckStuck {
		line += nextLine + passedOn(r, firstAsked(r, c.Ask, audience), who)
	}
	if expiry := untilThen(c.Expires, now); expiry != "" {
		line += nextLine + "It " + expiry + "; then " + lapse(c) + "."
	}
	card := Card{Key: Key{Run: r.ID, Name: keyRemind + string(c.ID), Kind: agent.PostCheckpoint},
		Text: text, Mentions: who, Parts: []Part{Prose{line}}}
	if c.Ask == agent.CheckApproval {
		card.Parts = append(card.Parts, arguments(c, besideValue)...)
	}
	return with(card, decisions(c))
}

// title is a question in one line.
func title(c agent.Checkpoint) string {
	if c.Ask == agent.CheckClarify && len(c.Questions) > 1 {
		return "I have " + countOf(len(c.Questions), "question")
	}
	if name, own := budgetNames[c.Budget]; own {
		return "The budget is used up: " + name
	}
	return inLine(c.Title, 150)
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
		Text: title(c) + " – " + plain(line), Parts: []Part{Heading{title(c)}}}
	if c.Ask == agent.CheckApproval {
		card.Parts = append(card.Parts, arguments(c, besideValue)...)
	}
	card.Parts = append(card.Parts, answered(c)...)
	card.Parts = append(card.Parts, Small{line})
	return card
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
	when := " · " + moment(c.Closed)
	if d.Decision == agent.DecideExpired {
		return "**Expired**: nobody decided in time; " + lapse(c) + when
	}
	word, known := done[d.Decision]
	if !known {
		word = label(d.Decision)
	}
	text := "**" + escape(word) + "** by " + Mention(d.By) + when
	if len(c.Votes) > 0 {
		text += nextLine + "Approved before by " + voters(c)
	}
	return text
}

// done are decisions that were made, in words.
var done = map[string]string{
	agent.DecideAnswer: "Answered", agent.DecideApprove: "Approved", agent.DecideAlways: "Approved, always in this run",
	agent.DecideDeny: "Denied", agent.DecideEdit: "Edited", agent.DecideCancel: "Cancelled", agent.DecideForMe: "Left to me",
	agent.DecideDone: "It happened", agent.DecideSkip: "Skipped",
}

func voters(c agent.Checkpoint) string {
	by := make([]string, len(c.Votes))
	for i, v := range c.Votes {
		by[i] = v.By
	}
	return mentions(by, "and")
}

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
	if id, is := c.Strand.Task(); is && c.Ask != agent.CheckStuck { // whose title says it
		if t, known := r.Plan.Task(id); known {
			text += nextLine + "Task: " + quoted(taskTitle(t), 120)
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
	if c.Ask != agent.CheckBudget { // that one says more about it
		list = append(list, Fact{"Cost so far", spending(r)})
	}
	if expiry := untilThen(c.Expires, now); expiry != "" {
		list = append(list, Fact{"Expiry", strings.TrimPrefix(expiry, "expires ") + "; then " + lapse(c)})
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
	if c.Ask != agent.CheckApproval && c.Ask != agent.CheckPlan {
		return ""
	}
	if r.Brief.Quorum <= 1 { // the configuration may want more than the run says
		if len(c.Votes) == 0 {
			return ""
		}
		return "Approved so far by " + voters(c) + "; that is not enough"
	}
	text := fmt.Sprintf("%d of %d approvals", len(c.Votes), r.Brief.Quorum)
	if len(c.Votes) > 0 {
		text += ": " + voters(c)
	}
	return text
}
