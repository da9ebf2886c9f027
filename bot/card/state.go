package card

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What a run does right now, and how it ended, each in a line: the card, the
// list and the report share these.

// standing is what happens now, or who is waited for, in one line of Markdown.
func standing(r agent.Run) string {
	switch {
	case r.Ended != nil:
		return outcome(r)
	case r.Cancelled != nil:
		return "**Ending**: " + cancelled(r)
	case r.Refused != "":
		return "**Paused**: " + text.Escape(Refusal(r)) + ". Whoever runs me has to mend that; then press Resume."
	case r.Paused != "":
		return "**Paused** by " + PausedBy(r.Paused)
	case r.Finish:
		return "**Ending** with what there is"
	case r.State() == agent.RunWaiting:
		return "**Waiting** " + waiting(r)
	}
	retry, waits := r.Strands.NextRetry()
	if waits && agent.AllWait(r) {
		return "**Waiting**: the model " + text.Escape(retryWords(retry.Reason, retry.At))
	}
	line := "**Working**: " + Work(r)
	if waits {
		line += text.NextLine + "Waiting in part: the model " + text.Escape(retryWords(retry.Reason, retry.At))
	}
	if r.OpenCheckpoint() != nil {
		line += text.NextLine + "Waiting " + waiting(r)
	}
	return line
}

// Refusal says that the model refuses what a person has to mend, in
// plain text without hosts: those are in the log.
func Refusal(r agent.Run) string {
	return "the model " + cmp.Or(text.InLine(statusCode.ReplaceAllString(r.RefusedWhy, ""), 100), "refuses my key, or is not there by this name")
}

// statusCode is how a model's endpoint said it, for those who run it.
var statusCode = regexp.MustCompile(` \(HTTP \d+\)`)

// retryWords says why the model is asked again, and when, as it follows "the model".
func retryWords(reason string, at time.Time) string {
	reason, _, _ = strings.Cut(statusCode.ReplaceAllString(reason, ""), ": ") // addresses are for the log
	return cmp.Or(text.InLine(reason, 100), "did not answer") + "; I ask again at " + text.Clock(at)
}

// PausedBy is who paused the run; Deckhand itself says why.
func PausedBy(paused string) string {
	if reason, is := strings.CutPrefix(paused, agent.Deckhand+": "); is {
		return bot.Mention(agent.Deckhand) + ": " + text.Quoted(reason, 300)
	}
	return bot.Mention(paused)
}

// WaitReasons is what each kind of question waits for.
var WaitReasons = map[agent.CheckpointKind]string{
	agent.CheckClarify: "for an answer", agent.CheckPlan: "for the approval of the plan",
	agent.CheckApproval: "for an approval", agent.CheckBudget: "for a decision about the budget",
	agent.CheckStuck: "for a way out", agent.CheckUncertain: "for somebody to look whether it happened",
}

// waiting is what is waited for, and whom.
func waiting(r agent.Run) string {
	list := r.OpenCheckpoints()
	c := list[0]
	text := WaitReasons[c.Ask] + deciderNames(r.Asking(c), c.Ask) + ": " + text.Escape(Title(r, c))
	if more := len(list) - 1; more > 0 {
		text += ", and " + format.Count(more, "more question")
	}
	return text
}

// deciderNames names the people of the run who may decide, "" where the
// configuration says who.
func deciderNames(r agent.Run, ask agent.CheckpointKind) string {
	switch {
	case ask == agent.CheckClarify || ask == agent.CheckStuck:
		return " from " + bot.Mention(r.Brief.Requester)
	case authority.IsReview(r, ask):
		return " by " + bot.Mentions(r.Brief.Reviewers, "or")
	case len(r.Brief.Approvers) > 0:
		return " by " + bot.Mentions(r.Brief.Approvers, "or")
	}
	return ""
}

// Work is what executes: tasks with what they do, else the main strand's work.
func Work(r agent.Run) string {
	var tasks []string
	for _, t := range r.Plan.Tasks {
		if r.Tasks[t.ID].State != agent.TaskRunning {
			continue
		}
		line := text.Quoted(taskTitle(t), 80)
		if now := doing(r, agent.TaskStrand(t.ID)); now != "" {
			line += " (" + text.Escape(now) + ")"
		}
		tasks = append(tasks, line)
	}
	switch {
	case len(tasks) > 0:
		return strings.Join(tasks, "; ")
	case r.Plans == 0 && fetches(r):
		return "fetching the attached files…"
	case r.Report != nil:
		return "finishing…"
	}
	return purposeWords[string(r.Purpose(agent.Main))] + "…"
}

// fetches reports whether a person's file is on its way.
func fetches(r agent.Run) bool {
	return slices.ContainsFunc(OpenCalls(r.Strands.Of(agent.Voice)), func(c agent.OpenCall) bool { return c.Effect.Attaches() })
}

// purposeWords say what a model is asked for, by purpose.
var purposeWords = map[string]string{
	"intake": "reading the goal", "plan": "planning anew", "work": "thinking",
	"check-in": "looking back over the work", judging: "checking the result", "report": "writing the report",
}

const judging = "judge"

// doing is what a strand does right now in a few words without arguments, ""
// for nothing.
func doing(r agent.Run, id agent.StrandID) string {
	for _, c := range r.OpenCheckpoints() {
		if c.Strand == id {
			return "waits " + WaitReasons[c.Ask]
		}
	}
	s := r.Strands.Of(id)
	if s.Call != nil {
		return purposeWords[string(s.Call.Purpose)]
	}
	var names []string
	for _, c := range OpenCalls(s) {
		name := strings.ReplaceAll(text.InLine(c.Name, 40), "_", " ")
		if c.Progress != "" {
			name += " (" + text.InLine(c.Progress, 60) + ")"
		}
		if c.Intent != nil && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) > 0:
		return format.List(names, "and")
	case s.Finishing != nil:
		return purposeWords[judging]
	}
	return ""
}

