package agent

import (
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Step is something to do for a strand. The set is closed; the loop's runner
// knows every member.
//
//sumtype:decl
type Step interface{ step() }

// AskModel puts one question to the model, for the purpose.
type AskModel struct{ Purpose llm.Purpose }

// Dispatch decides about the strand's open calls that have no intent yet: the
// loop checks arguments, asks the policy and journals intents, replies or
// questions. Without anything to journal, the strand waits.
type Dispatch struct{}

// Invoke runs the effects whose intents are journalled.
type Invoke struct{ Effects []EffectID }

// Schedule starts ready tasks, as many as there are free slots.
type Schedule struct{ Free int }

// Decide journals what follows from the fold alone.
type Decide struct {
	Events []Event
	Wake   map[StrandID]time.Time
}

// Ends reports whether the run ends with it.
func (d Decide) Ends() bool {
	return slices.ContainsFunc(d.Events, func(e Event) bool { _, ends := e.Body.(RunEnded); return ends })
}

func (AskModel) step() {}
func (Dispatch) step() {}
func (Invoke) step()   {}
func (Schedule) step() {}
func (Decide) step()   {}

// Move is what a strand does next: Steps now, or nothing before Wake. No steps
// and a zero Wake: it is parked until somebody wakes it.
type Move struct {
	Steps []Step
	Wake  time.Time
}

func steps(s ...Step) Move { return Move{Steps: s} }

// decide is a move that journals the bodies on the strand and wakes others.
func decide(s StrandID, wake map[StrandID]time.Time, bodies ...Body) Move {
	events := make([]Event, len(bodies))
	for i, b := range bodies {
		events[i] = Event{Strand: s, Body: b}
	}
	return steps(Decide{Events: events, Wake: wake})
}

func wakeMain() map[StrandID]time.Time { return map[StrandID]time.Time{Main: AtOnce} }

// Lost is what a new holder of the strand's lease journals first: a model call
// that was under way when the last holder vanished counts as spent.
func (r Run) Lost(s StrandID) []Event {
	a := r.Strands[s].Call
	if a == nil {
		return nil
	}
	return []Event{{Strand: s, Body: ModelAnswered{
		Call: a.Call, Purpose: a.Purpose, Model: a.Model, PromptHash: a.PromptHash,
		Cost: a.Reserve, Prompt: a.ReserveTokens, Lost: true,
	}}}
}

// Next is what the strand does next. It is pure and has no clock: that time
// has passed is an event.
func (r Run) Next(s StrandID) Move {
	st, known := r.Strands[s]
	switch {
	case s == Voice:
		return r.nextVoice()
	case r.Ended != nil || st.Ended || !known:
		return Move{}
	case st.Call != nil: // somebody is asking
		return steps(AskModel{st.Call.Purpose})
	case r.Cancelled != nil:
		return r.stop(s)
	case r.Paused != "" || r.Refused != "":
		return Move{}
	case r.Finish:
		return r.stop(s)
	}
	if c := r.waitsFor(s); c != nil {
		return r.wait(s, st, *c)
	}
	if m, busy := r.calls(s, st); busy {
		return m
	}
	if id, ok := s.Task(); ok {
		return r.nextTask(s, id, st)
	}
	return r.nextMain(st)
}

// stopping reports whether the strands should come to an end.
func (r Run) stopping() bool { return r.Cancelled != nil || r.Finish }

// stop winds a strand up: a task ends as skipped, the main strand ends the run
// once all tasks have ended.
func (r Run) stop(s StrandID) Move {
	id, ok := s.Task()
	if !ok {
		return r.nextMain(r.Strands[s])
	}
	if c := r.gaveUp(); c != nil && c.Strand == s && r.Cancelled == nil {
		return decide(s, wakeMain(), TaskEnded{Task: id, State: TaskFailed, Outputs: []Output{}, Reason: r.gaveUpTask(*c), Fail: FailOther})
	}
	reason := "the run ends with what there is"
	if r.Cancelled != nil {
		reason = "the run was cancelled by " + r.Cancelled.By
	}
	open := r.Strands[s].Talks.Of(llm.Work).Open
	if i := slices.IndexFunc(open, func(c OpenCall) bool { return c.Intent != nil && c.Intent.Repeat != RepeatRead }); i >= 0 {
		reason += "; its call of " + open[i].Intent.Tool + " was under way and may have happened"
	}
	return decide(s, wakeMain(), TaskEnded{Task: id, State: TaskSkipped, Outputs: []Output{}, Reason: reason, Fail: FailOther})
}

// wait keeps the strand off the clock until its question is decided or expires.
func (r Run) wait(s StrandID, st Strand, c Checkpoint) Move {
	if c.Ask == CheckStuck && r.Alone {
		word := DecideFinish
		if _, works := s.Task(); works {
			word = DecideSkip // this task fails with the finding as its reason, the others go on
		}
		return decide(s, r.Wakeful(), CheckpointDecided{ID: c.ID, Decision: word, By: Deckhand, Text: "nobody can be asked"})
	}
	if !c.Expires.IsZero() && !st.Ticked.Before(c.Expires) {
		return decide(s, r.Wakeful(), CheckpointDecided{ID: c.ID, Decision: DecideExpired, By: DecideExpired})
	}
	return Move{Wake: c.Expires}
}

// calls works off the calls of the newest answer; busy is false when there are none.
func (r Run) calls(s StrandID, st Strand) (m Move, busy bool) {
	t := r.Talk(s)
	if len(t.Open) == 0 {
		return Move{}, false
	}
	var due []EffectID
	var wake time.Time
	undecided := false
	for _, c := range t.Open {
		check := r.Checks[c.Checkpoint]
		switch {
		case check.Ask == CheckUncertain && !check.Open() && c.Intent != nil:
			return decide(s, nil, settle(c, *check.Decision)), true
		case c.Intent == nil:
			undecided = true
		case st.Ticked.Before(c.Until):
			if wake.IsZero() || c.Until.Before(wake) {
				wake = c.Until
			}
		default:
			due = append(due, c.Effect)
		}
	}
	switch {
	case len(due) > 0:
		return steps(Invoke{due}), true
	case !wake.IsZero():
		return Move{Wake: wake}, true
	case undecided:
		return steps(Dispatch{}), true
	}
	return Move{}, true
}

// settle is the outcome that a person gave to an effect nobody could ask about.
func settle(c OpenCall, d CheckpointDecided) ToolOutcome {
	o := ToolOutcome{Effect: c.Effect, Trust: Trusted, State: OutcomeUnknown,
		Text: "error: Deckhand was interrupted during this call, and nobody said whether it happened; do not assume either"}
	switch d.Decision {
	case DecideDone:
		o.State, o.Text = OutcomeOK, "done ("+d.By+" says that it happened)"
	case DecideSkip:
		o.State, o.Text = OutcomeSkipped, "skipped: "+d.By+" decided that it is not to be done"
	}
	return o
}

// The bounds of a task's conversation. Three unusable replies in a row end a
// step (MODEL.md), and so does the third rejection by the judge.
const (
	maxStrikes    = 3
	maxRejections = 3
)

func (r Run) nextTask(s StrandID, id TaskID, st Strand) Move {
	end := func(kind FailKind, reason string) Move {
		return decide(s, wakeMain(), TaskEnded{Task: id, State: TaskFailed, Outputs: []Output{}, Reason: reason, Fail: kind})
	}
	task := r.Tasks[id]
	if r.checksIn(s, st) {
		return r.nextCheckIn(s, st)
	}
	switch f := st.Finishing; {
	case st.Error != "":
		return end(FailOther, st.Error)
	case f != nil && st.Judged != nil && st.Judged.Accepted:
		return decide(s, wakeMain(), TaskEnded{Task: id, State: TaskDone, Summary: f.Summary,
			Outputs: append([]Output{}, f.Outputs...), Confidence: f.Confidence}) // a list, also an empty one
	case r.Talk(s).Strikes >= maxStrikes:
		return end(FailOther, "the model gave three unusable replies in a row; the last: "+lastNote(r.Talk(s)))
	case task.Rejections >= maxRejections:
		return end(FailOther, "the result was rejected three times; the last: "+lastNote(r.Talk(s)))
	}
	return r.ask(s)
}

// ask is the next model call, or the question about the budget that stands in its way.
func (r Run) ask(s StrandID) Move {
	if r.budgetOpen() {
		return Move{}
	}
	if limit := r.Limits().Time; limit > 0 && r.Spent.Time >= limit {
		return decide(s, wakeMain(), r.BudgetQuestion(BudgetTime, r.Last))
	}
	return steps(AskModel{r.Purpose(s)})
}

// lastNote is the newest thing the model was told, for a reason.
func lastNote(t Talk) string {
	for i := t.Entries.Len() - 1; i >= 0; i-- {
		switch e := t.Entries.At(i); {
		case e.Reply != nil:
			return e.Reply.Text
		case e.Note != nil:
			return e.Note.Text
		}
	}
	return "no reply"
}
