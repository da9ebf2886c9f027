package card

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// Question is the message of an open question: what is asked, what it is
// about, and a button for each way to decide.
func Question(r agent.Run, c agent.Checkpoint, now time.Time, audience authority.Audience) bot.Card {
	r = r.Asking(c)
	card := bot.Card{Key: bot.Key{Run: r.ID, Name: agent.KeyAsk(c.ID), Kind: agent.PostCheckpoint},
		Text: put(r, c), Mentions: authority.FirstAsked(r, c.Ask, audience)}
	card.Parts = append(card.Parts, bot.Heading{Text: put(r, c)})
	if about := goalAndTask(r, c); about != "" {
		card.Parts = append(card.Parts, bot.Small{Markdown: about})
	}
	card.Parts = append(card.Parts, questionParts(r, c)...)
	lines := []string{stake(c), Votes(r, c), askedLater(c, card.Mentions, authority.LastAsked(r, c.Ask, audience)), deadline(c, now)}
	for _, line := range lines {
		if line != "" {
			card.Parts = append(card.Parts, bot.Small{Markdown: line})
		}
	}
	return with(card, decisions(c))
}

// Reminder is the second message of a question that nobody has decided.
func Reminder(r agent.Run, c agent.Checkpoint, now time.Time, audience authority.Audience) bot.Card {
	r = r.Asking(c)
	said := "Still waiting " + WaitReasons[c.Ask] + ": " + Title(r, c)
	line := "**Still waiting** " + WaitReasons[c.Ask] + ": " + text.Escape(Title(r, c))
	who := authority.LastAsked(r, c.Ask, audience)
	if c.Ask == agent.CheckStuck {
		line += text.NextLine + passedOn(r, authority.FirstAsked(r, c.Ask, audience), who)
	}
	if until := deadline(c, now); until != "" {
		line += text.NextLine + until
	}
	card := bot.Card{Key: bot.Key{Run: r.ID, Name: agent.KeyRemind(c.ID), Kind: agent.PostCheckpoint},
		Text: said, Mentions: who, Parts: []bot.Part{bot.Prose{Markdown: line}}}
	if c.Ask == agent.CheckApproval && !c.Review {
		card.Parts = append(append(card.Parts, changeBriefly(c)...), origins(c)...)
	}
	return with(card, decisions(c))
}

// Title is a question in one line.
func Title(r agent.Run, c agent.Checkpoint) string {
	if c.Review {
		return "Please review: " + text.InLine(r.Brief.Goal, 120)
	}
	title := ""
	switch c.Ask {
	case agent.CheckClarify:
		title = pointsTitle(c)
	case agent.CheckPlan:
		title = planTitle(c)
	case agent.CheckApproval:
		title = callTitle("May I ", c)
	case agent.CheckBudget:
		if c.Budget != "" {
			title = usedUp(r, c.Budget)
		}
	case agent.CheckStuck:
		title = refused(r, c)
	case agent.CheckUncertain:
		title = callTitle("I was interrupted: did I ", c)
	}
	return cmp.Or(title, text.InSteps(text.InLine(c.Title, maxTitle)))
}

// pointsTitle says what is to be cleared up, "" where the question's own title does.
func pointsTitle(c agent.Checkpoint) string {
	switch {
	case len(c.Questions) > 1:
		return "I have " + format.Count(len(c.Questions), "question")
	case len(c.Questions) == 1 && c.Title == plainQuestion:
		return text.InLine(c.Questions[0].Question, maxTitle)
	}
	return ""
}

// planTitle says what is wrong with a plan, "" where nothing is.
func planTitle(c agent.Checkpoint) string {
	switch {
	case strings.HasPrefix(c.Title, "The edited plan"):
		return "The edited plan does not hold together"
	case !slices.Contains(c.Choices, agent.DecideApprove):
		return "I could not make a plan that holds together"
	}
	return ""
}

// callTitle asks about the question's call, "" where it is about none.
func callTitle(asks string, c agent.Checkpoint) string {
	if c.Tool == "" {
		return ""
	}
	return asks + wish(c.Tool, c.Arguments) + "?"
}

// maxTitle is how many characters of a question stand in its title.
const maxTitle = 150

// plainQuestion is the title of a question that says nothing about it.
const plainQuestion = "I have a question"

// put is the title of a question where it is put: to the requester, who is asked
// first, in the second person.
func put(r agent.Run, c agent.Checkpoint) string {
	title := Title(r, c)
	if _, is := r.Refusal(c); !is {
		return title
	}
	if does, mine := strings.CutPrefix(title, bot.Mention(r.Brief.Requester)+" denied "); mine {
		title = "You denied " + does
	}
	return title + ". What should I do instead?"
}

// refused is the title of a question about a way out that goes back to a denial,
// "" for any other.
func refused(r agent.Run, c agent.Checkpoint) string {
	denied, is := r.Refusal(c)
	if !is {
		return ""
	}
	what, end := text.InLine(Phrase(denied.Tool, denied.Arguments), 40), ", and I found no other way"
	d := denied.Decision
	if d.Decision == agent.DecideExpired {
		return "Nobody allowed " + what + " in time" + end
	}
	if reason := text.InLine(d.Text, 36); reason != "" {
		what += " (“" + reason + "”)"
	}
	return bot.Mention(d.By) + " denied " + what + end
}