// OpenCalls are the strand's open calls, of all its conversations.
func OpenCalls(s agent.Strand) []agent.OpenCall {
	var list []agent.OpenCall
	for _, in := range s.Talks {
		list = append(list, in.Talk.Open...)
	}
	slices.SortFunc(list, func(a, b agent.OpenCall) int { return strings.Compare(string(a.Effect), string(b.Effect)) })
	return list
}

// Executes reports whether a model is being asked or a tool runs, also while
// the run is paused.
func Executes(r agent.Run) bool {
	if r.Ended != nil {
		return false
	}
	for id, s := range r.Strands.All() {
		if s.Call != nil && !s.Ended && id != agent.Voice {
			return true
		}
	}
	return r.State() == agent.RunRunning
}

// endings are the outcomes in a word.
var endings = map[agent.RunState]string{
	agent.RunDone: "Done", agent.RunFailed: "Failed", agent.RunCancelled: "Cancelled",
}

// endingWords say how an ended run ended. Where somebody ended it early, they say
// who: in the words of name, which gets the person.
func endingWords(r agent.Run, name func(principal string) string) string {
	by := agent.FinishedEarly(r)
	switch {
	case r.Ended.State != agent.RunFailed || by == nil:
		return endings[r.Ended.State]
	case by.Decision == agent.DecideExpired:
		return "Finished early, since nobody answered in time"
	case by.By == agent.Deckhand:
		return "Finished early, since nobody could be asked"
	}
	return "Finished early, as " + name(by.By) + " asked"
}

// cancelled says who cancelled the run, when, and why.
func cancelled(r agent.Run) string {
	line := People(r, "cancelled by "+r.Cancelled.By) + ", " + text.Moment(r.Stopped)
	if why := text.Quoted(r.Cancelled.Reason, 160); why != "" {
		line += ": " + why
	}
	return line
}

// outcome is how the run ended in one line: outcome, tasks, cost and time.
func outcome(r agent.Run) string {
	line, why := "**"+endingWords(r, bot.Mention)+"**: "+text.Quoted(r.Brief.Goal, 120), r.Ended.Reason
	if c, is := unhelped(r); is {
		why = Title(r, c)
	}
	switch {
	case r.Ended.State == agent.RunCancelled && r.Cancelled != nil:
		by, is := strings.CutPrefix(cancelled(r), "cancelled ")
		line = "**" + endings[r.Ended.State] + "**" + map[bool]string{true: " ", false: ": "}[is] + by + " · " + text.Quoted(r.Brief.Goal, 120)
	case r.Ended.State != agent.RunDone && why != "" && !listed(r):
		line += " · " + People(r, text.Quoted(why, 160))
	}
	return strings.Join(append([]string{line}, figures(r)...), " · ")
}

// unhelped is the question about a way out that nobody answered in time, where the
// run ended by that.
func unhelped(r agent.Run) (c agent.Checkpoint, is bool) {
	by := agent.FinishedEarly(r)
	if by == nil || by.Decision != agent.DecideExpired {
		return c, false
	}
	c = r.Checks[by.ID]
	return c, c.Ask == agent.CheckStuck
}

// listed reports whether the reason only lists what is not done, which the report
// does anyhow.
func listed(r agent.Run) bool {
	return strings.HasPrefix(r.Ended.Reason, "not delivered: ") && !strings.Contains(r.Ended.Reason, "; the plan was to be made anew")
}

// People is a reason of the engine's in words of people, with names in place of
// principals: of the requester and of everybody who decided something. Where nobody
// did, it says so. What a model's endpoint said is for those who run Deckhand, who
// also work at the terminal.
func People(r agent.Run, reason string) string {
	reason = text.InSteps(reason)
	if r.Brief.ReplyTo != "" {
		reason = text.WithoutEndpoint(reason)
	}
	known := map[string]bool{r.Brief.Requester: true}
	if r.Cancelled != nil {
		known[r.Cancelled.By] = true
	}
	for _, c := range r.Checks {
		if c.Decision != nil {
			known[c.Decision.By] = true
		}
	}
	pairs := []string{"cancelled by " + agent.DecideExpired, "nobody approved the plan in time"}
	for _, who := range slices.Sorted(maps.Keys(known)) {
		if strings.Contains(who, ":") {
			pairs = append([]string{who, bot.Mention(who)}, pairs...) // of two that begin alike, the longer one first
		}
	}
	return strings.NewReplacer(pairs...).Replace(reason)
}

// figures are tasks, cost and time of a run that has ended, as the journal has
// them: tokens where its cost is not known.
func figures(r agent.Run) []string {
	var list []string
	if done, total := r.Progress(); total > 0 {
		list = append(list, fmt.Sprintf("%d of %s done", done, format.Count(total, "task")))
	}
	switch cost := r.Spent.Dollars(); {
	case cost != nil && *cost > 0:
		list = append(list, text.Money(cost))
	case r.Spent.Tokens() > 0:
		list = append(list, format.Count(r.Spent.Tokens(), "token"))
	}
	if took := r.Finished.Sub(r.Started); took >= time.Second {
		list = append(list, "took "+format.Duration(took))
	}
	return list
}

// taskTitle is what a task is called.
func taskTitle(t agent.Task) string {
	if t.Title == "" {
		return string(t.ID)
	}
	return t.Title
}
