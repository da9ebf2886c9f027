package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// Check is how a program sees that a task is done: no model's opinion counts
// then. One of Command, File, Schema and Query is set.
type Check struct {
	// Command is a shell command in the sandbox, in the workspace: exit code 0.
	Command string `json:"command,omitempty"`
	// File is a workspace file that is there. With Schema: that is JSON of it.
	File string `json:"file,omitempty"`
	// Schema is a JSON Schema of the file, or of the output that is named Output;
	// empty: the task's first one.
	Schema json.RawMessage `json:"schema,omitempty"`
	Output string          `json:"output,omitempty"`
	// Query is asked of the workspace's data.
	Query string `json:"query,omitempty"`
	// Expect is what the command prints, the file holds or the query gives: a text
	// that is in it, "/…/" a regular expression, anything else just that value.
	Expect json.RawMessage `json:"expect,omitempty"`
}

// ToolCheck is the tool that a check is made with.
const ToolCheck = "check_result"

// Says is the check in a few words.
func (c Check) Says() string {
	says := "query `" + c.Query + "`"
	switch {
	case c.Command != "":
		says = "command `" + c.Command + "`"
	case len(c.Schema) > 0 && c.File != "":
		says = "file `" + c.File + "` against its schema"
	case len(c.Schema) > 0:
		says = "output against its schema"
	case c.File != "":
		says = "file `" + c.File + "`"
	}
	if len(c.Expect) > 0 {
		says += ", expecting " + string(c.Expect)
	}
	return says
}

// takeGiven opens the calls of an answer that no model gave.
func takeGiven(r Run, id StrandID, b ModelAnswered) Run {
	if b.Message == nil || r.Strands.Of(id).Ended {
		return r
	}
	r.Strands = r.Strands.change(id, func(s *Strand) {
		s.Calls++
		t := s.Talks.Of(b.Purpose)
		t.take(b, string(id)+"."+strconv.Itoa(s.Calls), r.Seq)
		s.Talks = s.Talks.with(b.Purpose, t)
	})
	return r
}

// checks reports whether a program looks at the result next.
func (p *point) checks() bool { return p.Purpose(p.id) == llm.Check }

// checkPassed is how the tool of checks begins what it says of a check that passed.
const checkPassed = "passed: "

// check has a program look at the result, or takes what it said.
func check(p *point) Move {
	f := p.st.Finishing
	task, _ := p.Plan.Task(f.Task)
	entries := p.newest().Entries
	if entries.Len() == 0 {
		n := p.st.Calls + 1
		call := llm.Call{ID: fmt.Sprintf("check-%d", n), Name: ToolCheck, Arguments: checkArguments(task, f.Outputs)}
		return decide(p.id, nil, ModelAnswered{Call: fmt.Sprintf("%s.%d", p.id, n), Purpose: llm.Check, Given: "check", Cost: new(Nano),
			Message: &llm.Message{Role: llm.Assistant, Calls: []llm.Call{call}}})
	}
	last := entries.At(entries.Len() - 1).Reply
	judged := TaskJudged{Task: f.Task, Checked: task.Check.Says()}
	if last != nil && strings.HasPrefix(last.Text, checkPassed) {
		judged.Accepted = true
		return decide(p.id, nil, judged)
	}
	judged.Reasons = Texts{"it did not pass its check"}
	text, trust := "no result", Trust("")
	if last != nil {
		text, trust = last.Text, Untrusted
	}
	return decide(p.id, nil, judged, CallReplied{Effect: f.Effect, Trust: trust,
		Text: "not accepted: the " + judged.Checked + " did not pass. Mend what it found, then finish the task again:\n" + text})
}

// checkArguments are those of the call that makes a task's check.
func checkArguments(t Task, outputs []Output) string {
	args := struct {
		Check
		Value json.RawMessage `json:"value,omitempty"`
	}{Check: *t.Check}
	if args.Output == "" && len(t.Outputs) > 0 {
		args.Output = t.Outputs[0].Name
	}
	for _, o := range outputs {
		if len(args.Schema) > 0 && t.Check.File == "" && o.Name == args.Output {
			args.Value = o.Value
			if len(o.Value) == 0 {
				args.File = o.File
			}
		}
	}
	args.Output = ""
	line, _ := format.JSON(args) // it was read from JSON
	return string(line)
}

// Checked says how each task's result was looked at, as Markdown; empty where no
// task has a check or a reviewer.
func Checked(r Run) string {
	if !slices.ContainsFunc(r.Plan.Tasks, func(t Task) bool { return t.Check != nil || t.Reviewer != "" }) {
		return ""
	}
	var b strings.Builder
	for _, t := range r.Plan.Tasks {
		if how := r.Tasks[t.ID].Checked; len(how) > 0 {
			fmt.Fprintf(&b, "\n- %s: %s", format.Line(t.Title, maxReview), strings.Join(how, "; "))
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "**What was checked, and how**\n" + b.String()
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
