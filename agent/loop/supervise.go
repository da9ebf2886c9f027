package loop

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/prompt"
	"github.com/deckhand-bot/deckhand/agent/reflect"
)

// supervisor looks whether the work gets anywhere, and does what follows.
type supervisor struct{ *turn }

// checkLoops looks whether a task's strand goes round in circles before it asks
// the model again. A nudge is a note to the model; a stop is a question to
// people, or the end of the task where nobody can be asked. It reports whether
// the strand was stopped.
func (sv supervisor) checkLoops(ctx context.Context, view *agent.Run) (stopped bool, err error) {
	if _, works := sv.lease.Strand.Task(); !works {
		return false, nil
	}
	if len(sv.stuck(sv.lease.Run, sv.lease.Strand, sv.batch, sv.now())) == 0 {
		return false, nil
	}
	if err := sv.flush(ctx); err != nil { // findings quote the numbers of events: those must be final
		return false, err
	}
	found := sv.stuck(sv.lease.Run, sv.lease.Strand, nil, sv.now())
	for i, f := range found {
		if f.Severity == reflect.Nudge {
			found[i].Note = reflect.Note(f, quoted)
		}
		sv.event(found[i])
		// chanting (L6) stops an answer: it was cut, and the model knows
		stopped = stopped || f.Severity == reflect.Stop && f.Rule != agent.RuleChant
	}
	if stopped {
		sv.stop(view, found)
	}
	return stopped, nil
}

// quoted marks what a finding quotes as data.
func quoted(text string) string { return "\n" + prompt.Frame(text, agent.Untrusted) }

// stop ends the strand's work until a person decides.
func (sv supervisor) stop(view *agent.Run, found []agent.Finding) {
	wake := map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}
	why, tried := reflect.Question(found)
	if view.Alone {
		id, _ := sv.lease.Strand.Task()
		sv.add(wake, agent.Event{Strand: sv.lease.Strand, Body: agent.TaskEnded{
			Task: id, State: agent.TaskFailed, Outputs: []agent.Output{}, Reason: strings.Join(append([]string{"stuck: " + why}, tried...), "; "), Fail: agent.FailOther,
		}})
		return
	}
	sv.openCheckpoint(view, agent.CheckpointOpened{
		Ask: agent.CheckStuck, Title: agent.StuckTitle(view.Plan, sv.lease.Strand, why), Detail: agent.Bullets(tried),
		Choices: []string{agent.DecideRetry, agent.DecideSkip, agent.DecideCancel},
	})
}

// What is kept of a ledger.
const (
	maxEvidence = 20  // events
	maxWords    = 500 // characters of a lesson, and of a nudge
)

// weighLedger weighs a model's ledger of the strand's work (L13) and does what
// follows from it, in one commit.
func (sv supervisor) weighLedger(view *agent.Run, c agent.OpenCall, l agent.Ledger) {
	s := sv.lease.Strand
	st := view.Strands.Of(s).CheckIn
	l.Lesson, l.Nudge = prompt.Shorten(l.Lesson, maxWords), prompt.Shorten(l.Nudge, maxWords)
	l.Evidence = slices.DeleteFunc(l.Evidence, func(n uint64) bool { return n == 0 || n > view.Seq })
	l.Evidence = l.Evidence[:min(len(l.Evidence), maxEvidence)]
	model, ledgers := sv.ModelName, []agent.Ledger{l}
	if first := st.First; first != nil && first.Ledger != nil && l.Nudge == "" {
		l.Nudge = first.Ledger.Nudge // the second model may add nothing to it
		ledgers[0] = l
	}
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
	then := agent.FinishCheckIn(*view, s, made, advice(decision, l), sv.now())
	sv.add(then.Wake, then.Events...)
}

// since are the findings about the strand that a check-in has not weighed yet.
// A stop had its effect when it was found.
func since(view *agent.Run, s agent.StrandID) []agent.Finding {
	var list []agent.Finding
	for _, f := range view.Findings[min(view.Strands.Of(s).CheckIn.Found, len(view.Findings)):] {
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
func (sv supervisor) missCheckIn(view *agent.Run, why string) {
	d := agent.MissCheckIn(*view, sv.lease.Strand, why)
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
