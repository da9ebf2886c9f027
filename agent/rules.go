package agent

// This file holds what a strand does next, as tables of rules, and what the
// rules mean: their conditions, and what they do.

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// rule is one row of a decision table: when something is so, the strand does
// one thing, or rests until a time (or until somebody wakes it). A row that has
// rules of its own is decided by these. The first row that holds decides; one
// without a condition always holds.
type rule struct {
	what  string // the condition, for those who read the table
	when  func(p *point) bool
	act   func(p *point) Move
	until func(p *point) time.Time // of a row that does not act
	rules []rule
}

// What a strand of a task does next.
var taskRules = []rule{
	{what: "it has ended", when: (*point).over},
	{what: "the model is being asked", when: (*point).asking, act: askOn},
	{what: "people paused the run", when: (*point).paused},
	{what: "people end the run", when: (*point).stopping, act: skipTask},
	{what: "its question to people is open", when: (*point).waiting, rules: waitRules},
	{what: "calls of the newest answer are open", when: (*point).calling, rules: callRules},
	{what: "a check-in is due", when: (*point).checkingIn, rules: checkInRules},
	{what: "its conversation leaves no room in the model's window", when: (*point).compacting, rules: compactRules},
	{what: "the model could not be asked, or people skip it", when: (*point).broken, act: func(p *point) Move { return p.fail(p.st.Error) }},
	{what: "a program is to look at the result, or has looked", when: (*point).checks, act: check},
	{what: "the judge accepted the result", when: (*point).accepted, act: finishTask},
	{what: "unusable replies in a row", when: (*point).struck, act: func(p *point) Move { return p.fail(strikeReason(p.newest())) }},
	{what: "results were rejected again and again", when: (*point).rejectedOften, act: failRejected},
	{what: "otherwise", rules: askRules},
}

// What the main strand does next: it plans, schedules, plans anew, reports and
// ends the run.
var mainRules = []rule{
	{what: "the run has ended", when: (*point).over},
	{what: "the model is being asked", when: (*point).asking, act: askOn},
	{what: "people paused the run", when: (*point).paused},
	{what: "its question to people is open", when: (*point).waiting, rules: waitRules},
	{what: "calls of the newest answer are open", when: (*point).planCalls, rules: callRules},
	{what: "what people said is not understood yet", when: func(p *point) bool { return p.reported() && p.listening() }},
	{what: "the report is there", when: (*point).reported, act: func(p *point) Move { return decide(Main, nil, ending(p.Run, "")) }},
	{what: "everything is there and reviewers are to approve it", when: (*point).reviewing, rules: reviewRules},
	{what: "people end the run", when: (*point).stopping, rules: []rule{
		{what: "tasks are still ending", when: (*point).working}, // each of them wakes the main strand
		{what: "no model can write the report", when: (*point).speechless, act: reportPlainly},
		{what: "calls of the newest answer are open", when: (*point).calling, rules: callRules},
		{what: "otherwise", rules: askRules}, // for the report
	}},
	{what: "no plan can be had, or no new one", when: (*point).planless, act: failRun},
	{what: "there is no plan", when: (*point).unplanned, rules: []rule{
		{what: "files are on their way", when: func(p *point) bool { return attaching(p.Run) }}, // their outcome wakes this strand
		{what: "otherwise", rules: askRules},
	}},
	{what: "a person is to look at the plan", when: (*point).personRethinks, act: askWayOut},
	{what: "tasks can start", when: (*point).startable, act: func(p *point) Move { return steps(Schedule{Free: max(p.free(), 1)}) }},
	{what: "tasks are at work", when: (*point).working},
	{what: "a failure calls for a new plan", when: func(p *point) bool { return p.wantsPlan() }, rules: askRules},
	{what: "no plan of the model mends the failures", when: (*point).needsWayOut, act: askWayOut},
	{what: "the model could not be asked for the report", when: (*point).unable,
		act: func(p *point) Move { return decide(Main, nil, plainReport(p.Run), ending(p.Run, p.st.Error)) }},
	{what: "otherwise", rules: askRules}, // for the report
}

