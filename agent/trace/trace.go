package trace

// Events as steps.

import (
	"encoding/json"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Phase is a part of the loop that every run goes round in (Boyd's OODA loop).
type Phase string

// The phases.
const (
	Observe Phase = "observe" // something comes in: a goal, words, a result
	Orient  Phase = "orient"  // it is made sense of: a judgement, a check-in, a finding
	Decide  Phase = "decide"  // what to do: a plan, a call, a question, a permission
	Act     Phase = "act"     // it is done
)

// Step is one event that a person follows, or a call with what came of it.
type Step struct {
	Seq    uint64         `json:"seq"`
	At     time.Time      `json:"at"`
	Strand agent.StrandID `json:"strand"`
	Phase  Phase          `json:"phase"`
	Kind   agent.Kind     `json:"kind"`
	Text   string         `json:"text,omitempty"`

	// Of a call: why it was made, in the model's words; what was called with what;
	// by which rule it was let through; and the result, with the number of the
	// event that brought it.
	Reason      string          `json:"reason,omitempty"`
	Request     string          `json:"request,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	Rule        string          `json:"rule,omitempty"`
	Observation string          `json:"observation,omitempty"`
	State       string          `json:"state,omitempty"`
	Observed    uint64          `json:"observed,omitempty"`
	Took        time.Duration   `json:"took,omitempty"` // nanoseconds
}

// Steps tells the events as steps. Those that only keep the books (money that
// was reserved, timers, posts to people) are none.
func Steps(events []agent.Event) []Step {
	t := teller{reasons: map[agent.StrandID]string{}, calls: map[agent.EffectID]int{}}
	for _, e := range events {
		t.tell(e)
	}
	return t.steps
}

// teller goes through a journal.
type teller struct {
	steps   []Step
	reasons map[agent.StrandID]string // what the model said last, by strand
	calls   map[agent.EffectID]int    // the step of a call whose result is not there yet
}

func (t *teller) tell(e agent.Event) {
	step := Step{Seq: e.Seq, At: e.At, Strand: e.Strand, Kind: e.Body.Kind()}
	switch b := e.Body.(type) {
	case agent.ToolIntent:
		if e.Strand == agent.Voice {
			return // a post
		}
		step.Phase, step.Reason, step.Request, step.Input, step.Rule = Act, t.reasons[e.Strand], b.Tool, b.Arguments, b.Rule
		t.calls[b.Effect] = len(t.steps)
	case agent.ToolOutcome:
		if i, known := t.calls[b.Effect]; known {
			call := &t.steps[i]
			call.Observation, call.State, call.Observed, call.Took = b.Text, string(b.State), e.Seq, b.Took
			delete(t.calls, b.Effect)
			return
		}
		if e.Strand == agent.Voice {
			return
		}
		step.Phase, step.Observation, step.State = Observe, b.Text, string(b.State)
	case agent.ModelAnswered:
		if b.Message != nil {
			t.reasons[e.Strand] = b.Message.Content
		}
		step.Phase, step.Text = Decide, answered(b)
	default:
		step.Phase, step.Text = word(e.Body)
	}
	if step.Phase != "" {
		t.steps = append(t.steps, step)
	}
}

// Between are the steps that events of the range belong to; zero bounds are none.
func Between(steps []Step, from, to uint64) []Step {
	var some []Step
	for _, s := range steps {
		if last := max(s.Seq, s.Observed); last >= from && (to == 0 || s.Seq <= to) {
			some = append(some, s)
		}
	}
	return some
}
