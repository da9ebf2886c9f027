package agent

import (
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
	{what: "the model could not be asked, or people skip it", when: (*point).broken, act: func(p *point) Move { return p.fail(p.st.Error) }},
	{what: "the judge accepted the result", when: (*point).accepted, act: finishTask},
	{what: "unusable replies in a row", when: (*point).struck, act: func(p *point) Move { return p.fail(strikeReason(lastNote(p.newest()))) }},
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
	{what: "otherwise", act: func(*point) Move { return steps(Dispatch{}) }},
}

// How the model is asked for its ledger. That none can be had is no trouble:
// the work goes on.
var checkInRules = []rule{
	{what: "the model could not be asked", when: func(p *point) bool { return p.st.CheckIn.Failed != "" },
		act: func(p *point) Move { return steps(MissCheckIn(p.Run, p.id, p.st.CheckIn.Failed)) }},
	{what: "unusable replies in a row", when: (*point).struck,
		act: func(p *point) Move {
			return steps(MissCheckIn(p.Run, p.id, strikeReason(format.LineStart(lastNote(p.newest()), maxReason))))
		}},
	{what: "a question about the budget is open", when: func(p *point) bool { return p.budgetOpen() }},
	{what: "the time is used up", when: (*point).late,
		act: func(p *point) Move { return steps(MissCheckIn(p.Run, p.id, "the time of this run is used up")) }},
	{what: "the model's endpoint is limited or away", when: (*point).deferred, until: (*point).retryAt},
	{what: "otherwise", act: func(*point) Move { return steps(AskModel{llm.CheckIn}) }},
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
	{what: "otherwise", act: func(p *point) Move { return steps(AskModel{p.Purpose(p.id)}) }},
}
