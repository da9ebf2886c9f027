package loop

import (
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// What is kept of a ledger.
const (
	maxEvidence = 20  // events
	maxWords    = 500 // characters of a lesson, and of a nudge
)

// weighLedger weighs a model's ledger of the strand's work (L13) and does what
// follows from it, in one commit.
func (sv supervisor) weighLedger(view agent.Run, c agent.OpenCall, l agent.Ledger) {
	s := sv.lease.Strand
	st := view.Strands[s].CheckIn
	l.Lesson, l.Nudge = prompt.Shorten(l.Lesson, maxWords), prompt.Shorten(l.Nudge, maxWords)
	l.Evidence = slices.DeleteFunc(l.Evidence, func(n uint64) bool { return n == 0 || n > view.Seq })
	l.Evidence = l.Evidence[:min(len(l.Evidence), maxEvidence)]
	model, ledgers := sv.ModelName, []agent.Ledger{l}
	switch {
	case st.First != nil && st.First.Ledger != nil:
		ledgers = []agent.Ledger{*st.First.Ledger, l}
	case sv.FastName != "":
		model = sv.FastName
	}
	decision, standing := reflect.Weigh(ledgers, since(view, s),
		reflect.Standing{Progress: st.Progress, Stall: st.Stall, Replans: view.Replans}, reflect.Defaults())
	sv.reply(c, "noted")
	made := agent.CheckInMade{Ledger: &l, Model: model, Confirm: decision.Confirm && model != sv.ModelName,
		Verdict: decision.Verdict, Reason: decision.Reason, Progress: standing.Progress, Stall: standing.Stall}
	then := agent.FinishCheckIn(view, s, made, advice(decision, l), sv.now())
	sv.add(then.Wake, then.Events...)
}

// since are the findings about the strand that a check-in has not weighed yet.
// A stop had its effect when it was found.
func since(view agent.Run, s agent.StrandID) []agent.Finding {
	var list []agent.Finding
	for _, f := range view.Findings[min(view.Strands[s].CheckIn.Found, len(view.Findings)):] {
		if f.Strand == s && f.Severity == reflect.Nudge && f.Rule != agent.RuleCheckIn {
			list = append(list, f)
		}
	}
	return list
}

// advice is what the model at work is told of a check-in, empty: nothing.
// Another model wrote it after reading what may come from anywhere: it is data.
func advice(d reflect.Decision, l agent.Ledger) string {
	if d.Verdict != reflect.Remind {
		return ""
	}
	words := l.Nudge
	if words == "" {
		words = d.Reason
	}
	return "A check-in looked at your work. What it says:" + quoted(words) +
		"\nLook at what you did and choose another way; if there is none, say so with fail_task."
}

// missCheckIn ends a check-in that no model can be asked for.
func (sv supervisor) missCheckIn(view agent.Run, why string) {
	d := agent.MissCheckIn(view, sv.lease.Strand, why)
	sv.add(d.Wake, d.Events...)
}

// judgePlans judges the plans so far (L11) and journals what is new.
func (sv supervisor) judgePlans() (found bool) {
	list := sv.planFindings(sv.lease.Run)
	for _, f := range list {
		sv.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}, agent.Event{Strand: agent.Main, Body: f})
	}
	return len(list) > 0
}
