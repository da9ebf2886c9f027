package loop

import (
	"context"
	"slices"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// What is kept of a ledger.
const (
	maxEvidence = 20  // events
	maxWords    = 500 // characters of a lesson, and of a nudge
)

// reflection weighs a model's ledger of the strand's work (L13) and does what
// follows from it, in one commit.
func (t *turn) reflection(view agent.Run, c agent.OpenCall, l agent.Ledger) {
	s := t.lease.Strand
	st := view.Strands[s].CheckIn
	l.Lesson, l.Nudge = prompt.Shorten(l.Lesson, maxWords), prompt.Shorten(l.Nudge, maxWords)
	l.Evidence = slices.DeleteFunc(l.Evidence, func(n uint64) bool { return n == 0 || n > view.Seq })
	l.Evidence = l.Evidence[:min(len(l.Evidence), maxEvidence)]
	model, ledgers := t.ModelName, []agent.Ledger{l}
	switch {
	case st.First != nil && st.First.Ledger != nil:
		ledgers = []agent.Ledger{*st.First.Ledger, l}
	case t.FastName != "":
		model = t.FastName
	}
	decision, standing := reflect.Weigh(ledgers, since(view, s),
		reflect.Standing{Progress: st.Progress, Stall: st.Stall, Replans: view.Replans}, reflect.Defaults())
	t.reply(c, "noted")
	made := agent.CheckInMade{Ledger: &l, Model: model, Confirm: decision.Confirm && model != t.ModelName,
		Verdict: decision.Verdict, Reason: decision.Reason, Progress: standing.Progress, Stall: standing.Stall}
	then := view.FinishCheckIn(s, made, advice(decision, l), t.now())
	t.add(then.Wake, then.Events...)
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

// miss ends a check-in that no model can be asked for.
func (t *turn) miss(view agent.Run, why string) {
	d := view.MissCheckIn(t.lease.Strand, why)
	t.add(d.Wake, d.Events...)
}

// checking reports whether the strand's next question is a check-in.
func (t *turn) checking(view agent.Run) bool { return view.Purpose(t.lease.Strand) == llm.CheckIn }

// begin starts ready tasks, unless the plan is found to come no closer to its
// end: then the run says what is next.
func (t *turn) begin(ctx context.Context, view agent.Run, free int) (waits bool, err error) {
	accepted := func(e agent.Event) bool { return e.Body.Kind() == agent.PlanAccepted{}.Kind() }
	if slices.ContainsFunc(t.batch, accepted) && view.Plans >= reflect.FewestPlans {
		if err := t.flush(ctx); err != nil { // findings quote the numbers of events: those must be final
			return false, err
		}
	}
	if t.planning() {
		return false, nil
	}
	return t.schedule(view, free), nil
}

// planning judges the plans so far (L11) and journals what is new.
func (t *turn) planning() (found bool) {
	list := t.folds.planning(t.lease.Run)
	for _, f := range list {
		t.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}, agent.Event{Strand: agent.Main, Body: f})
	}
	return len(list) > 0
}

// planning judges the plan level of a run: what was not reported yet.
func (f *folds) planning(run agent.RunID) []agent.Finding {
	e := f.entry(run)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run.Plans < reflect.FewestPlans {
		return nil
	}
	return reflect.New(e.trace.Plans(reflect.Defaults()), e.run.Findings)
}