// What finds out what people's words mean. It asks no person and waits for none;
// words that no model can read are what they always were: steering, an answer.
var hearRules = []rule{
	{what: "the run has ended", when: (*point).over},
	{what: "the model is being asked", when: (*point).asking, act: askOn},
	{what: "everything is understood", when: func(p *point) bool { return len(p.Unread) == 0 }},
	{what: "people cancelled the run", when: func(p *point) bool { return p.Cancelled != nil }},
	{what: "calls of the newest answer are open", when: (*point).calling, act: func(*point) Move { return steps(Dispatch{}) }},
	{what: "the model said nothing of some, or cannot be asked", when: (*point).unheard, act: func(p *point) Move { return steps(Misheard(p.Run, p.whyUnheard())) }},
	{what: "otherwise", act: func(*point) Move { return steps(AskModel{llm.Hear}) }},
}

// What the voice does next: it makes the posts that are due, one after the
// other, and then looks after the card.
var voiceRules = []rule{
	{what: "the run has no voice", when: func(p *point) bool { return !p.known }},
	{what: "posts are under way", when: (*point).calling, rules: callRules},
	{what: "otherwise", act: post},
}

// What a strand does that asked people: it stays off the clock until its
// question is decided or expires.
var waitRules = []rule{
	{what: "nobody can be asked for a way out", when: func(p *point) bool { return p.about.Ask == CheckStuck && p.Alone }, act: decideAlone},
	{what: "it expired", when: (*point).expired, act: func(p *point) Move {
		return decide(p.id, p.Strands.Wakeful(), CheckpointDecided{ID: p.about.ID, Decision: DecideExpired, By: DecideExpired})
	}},
	{what: "otherwise", until: func(p *point) time.Time { return p.about.Expires }},
}

// What becomes of the calls of the newest answer.
var callRules = []rule{
	{what: "people said what became of one", when: func(p *point) bool { return p.settledCall() != nil }, act: settleCall},
	{what: "intents are journalled", when: func(p *point) bool { return len(p.dueCalls()) > 0 }, act: func(p *point) Move { return steps(Invoke{p.dueCalls()}) }},
	{what: "effects are put off", when: func(p *point) bool { return !p.nextLook().IsZero() }, until: (*point).nextLook},
	{what: "what people said is not understood yet", when: (*point).listening},
	{what: "otherwise", act: func(*point) Move { return steps(Dispatch{}) }},
}

// How the model is asked for its ledger. That none can be had is no trouble:
// the work goes on.
var checkInRules = []rule{
	{what: "the model could not be asked", when: func(p *point) bool { return p.st.CheckIn.Failed != "" },
		act: func(p *point) Move { return steps(MissCheckIn(p.Run, p.id, p.st.CheckIn.Failed)) }},
	{what: "unusable replies in a row", when: (*point).struck,
		act: func(p *point) Move {
			return steps(MissCheckIn(p.Run, p.id, strikeReason(p.newest())))
		}},
	{what: "a question about the budget is open", when: func(p *point) bool { return p.budgetOpen() }},
	{what: "the time is used up", when: (*point).late,
		act: func(p *point) Move { return steps(MissCheckIn(p.Run, p.id, "the time of this run is used up")) }},
	{what: "the model's endpoint is limited or away", when: (*point).deferred, until: (*point).retryAt},
	{what: "what people said is not understood yet", when: (*point).listening},
	{what: "otherwise", act: func(*point) Move { return steps(AskModel{llm.CheckIn}) }},
}

// How the oldest part of a conversation is summed up. Where no model can be had
// for it, a list of its calls stands in its place, and the work goes on.
var compactRules = []rule{
	{what: "no model sums it up", when: func(p *point) bool { return p.st.Window.Failed != "" || p.struck() || p.late() }, act: outline},
	{what: "a question about the budget is open", when: func(p *point) bool { return p.budgetOpen() }},
	{what: "the model's endpoint is limited or away", when: (*point).deferred, until: (*point).retryAt},
	{what: "what people said is not understood yet", when: (*point).listening},
	{what: "otherwise", act: func(*point) Move { return steps(AskModel{llm.Compact}) }},
}

// How results are reviewed once everything is there. The reviewers' silence ends
// the run; a denial gives the deliverables back to be made anew (decideReview).
var reviewRules = []rule{
	{what: "the reviewers were not asked", when: func(p *point) bool { return p.about == nil },
		act: func(p *point) Move { return decide(Main, nil, reviewQuestion(p.Run)) }},
	{what: "they have not decided", when: func(p *point) bool { return p.about.Open() }, rules: waitRules},
	{what: "otherwise", act: endUnreleased},
}

