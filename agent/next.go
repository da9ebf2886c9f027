package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
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

// Speak journals the intent of a post and makes it.
type Speak struct{ Post Post }

// Show brings the card up to date. It is the last step of a move: nothing is
// journalled, and the strand sleeps until the voice wants to look again.
type Show struct{}

func (AskModel) step() {}
func (Dispatch) step() {}
func (Invoke) step()   {}
func (Schedule) step() {}
func (Decide) step()   {}
func (Speak) step()    {}
func (Show) step()     {}

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

// Next is what the strand does next. It is pure and has no clock: that time
// has passed is an event. The rules are in rules.go.
func (r Run) Next(s StrandID) (m Move) {
	stand(r, s, func(p *point) {
		switch row := p.deciding(); {
		case row == nil:
		case row.act != nil:
			m = row.act(p)
		case row.until != nil:
			m.Wake = row.until(p)
		}
	})
	return m
}

// State is the run's state as people see it.
func (r Run) State() RunState {
	switch {
	case r.Ended != nil:
		return r.Ended.State
	case r.Paused != "" || r.Refused != "":
		return RunPaused
	case r.OpenCheckpoint() != nil && !busy(r):
		return RunWaiting
	}
	return RunRunning
}

// busy reports whether some strand has work that waits for nobody: whether the
// rule that its next move follows from acts.
func busy(r Run) bool {
	r.Hearing = Hearing{} // which holds strands up for a moment only
	for id := range r.Strands.All() {
		if id == Voice || id == Hear {
			continue
		}
		acts := false
		stand(r, id, func(p *point) {
			row := p.deciding()
			acts = row != nil && row.act != nil
		})
		if acts {
			return true
		}
	}
	return false
}

// AllWait reports whether no strand of the run has work to do now.
func AllWait(r Run) bool { return !busy(r) }

// deciding is the rule that decides, nil: the strand rests.
func (p *point) deciding() *rule {
	switch _, works := p.id.Task(); {
	case p.id == Voice:
		return p.first(voiceRules)
	case p.id == Hear:
		return p.first(hearRules)
	case works:
		return p.first(taskRules)
	}
	return p.first(mainRules)
}

// first is the first of the rules that holds; one with rules of its own is
// decided by these.
func (p *point) first(rules []rule) *rule {
	for i := range rules {
		row := &rules[i]
		if row.when != nil && !row.when(p) {
			continue
		}
		if row.rules == nil {
			return row
		}
		if deciding := p.first(row.rules); deciding != nil {
			return deciding
		}
	}
	return nil
}

// lastAnswer is the model's newest answer, nil if it gave none.
func lastAnswer(t *Talk) *llm.Message {
	for i := t.Entries.Len() - 1; i >= 0; i-- {
		if a := t.Entries.At(i).Answer; a != nil {
			return a
		}
	}
	return nil
}

// lastNote is the newest thing the model was told, for a reason.
func lastNote(t *Talk) string {
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

// BudgetQuestion is the checkpoint that is opened when a budget is used up: usd,
// tokens, time or steps of the run, or the name of a wider counter.
func BudgetQuestion(r Run, budget string, at time.Time) CheckpointOpened {
	done, total := r.Progress()
	choices := []string{DecideFinish, DecideCancel}
	if slices.Contains([]string{BudgetUSD, BudgetTokens, BudgetTime, BudgetSteps}, budget) {
		choices = append([]string{DecideMore25, DecideMore100}, choices...)
	}
	cost := "unknown cost"
	if usd := r.Spent.Dollars(); usd != nil {
		cost = "$" + usd.String()
	}
	return CheckpointOpened{
		ID:  checkpointID(r.ID, "budget/"+budget, r.Raised[budget], 0),
		Ask: CheckBudget, Budget: budget, Choices: choices, Expires: r.Brief.Expiry(at),
		Title: "The budget (" + budget + ") is used up",
		Detail: fmt.Sprintf("Done: %d of %d tasks. Spent: %s, %d tokens, %d model calls, %s of work. The next model call does not fit any more.",
			done, total, cost, r.Spent.Tokens(), r.Spent.Calls, r.Spent.Time.Round(time.Second)),
	}
}

// wayOutQuestion asks a person about failures that no plan of the model can mend.
func wayOutQuestion(r Run) CheckpointOpened {
	title, tried := StuckTitle(r.Plan, Main, fmt.Sprintf("%d new plans did not help", r.Replans)), []string{}
	if r.rethinks() {
		title = StuckTitle(r.Plan, Main, format.LineStart(r.Rethink.Reason, maxReason))
		tried = append(tried, fmt.Sprintf("new plans so far: %d", r.Replans))
	}
	for _, id := range r.failed() {
		t, _ := r.Plan.Task(id)
		if r.Tasks[id].Fail == FailBlocked {
			title = "Blocked: “" + format.Line(t.Title, maxStuckTitle) + "” needs something that I do not have"
		}
		tried = append(tried, "“"+format.Line(t.Title, maxStuckTitle)+"” failed: "+r.Tasks[id].Reason)
	}
	return CheckpointOpened{
		ID:  checkpointID(r.ID, "stuck", r.Replans, r.Retries),
		Ask: CheckStuck, Title: title, Detail: Bullets(tried), Expires: r.Brief.Expiry(r.Last),
		Choices: []string{DecideRetry, DecideFinish, DecideCancel},
	}
}
