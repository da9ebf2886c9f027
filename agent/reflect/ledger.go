package reflect

import (
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// Verdict is what is to be done about a strand, from nothing to an end.
type Verdict = agent.CheckInVerdict

// The verdicts, in the order of the ladder. An escalation pauses the strand
// until a person decides.
const (
	Continue = agent.CheckInContinue
	Remind   = agent.CheckInNudge
	Replan   = agent.CheckInReplan
	Escalate = agent.CheckInEscalate
	End      = agent.CheckInStop
)

var ladder = []Verdict{Continue, Remind, Replan, Escalate, End}

// worse is the verdict that stands higher on the ladder. A word that is no
// verdict is a nudge: something seems to be wrong.
func worse(a, b Verdict) Verdict {
	rank := func(v Verdict) int {
		if i := slices.Index(ladder, v); i >= 0 {
			return i
		}
		return 1
	}
	return ladder[max(rank(a), rank(b))]
}

// Ledger is a model's view of its own work at a check-in (submit_reflection).
type Ledger = agent.Ledger

// Standing is what check-ins leave behind for the next one.
type Standing struct {
	Progress float64
	Stall    int // check-ins without progress, one less for each with some
	Replans  int // that check-ins asked for
}

// Decision is what follows from a check-in.
type Decision struct {
	Verdict Verdict
	Reason  string
	// Confirm asks the second model: one model may pause a strand but not end it.
	Confirm bool
}

// Weigh decides a check-in (L13) from the ledgers of one model or of two, what
// the detectors found since the last check-in, and the standing. It returns the
// standing for the next check-in.
func Weigh(ledgers []Ledger, found []agent.Finding, s Standing, th Thresholds) (Decision, Standing) {
	if len(ledgers) == 0 {
		return Decision{Verdict: Continue, Reason: "no model gave a ledger"}, s
	}
	newest := ledgers[len(ledgers)-1]
	if newest.Looping || newest.Progress <= s.Progress {
		s.Stall++
	} else {
		s.Stall = max(0, s.Stall-1)
	}
	s.Progress = max(s.Progress, newest.Progress)
	d := Decision{Verdict: Continue, Reason: "it goes on well"}
	raise := func(v Verdict, reason string) {
		if w := worse(d.Verdict, v); w != d.Verdict {
			d.Verdict, d.Reason = w, reason
		}
	}
	for _, f := range found {
		if f.Severity == Nudge {
			raise(Remind, f.Message)
		}
	}
	for _, l := range ledgers {
		raise(opinion(l, th))
	}
	if s.Stall >= th.Stall {
		raise(Replan, "no progress in several check-ins")
	}
	if stops := slices.IndexFunc(found, func(f agent.Finding) bool { return f.Severity == Stop }); stops >= 0 {
		d = Decision{Verdict: End, Reason: found[stops].Message}
	} else {
		d = agree(d, ledgers)
	}
	if d.Verdict == Replan {
		if s.Replans >= th.Replans {
			d.Verdict, d.Reason = Escalate, d.Reason+"; new plans did not help"
		} else {
			s.Replans, s.Stall = s.Replans+1, 0
		}
	}
	return d, s
}

// opinion is what one ledger asks for.
func opinion(l Ledger, th Thresholds) (Verdict, string) {
	switch {
	case l.Relevance < th.Relevance:
		return worse(l.Verdict, Escalate), "the work has little to do with the goal"
	case l.Looping && worse(l.Verdict, Remind) == Remind:
		return Remind, "the work goes round in circles"
	case !l.PlanStillBest && worse(l.Verdict, Replan) == Replan:
		return Replan, "the plan is not the best any more"
	}
	switch v := worse(l.Verdict, Continue); v {
	case Remind:
		return v, "the work should be done in another way"
	case Replan:
		return v, "the work needs another plan"
	case Escalate:
		return v, "a person should decide how this goes on"
	case End:
		return v, "the work should stop"
	default:
		return Continue, "it goes on well"
	}
}

// agree lets a stop stand only where two models want it; one may pause.
func agree(d Decision, ledgers []Ledger) Decision {
	if d.Verdict != End {
		return d
	}
	stops := 0
	for _, l := range ledgers {
		if l.Verdict == End {
			stops++
		}
	}
	if stops >= 2 {
		d.Reason = "two models agree that the work should stop"
		return d
	}
	return Decision{Verdict: Escalate, Reason: "a model says that the work should stop", Confirm: len(ledgers) < 2}
}