// How the model is asked, or people about the budget that stands in its way.
var askRules = []rule{
	{what: "a question about the budget is open", when: func(p *point) bool { return p.budgetOpen() }},
	{what: "the time is used up", when: (*point).late,
		act: func(p *point) Move { return decide(p.id, wakeMain(), BudgetQuestion(p.Run, BudgetTime, p.Last)) }},
	{what: "the model's endpoint is limited or away", when: (*point).deferred, until: (*point).retryAt},
	{what: "what people said is not understood yet", when: (*point).listening},
	{what: "otherwise", act: func(p *point) Move { return steps(AskModel{p.Purpose(p.id)}) }},
}

// What the rules mean: their conditions, and what they do.

// The bounds of a task's conversation. Three unusable replies in a row end a
// step (MODEL.md), and so does the third rejection by the judge.
const (
	maxStrikes    = 3
	maxRejections = 3
)

// point is where a strand stands: what the rules look at.
type point struct {
	Run
	id    StrandID
	st    Strand
	known bool
	// about is the question that rows below the one that set it are about.
	about  *Checkpoint
	talk   Talk
	talked bool
}

// points are used again: one is needed for each move, and it is large.
var points = sync.Pool{New: func() any { return &point{} }}

// stand hands out where the strand stands, for as long as look runs.
func stand(r Run, id StrandID, look func(p *point)) {
	p, _ := points.Get().(*point) // it holds nothing else
	p.Run, p.id = r, id
	p.st, p.known = r.Strands.Get(id)
	look(p)
	*p = point{} // keeps no run alive
	points.Put(p)
}

// newest is the conversation that the strand is in.
func (p *point) newest() *Talk {
	if !p.talked {
		p.talk, p.talked = p.Talk(p.id), true
	}
	return &p.talk
}

func (p *point) over() bool     { return p.Ended != nil || p.st.Ended || !p.known }
func (p *point) asking() bool   { return p.st.Call != nil }
func (p *point) paused() bool   { return p.Cancelled == nil && (p.Paused != "" || p.Refused != "") }
func (p *point) stopping() bool { return p.Run.stopping() }
func (p *point) broken() bool   { return p.st.Error != "" }
func (p *point) struck() bool   { return p.newest().Strikes >= maxStrikes }
func (p *point) unable() bool   { return p.broken() || p.struck() }
func (p *point) calling() bool  { return len(p.newest().Open) > 0 }

// waiting reports whether the strand waits for people; where they end the run,
// it does not.
func (p *point) waiting() bool {
	if p.stopping() {
		return false
	}
	p.about = p.waitsFor(p.id)
	return p.about != nil
}

func (p *point) expired() bool {
	return !p.about.Expires.IsZero() && !p.st.Ticked.Before(p.about.Expires)
}

// late reports whether the run's time is used up.
func (p *point) late() bool {
	limit := p.Limits().Time
	return limit > 0 && p.Spent.Time >= limit
}

func (p *point) deferred() bool     { return p.st.Deferred() }
func (p *point) retryAt() time.Time { return p.st.Retry.At }

// settledCall is the first call whose fate a person told, nil if there is none.
func (p *point) settledCall() *OpenCall {
	for i, c := range p.newest().Open {
		if check := p.Checks[c.Checkpoint]; check.Ask == CheckUncertain && !check.Open() && c.Intent != nil {
			return &p.talk.Open[i]
		}
	}
	return nil
}

// dueCalls are the effects to run now.
func (p *point) dueCalls() []EffectID {
	var due []EffectID
	for _, c := range p.newest().Open {
		if c.Intent != nil && !p.st.Ticked.Before(c.Until) {
			due = append(due, c.Effect)
		}
	}
	return due
}

// nextLook is when the first effect that is put off is looked at again, zero:
// none is.
func (p *point) nextLook() time.Time {
	var wake time.Time
	for _, c := range p.newest().Open {
		if c.Intent != nil && p.st.Ticked.Before(c.Until) && (wake.IsZero() || c.Until.Before(wake)) {
			wake = c.Until
		}
	}
	return wake
}

func (p *point) compacting() bool { return p.st.compacts() }

