package agent

import (
	"fmt"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// CheckInVerdict is what is to be done about a strand that was looked at.
type CheckInVerdict string

// The verdicts, in the order of the ladder: go on, tell the model, plan anew,
// ask a person, end the work (which asks a person as well).
const (
	CheckInContinue CheckInVerdict = "continue"
	CheckInNudge    CheckInVerdict = "nudge"
	CheckInReplan   CheckInVerdict = "replan"
	CheckInEscalate CheckInVerdict = "escalate"
	CheckInStop     CheckInVerdict = "stop"
)

// Ledger is a model's view of a strand's work at a check-in (submit_reflection).
// Progress and Relevance are 0 to 1; Evidence are the numbers of events.
type Ledger struct {
	Progress      float64        `json:"progress"`
	Looping       bool           `json:"looping"`
	Relevance     float64        `json:"relevance"`
	PlanStillBest bool           `json:"plan_still_best"`
	Verdict       CheckInVerdict `json:"verdict"`
	Evidence      []uint64       `json:"evidence,omitempty"`
	Lesson        string         `json:"lesson,omitempty"`
	Nudge         string         `json:"nudge,omitempty"`
}

// CheckInDue says that a strand is to look at itself before it goes on. It is
// a fact: the clock's, with the Tick that it is of.
type CheckInDue struct {
	Reason string    `json:"reason,omitempty"`
	Tick   time.Time `json:"tick,omitzero"`
}

// CheckInMade is what a check-in came to: the ledger, or why there is none
// (Missed), and what follows from it.
type CheckInMade struct {
	Ledger *Ledger `json:"ledger,omitempty"`
	Model  string  `json:"model,omitempty"` // that gave the ledger
	// Confirm asks a second model before anything follows.
	Confirm bool           `json:"confirm,omitempty"`
	Missed  string         `json:"missed,omitempty"`
	Verdict CheckInVerdict `json:"verdict"`
	Reason  string         `json:"reason,omitempty"`
	// Progress is the most that a ledger saw so far, Stall how many check-ins
	// went by without any, less those with some.
	Progress float64 `json:"progress"`
	Stall    int     `json:"stall"`
}

// CheckIn is where a task's strand stands with its check-ins.
type CheckIn struct {
	// Due is why one is called, empty: only the number of calls does. It is made
	// once there are After calls, so that an exact rule that is about to be
	// complete decides first, which costs no call of a model.
	Due   string `json:"due,omitempty"`
	After int    `json:"after,omitempty"`
	Calls int    `json:"calls,omitempty"` // model calls of work since the last one
	// First is what the first model said while the second is asked, Failed why
	// a model could not be asked.
	First  *CheckInMade `json:"first,omitempty"`
	Failed string       `json:"failed,omitempty"`

	Last     time.Time `json:"last,omitzero"`
	Found    int       `json:"found,omitempty"` // Run.Findings that are older than the last one
	Progress float64   `json:"progress,omitempty"`
	Stall    int       `json:"stall,omitempty"`
	Learnt   []string  `json:"learnt,omitempty"` // lessons of earlier trials of the task
	Ledger   *Ledger   `json:"ledger,omitempty"` // of the last one, nil where none was had
}

// Rethink says that the plan is to be made anew before another task starts.
type Rethink struct {
	Reason string `json:"reason"`
	// Person is set where a person is asked first.
	Person bool `json:"person,omitempty"`
	// Advice is what models and rules said should be done instead.
	Advice []string `json:"advice,omitempty"`
}

// again is the wish for a new plan after one more reason for it. Advice adds up.
func (t *Rethink) again(reason string, person bool, advice []string) *Rethink {
	if t != nil {
		advice = slices.Concat(t.Advice, advice)
	}
	return &Rethink{Reason: reason, Person: person, Advice: advice}
}

const (
	// findingGrace is how many calls an exact rule has to decide first.
	findingGrace = 2
	maxReason    = 300 // characters
)

// checksIn reports whether a task's strand looks at itself now: between two
// calls of its work, never while one of them is open or its result is judged.
// Most is the number of calls after which it does, 0: never for their number.
func (s *Strand) checksIn(most int) bool {
	if s.Call != nil {
		return s.Call.Purpose == llm.CheckIn
	}
	c := s.CheckIn
	called := c.Due != "" && c.Calls >= c.After || most > 0 && c.Calls >= most
	if s.Finishing != nil || s.Error != "" || c.First == nil && (!called || c.Calls == 0) {
		return false
	}
	work := s.Talks.Of(llm.Work)
	return len(work.Open) == 0 && work.Strikes < maxStrikes
}

// MissCheckIn ends a check-in for which there is no (second) ledger. What the
// first model said stands.
func MissCheckIn(r Run, s StrandID, why string) Decide {
	c := r.Strands.Of(s).CheckIn
	b := CheckInMade{Missed: why, Verdict: CheckInContinue, Progress: c.Progress, Stall: c.Stall}
	if f := c.First; f != nil {
		b.Ledger, b.Model, b.Verdict, b.Reason, b.Progress, b.Stall = f.Ledger, f.Model, f.Verdict, f.Reason, f.Progress, f.Stall
	}
	return FinishCheckIn(r, s, b, "", r.Last)
}

// FinishCheckIn is what follows from a check-in: the finding, whose note (empty:
// none) the model is told, the check-in itself, and the end or the stop of the
// task's work. Where nobody can be asked, the task fails.
func FinishCheckIn(r Run, s StrandID, b CheckInMade, note string, at time.Time) Decide {
	var d Decide
	add := func(body Body) { d.Events = append(d.Events, Event{Strand: s, Body: body}) }
	if f, found := noticed(s, b, note); found {
		add(f)
	}
	add(b)
	if b.Confirm {
		return d
	}
	id, _ := s.Task()
	fail := TaskEnded{Task: id, State: TaskFailed, Outputs: []Output{}, Reason: "stuck: " + b.Reason, Fail: FailOther}
	switch b.Verdict {
	case CheckInReplan:
		d.Wake = wakeMain()
		fail.Reason = "a new plan is made: " + b.Reason
		add(fail)
	case CheckInEscalate, CheckInStop:
		d.Wake = wakeMain()
		if r.Alone {
			add(fail)
			break
		}
		add(CheckpointOpened{ID: r.CheckpointID(EffectID(s)), Ask: CheckStuck, Title: StuckTitle(r.Plan, s, b.Reason), Detail: account(b),
			Choices: []string{DecideRetry, DecideSkip, DecideCancel}, Expires: r.Brief.Expiry(at)})
	case CheckInContinue, CheckInNudge:
	}
	return d
}

// noticed is the finding (L13) of a check-in that is not content.
func noticed(s StrandID, b CheckInMade, note string) (f Finding, found bool) {
	severity := map[CheckInVerdict]string{
		CheckInNudge: FindingNudge, CheckInReplan: FindingNudge, CheckInEscalate: FindingStop, CheckInStop: FindingStop,
	}[b.Verdict]
	if severity == "" || b.Confirm {
		return Finding{}, false
	}
	f = Finding{Rule: RuleCheckIn, Severity: severity, Strand: s, Events: []uint64{}, Message: b.Reason, Note: note}
	if b.Ledger != nil {
		f.Events = append(f.Events, b.Ledger.Evidence...)
	}
	return f, true
}

// account is what a person who is asked sees of the check-in.
func account(b CheckInMade) string {
	l := b.Ledger
	if l == nil {
		return ""
	}
	lines := []string{"a check-in sees the task " + l.View()}
	for _, words := range []string{l.Nudge, l.Lesson} {
		if words != "" {
			lines = append(lines, "it says: “"+format.LineStart(words, maxReason)+"”")
		}
	}
	return Bullets(lines)
}

// View is the ledger in words that follow "it sees the task".
func (l Ledger) View() string {
	seen := fmt.Sprintf("at %.0f %%, and %.0f %% of the work as to the point", 100*l.Progress, 100*l.Relevance)
	if l.Looping {
		seen += "; it goes round in circles"
	}
	if !l.PlanStillBest {
		seen += "; the plan is not the best any more"
	}
	return seen
}

// afresh starts the streaks of the strand's check-ins again, after so many
// findings: a person spoke.
func (s *Strand) afresh(findings int) { s.CheckIn.Stall, s.CheckIn.Found = 0, findings }

// dueCheckIn calls a check-in of a task's strand.
func (s Strands) dueCheckIn(id StrandID, reason string, grace int) Strands {
	if _, works := id.Task(); !works || s.Of(id).Ended {
		return s
	}
	if reason == "" {
		reason = "it was called"
	}
	return s.change(id, func(s *Strand) {
		c := &s.CheckIn
		if c.Due == "" || c.Calls+grace < c.After {
			c.Due, c.After = reason, c.Calls+grace
		}
	})
}

// Unchecked lists the strands that a tick of the clock calls to a check-in:
// tasks at work that wait for nobody, did something since their last one, and
// have none before them.
func (r Run) Unchecked() []StrandID {
	var list []StrandID
	if r.Ended != nil || r.stopping() || r.Paused != "" || r.Refused != "" {
		return nil
	}
	for id, s := range r.Strands.All() {
		if _, works := id.Task(); works && !s.Ended && s.CheckIn.Calls > 0 && s.CheckIn.Due == "" && r.waitsFor(id) == nil {
			list = append(list, id)
		}
	}
	slices.Sort(list)
	return list
}