// expired is what becomes of a question that nobody decides in time.
var expired = map[agent.CheckpointKind]string{
	agent.CheckClarify: "I decide myself", agent.CheckPlan: "the run is cancelled",
	agent.CheckApproval: "it counts as denied", agent.CheckBudget: "I finish with what I have",
	agent.CheckStuck: "I finish with what I have", agent.CheckUncertain: "it stays unknown whether it happened",
}

// Closed is what stays of a question's message after its decision or after
// the run's end: all that was asked, for the record, who decided what, and no
// button.
func Closed(r agent.Run, c agent.Checkpoint) bot.Card {
	line := verdict(r, c)
	card := bot.Card{Key: bot.Key{Run: r.ID, Name: agent.KeyAsk(c.ID), Kind: agent.PostCheckpoint},
		Text: Title(r, c) + " – " + text.Plain(line), Parts: []bot.Part{bot.Heading{Text: Title(r, c)}}}
	if about := goalAndTask(r, c); about != "" {
		card.Parts = append(card.Parts, bot.Small{Markdown: about})
	}
	card.Parts = append(card.Parts, recorded(r, c)...)
	card.Parts = append(card.Parts, answered(c)...)
	card.Parts = append(card.Parts, bot.Small{Markdown: line})
	return card
}

// recorded is what stays readable of a question once it is closed: what was
// asked, as it was put, without what could be pressed and what that would have done.
func recorded(r agent.Run, c agent.Checkpoint) []bot.Part {
	switch {
	case c.Ask == agent.CheckClarify:
		return pointsAsked(c)
	case c.Ask == agent.CheckPlan:
		r.Tasks = nil // the plan as it was proposed
		parts := planParts(r, c)
		if !c.Open() && len(c.Decision.Covers) > 0 {
			parts = append(parts, bot.Small{Markdown: "This covered writing " + fileNames(c.Decision.Covers) + "."})
		}
		return parts
	case c.Review:
		return delivered(c)
	case c.Ask == agent.CheckApproval:
		parts := approvalParts(r, c)
		if c.Grant != "" && !c.Open() && (c.Decision.Decision == agent.DecideApprove || c.Decision.Decision == agent.DecideAlways) {
			parts = append(parts, bot.Small{Markdown: "This covered " + text.Escape(grantWords(c.Grant)) + "."})
		}
		return parts
	case c.Ask == agent.CheckUncertain:
		return arguments(c, longValue)
	case c.Ask == agent.CheckStuck:
		return triedParts(r, c)
	}
	return questionParts(r, c)
}

// pointsAsked are the unclear points with what could be chosen and what was answered.
func pointsAsked(c agent.Checkpoint) []bot.Part {
	var parts []bot.Part
	for i, q := range c.Questions {
		lines := []string{"**" + text.Quoted(q.Question, 500) + "**"}
		if len(c.Questions) > 1 {
			lines[0] = fmt.Sprintf("**%d. %s**", i+1, text.Quoted(q.Question, 500))
		}
		if q.Why != "" {
			lines = append(lines, text.Quoted(q.Why, 300))
		}
		if len(q.Choices) > 0 {
			lines = append(lines, "Choices: "+strings.Join(quotes(q.Choices), " · "))
		}
		if !c.Open() && c.Decision.Answers[q.ID] != "" {
			lines = append(lines, "→ "+text.Quoted(c.Decision.Answers[q.ID], 300))
		}
		parts = append(parts, bot.Prose{Markdown: strings.Join(lines, text.NextLine)})
	}
	return append(parts, detail(c)...)
}

// verdict says who decided what and when.
func verdict(r agent.Run, c agent.Checkpoint) string {
	if c.Open() {
		if r.Ended == nil {
			return "This question is not open any more."
		}
		return "Not decided: the run had ended."
	}
	d := c.Decision
	when := " · " + text.Moment(c.Closed)
	if d.Decision == agent.DecideExpired {
		return "**Expired**: nobody decided in time, so " + OnExpiry(c) + when
	}
	word, known := done[d.Decision]
	if !known {
		word = Label(d.Decision)
	}
	line := "**" + text.Escape(word) + "** by " + bot.Mention(d.By) + when
	if len(c.Votes) > 0 {
		line += text.NextLine + "Approved before by " + voters(c)
	}
	return line
}

// done are decisions that were made, in words.
var done = map[string]string{
	agent.DecideAnswer: "Answered", agent.DecideApprove: "Approved", agent.DecideAlways: "Approved, always in this run",
	agent.DecideDeny: "Denied", agent.DecideEdit: "Edited", agent.DecideCancel: "Cancelled", agent.DecideForMe: "Left to me",
	agent.DecideDone: "It happened", agent.DecideSkip: "Skipped",
}

