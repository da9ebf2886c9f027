package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// CheckpointKind says what people are asked for.
type CheckpointKind string

// The kinds of checkpoint.
const (
	CheckClarify   CheckpointKind = "clarify"
	CheckPlan      CheckpointKind = "plan"
	CheckApproval  CheckpointKind = "approval"
	CheckBudget    CheckpointKind = "budget"
	CheckStuck     CheckpointKind = "stuck"
	CheckUncertain CheckpointKind = "uncertain"
)

// The words of decisions. The words that buttons show are these, capitalised.
const (
	DecideApprove = "approve"
	DecideDeny    = "deny"
	DecideEdit    = "edit"
	DecideAlways  = "always"
	DecideCancel  = "cancel"
	DecideAnswer  = "answer"        // clarify: Answers or Text
	DecideForMe   = "decide for me" // clarify: the model decides
	DecideMore25  = "+25 %"         // budget
	DecideMore100 = "+100 %"        // budget
	DecideFinish  = "finish with what you have"
	DecideRetry   = "try again" // stuck
	DecideRepeat  = "repeat"    // uncertain: run it again
	DecideSkip    = "skip"      // uncertain: treat it as not needed; stuck: fail this task, go on with the rest
	DecideDone    = "done"      // uncertain: it happened
	DecideExpired = "expired"   // nobody decided in time
)

// MarshalJSON writes expires as null where the question never expires: scripts
// rely on the field (CONTRACT.md).
func (c CheckpointOpened) MarshalJSON() ([]byte, error) {
	if !c.Expires.IsZero() {
		return format.JSON(question(c))
	}
	return format.JSON(struct {
		question
		Expires *time.Time `json:"expires"`
	}{question: question(c)})
}

// CheckpointID is the id of a question about a call: the same call asks its
// n-th question under the same id, wherever it is worked.
func (r Run) CheckpointID(effect EffectID) CheckpointID {
	return r.checkpointID(string(effect), len(r.Asked), 0)
}

func (r Run) checkpointID(about string, n, m int) CheckpointID {
	return CheckpointID(string(r.ID) + "-" + derive(string(r.ID), about, fmt.Sprint(n, " ", m))[:8])
}

// Run is the run that the checkpoint belongs to: its id begins with it.
func (c CheckpointID) Run() RunID {
	run, _, _ := strings.Cut(string(c), "-")
	return RunID(run)
}

// Expiry is when a question opened at the time runs out, zero: never.
func (r Run) Expiry(opened time.Time) time.Time {
	if r.Brief.Expires <= 0 {
		return time.Time{}
	}
	return opened.Add(r.Brief.Expires)
}

// Fold applies the events in order.
func (r Run) Fold(events []Event) Run {
	for _, e := range events {
		r = r.Apply(e)
	}
	return r
}

// Put reports whether the question was put before people in the run's thread:
// its post was made or is on its way.
func (r Run) Put(c Checkpoint) bool {
	ask := Post{Key: KeyAsk(c.ID)}
	return r.posted(ask) || slices.ContainsFunc(r.Talk(Voice).Open, func(o OpenCall) bool { return o.Effect == ask.Effect() })
}