// outline puts a list of the oldest calls in their place.
func outline(p *point) Move {
	work := p.st.Talks.Of(llm.Work)
	return decide(p.id, nil, work.outlined(p.st.Window.Full.Entries))
}

func (p *point) checkingIn() bool { return p.st.checksIn(p.Brief.CheckIns) }
func (p *point) accepted() bool {
	return p.st.Finishing != nil && p.st.Judged != nil && p.st.Judged.Accepted
}

// rejectedOften reports whether the judge refused the task's results too often.
func (p *point) rejectedOften() bool {
	id, _ := p.id.Task()
	return p.Tasks[id].Rejections >= maxRejections
}

// planCalls reports whether the main strand has calls open while nobody ends
// the run: then the tasks end first.
func (p *point) planCalls() bool { return !p.stopping() && p.calling() }

func (p *point) reported() bool  { return p.Report != nil }
func (p *point) working() bool   { return p.running() > 0 }
func (p *point) unplanned() bool { return p.Plans == 0 }

// reviewing reports whether it is the reviewers' turn: everything is there, and
// they have not approved it.
func (p *point) reviewing() bool {
	if !unreviewed(p.Run) || p.Cancelled != nil || p.working() || p.ready() > 0 && !p.stopping() {
		return false
	}
	p.about = nil
	if c, asked := p.Checks[reviewID(p.Run)]; asked {
		p.about = &c
	}
	return true
}

// speechless reports whether the report of a run that people end is written
// without the model.
func (p *point) speechless() bool {
	return p.Cancelled != nil || unanswered(p.Run) || p.broke() || p.budgetOpen() || p.unplanned() || p.unable()
}

// planless reports whether the model could not be asked for the plan that the
// run needs.
func (p *point) planless() bool { return (p.unplanned() || p.wantsPlan()) && p.unable() }

// personRethinks reports whether a person is to look before another task starts.
func (p *point) personRethinks() bool {
	return p.rethinks() && p.Rethink.Person && p.Replans >= p.Retries && p.needsWayOut()
}

// needsWayOut reports whether there are failures that a person can show a way
// out of.
func (p *point) needsWayOut() bool {
	return (len(p.failed()) > 0 || p.rethinks()) && !p.Complete() && !p.anyFailed(FailImpossible) && !p.Alone
}

// free is how many more tasks may be at work. Tasks that wait for people take
// no slot.
func (p *point) free() int { return p.Brief.Slots - active(p.Run) }

// active counts running tasks that wait for nobody: only those take a slot.
func active(r Run) int {
	n := 0
	for id, t := range r.Tasks {
		if t.State == TaskRunning && r.waitsFor(TaskStrand(id)) == nil {
			n++
		}
	}
	return n
}

// startable reports whether a task can start. None does by a plan that is not
// to be worked any more.
func (p *point) startable() bool {
	return !p.rethinks() && p.ready() > 0 && (p.free() > 0 || !p.working())
}

// listening reports whether somebody who may steer said something that is not
// understood yet: nothing begins before it is. Those words wake all strands.
func (p *point) listening() bool {
	return p.id != Voice && p.Cancelled == nil && slices.ContainsFunc(p.Unread, func(w Words) bool { return w.Trusted && !w.Question })
}

// unheard reports whether the model cannot tell what people said.
func (p *point) unheard() bool { return p.whyUnheard() != "" }

// whyUnheard is why the model cannot tell what people said, empty: it can be
// asked.
func (p *point) whyUnheard() string {
	switch {
	case p.st.Error != "", p.Refused != "":
		return unheardAway
	case len(p.Unanswered()) > 0:
		return unheardUnclear
	case p.budgetOpen(), p.late():
		return unheardBudget
	}
	return ""
}

// askOn goes on with the call that is under way.
func askOn(p *point) Move { return steps(AskModel{p.st.Call.Purpose}) }

// decideAlone answers a question that nobody can be asked.
func decideAlone(p *point) Move {
	word := DecideFinish
	if _, works := p.id.Task(); works {
		word = DecideSkip // this task fails with the finding as its reason, the others go on
	}
	return decide(p.id, p.Strands.Wakeful(), CheckpointDecided{ID: p.about.ID, Decision: word, By: Deckhand, Text: "nobody can be asked"})
}