// already are decisions that were made, as they follow who made them.
var already = map[string]string{
	agent.DecideApprove: "approved this already", agent.DecideAlways: "approved this already, for the whole run", agent.DecideDeny: "denied this already",
	agent.DecideEdit: "changed this already", agent.DecideAnswer: "answered this already", agent.DecideForMe: "left this to me already",
	agent.DecideCancel: "ended the run here already", agent.DecideFinish: "had me finish already", agent.DecideRetry: "had me try again already",
}

// Already says to somebody that a question was decided before, by whom and when.
func Already(c agent.Checkpoint, to string) string {
	if c.Open() {
		return "This question is not open any more."
	}
	when := ""
	if !c.Closed.IsZero() {
		when = " · " + text.Moment(c.Closed)
	}
	if c.Decision.Decision == agent.DecideExpired {
		return "Nobody decided this in time, so " + OnExpiry(c) + when + "."
	}
	does, known := already[c.Decision.Decision]
	if !known {
		does = "decided this already: " + text.Escape(Label(c.Decision.Decision))
	}
	who := bot.Mention(c.Decision.By)
	switch c.Decision.By {
	case to:
		who = "You"
	case bot.Terminal:
		who = "Somebody at the terminal"
	}
	return who + " " + does + when + "."
}

func voters(c agent.Checkpoint) string {
	by := make([]string, len(c.Votes))
	for i, v := range c.Votes {
		by[i] = v.By
	}
	return bot.Mentions(by, "and")
}

// answered is what people wrote with their decision.
func answered(c agent.Checkpoint) []bot.Part {
	if c.Open() {
		return nil
	}
	line := strings.TrimSpace(c.Decision.Text)
	if line == "" {
		return nil
	}
	return []bot.Part{bot.Prose{Markdown: "> " + text.Quoted(line, 600)}}
}

// goalAndTask is the run and the task that a question belongs to.
func goalAndTask(r agent.Run, c agent.Checkpoint) string {
	if c.Review { // whose title says it
		return ""
	}
	line := "Goal: " + text.Quoted(r.Brief.Goal, 150)
	if id, is := c.Strand.Task(); is && c.Ask != agent.CheckStuck { // whose title says it
		if t, known := r.Plan.Task(id); known {
			line += text.NextLine + "Task: " + text.Quoted(taskTitle(t), 120)
		}
	}
	return line
}

// stake is what pressing Approve allows, or what could go wrong.
func stake(c agent.Checkpoint) string {
	if c.Grant != "" {
		return "Approving covers " + text.Escape(grantWords(c.Grant)) + "."
	}
	if len(c.Writes) > 0 {
		return "Approving also lets me write " + fileNames(c.Writes) + " in this run. I ask before I change any other file, and before each delete."
	}
	return text.Escape(text.InLine(c.Risk, 300))
}

// maxFiles is how many files a sentence names.
const maxFiles = 20

// fileNames names files in a sentence.
func fileNames(paths []string) string {
	var list []string
	for _, p := range paths[:min(len(paths), maxFiles)] {
		list = append(list, fileName(p))
	}
	return format.List(list, "and")
}

// fileName is a path as it stands, in a sentence.
func fileName(path string) string {
	line := text.InLine(path, maxPath)
	if strings.Contains(line, "`") {
		return text.Escape(line)
	}
	return "`" + line + "`"
}

// deadline says what becomes of a question that nobody decides in time, and when.
func deadline(c agent.Checkpoint, now time.Time) string {
	switch {
	case c.Expires.IsZero():
		return ""
	case !now.Before(c.Expires):
		return "Nobody decided in time: " + OnExpiry(c) + "."
	}
	nobody := "If nobody decides by "
	if c.Ask == agent.CheckClarify || c.Ask == agent.CheckStuck {
		nobody = "If nobody answers by "
	}
	return nobody + text.Moment(c.Expires) + ", " + OnExpiry(c) + "."
}

// grantWords is what a grant allows, as it follows "Approving covers".
func grantWords(grant string) string {
	if tool, is := strings.CutPrefix(grant, "tool:"); is {
		if does, known := habits[tool]; known {
			return "further " + does + " in this run"
		}
		return "further use of " + toolName(tool) + " in this run"
	}
	if path, is := agent.GrantedWrite(grant); is {
		return "writing " + text.InLine(path, maxPath) + ", as the plan named it"
	}
	if grant == "writes" {
		return "further writes in this run; deletes are always asked"
	}
	return "further " + text.InLine(grant, 60) + " in this run"
}

// habits are what a tool does again and again, for those that change something.
var habits = map[string]string{
	"write_to_file": "writes", "append_to_file": "additions to files", "delete_file": "deletes", "run_code": "code", "plot": "drawings",
}

// Votes is who approved so far, where more than one must.
func Votes(r agent.Run, c agent.Checkpoint) string {
	if c.Ask != agent.CheckApproval && c.Ask != agent.CheckPlan {
		return ""
	}
	r = r.Asking(c)
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