// settleCall is the outcome that a person gave to an effect nobody could ask about.
func settleCall(p *point) Move {
	c := p.settledCall()
	d := p.Checks[c.Checkpoint].Decision
	o := ToolOutcome{Effect: c.Effect, Trust: Trusted, State: OutcomeUnknown,
		Text: "error: Deckhand was interrupted during this call, and nobody said whether it happened; do not assume either"}
	switch d.Decision {
	case DecideDone:
		o.State, o.Text = OutcomeOK, "done ("+d.By+" says that it happened)"
	case DecideSkip:
		o.State, o.Text = OutcomeSkipped, "skipped: "+d.By+" decided that it is not to be done"
	}
	return decide(p.id, nil, o)
}

// endTask ends the strand's task without a result.
func (p *point) endTask(state TaskState, reason string) Move {
	id, _ := p.id.Task()
	return decide(p.id, wakeMain(), TaskEnded{Task: id, State: state, Outputs: []Output{}, Reason: reason, Fail: FailOther})
}

func (p *point) fail(reason string) Move { return p.endTask(TaskFailed, reason) }

// The words around the limit in the problem of an answer that was cut off.
const cutBefore, cutAfter = " was cut off: an answer has at most ", ". "

// CutOff is the problem of an answer that ended at its limit: what was cut, the
// limit in words, and what to do instead.
func CutOff(what, limit, advice string) string { return what + cutBefore + limit + cutAfter + advice }

// strikeReason is why a step ended after three unusable replies, in the model's
// own words and none of ours.
func strikeReason(t *Talk) string {
	said := "The model gave no usable answer in three tries. "
	if _, rest, is := strings.Cut(lastNote(t), cutBefore); is {
		limit, _, _ := strings.Cut(rest, cutAfter)
		return said + "Its last answer was cut off at " + limit
	}
	switch last := lastAnswer(t); {
	case last == nil || strings.TrimSpace(last.Content) == "" && len(last.Calls) == 0:
		return said + "Its last answer was empty"
	case strings.TrimSpace(last.Content) == "":
		return said + "It last asked for something that I cannot do"
	default:
		return said + "It last wrote: “" + format.LineStart(last.Content, maxReason) + "”"
	}
}

func failRejected(p *point) Move {
	return p.fail("the result was rejected three times; the last: " + lastNote(p.newest()))
}

func finishTask(p *point) Move {
	f := p.st.Finishing
	id, _ := p.id.Task()
	return decide(p.id, wakeMain(), TaskEnded{Task: id, State: TaskDone, Summary: f.Summary,
		Outputs: append([]Output{}, f.Outputs...), Confidence: f.Confidence}) // a list, also an empty one
}

// skipTask winds a task up that people end.
func skipTask(p *point) Move {
	if c := p.gaveUp(); c != nil && c.Strand == p.id && p.Cancelled == nil {
		return p.fail(gaveUpTask(p.Run, *c))
	}
	reason := "the run ends with what there is"
	if p.Cancelled != nil {
		reason = "the run was cancelled by " + p.Cancelled.By
	}
	open := p.st.Talks.Of(llm.Work).Open
	if i := slices.IndexFunc(open, func(c OpenCall) bool { return c.Intent != nil && c.Intent.Repeat != RepeatRead }); i >= 0 {
		reason += "; its call of " + open[i].Intent.Tool + " was under way and may have happened"
	}
	return p.endTask(TaskSkipped, reason)
}

func reportPlainly(p *point) Move {
	return decide(Main, nil, plainReport(p.Run), ending(p.Run, stopReason(p.Run)))
}

// failRun ends a run that came to no plan, or to no new one.
func failRun(p *point) Move {
	reason := p.st.Error
	if reason == "" {
		reason = strikeReason(p.newest())
	}
	return decide(Main, nil, failure(p.Run, reason), ending(p.Run, reason))
}

func askWayOut(p *point) Move { return decide(Main, nil, wayOutQuestion(p.Run)) }

func endUnreleased(p *point) Move {
	reason := unreviewedReason(p.Run)
	return decide(Main, nil, unreleased(p.Run, reason), ending(p.Run, reason))
}

// post makes the next post that is due, or shows the card.
func post(p *point) Move {
	next, remind, due := duePost(p.Run, p.st.Ticked)
	if due {
		return steps(Speak{next})
	}
	return Move{Steps: []Step{Show{}}, Wake: remind}
}
