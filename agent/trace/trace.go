package trace

// Events as steps.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/thought"
	"github.com/deckhand-bot/deckhand/agent/use"
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

	// The decisions behind a call (API-Bank): whether one was needed, which, and
	// whether it refines an earlier one.
	Decision *Decision `json:"decision,omitempty"`
}

// Decision is what was decided with a call, or instead of one.
type Decision struct {
	// Needed says whether what came back was of use later: "yes", "no", "failed",
	// or "open" where nobody can tell yet; "none" of an answer without a call.
	Needed string `json:"needed"`
	// UsedBy is the event that first used the result, 0: none did.
	UsedBy uint64 `json:"used_by,omitempty"`
	// Which says what the tool was chosen from: a request in words, or a number of
	// tools; Score is how well it fitted, 0: it was not measured.
	Which string  `json:"which,omitempty"`
	Score float64 `json:"score,omitempty"`
	// Refines is the event of the earlier call of the same tool that failed or was
	// of no use, and that this one makes anew with other arguments; 0: none.
	Refines uint64 `json:"refines,omitempty"`
}

// Steps tells the events as steps. Those that only keep the books (money that
// was reserved, timers, posts to people) are none.
func Steps(events []agent.Event) []Step {
	t := teller{reasons: map[agent.StrandID]string{}, thoughts: map[agent.EffectID]string{}, calls: map[agent.EffectID]int{},
		chosen: map[agent.StrandID]map[string]choice{}, uses: map[agent.EffectID]use.Use{}, before: map[string]use.Use{}}
	for _, u := range use.Of(events) {
		t.uses[u.Effect] = u
	}
	for _, e := range events {
		t.tell(e)
	}
	return t.steps
}

// choice is what a tool was chosen from.
type choice struct {
	from  string
	score float64
}

// teller goes through a journal.
type teller struct {
	steps   []Step
	reasons map[agent.StrandID]string // what the model said last, by strand
	calls   map[agent.EffectID]int    // the step of a call whose result is not there yet

	thoughts map[agent.EffectID]string // of calls that are no tools'
	chosen   map[agent.StrandID]map[string]choice
	uses     map[agent.EffectID]use.Use
	before   map[string]use.Use // the newest call, by strand and tool
}

// decided is what was decided with a call of a tool.
func (t *teller) decided(e agent.Event, b agent.ToolIntent) *Decision {
	u := t.uses[b.Effect]
	d := &Decision{Needed: string(u.Worth), UsedBy: u.By}
	if c, is := t.chosen[e.Strand][b.Tool]; is {
		d.Which, d.Score = c.from, c.score
	}
	key := string(e.Strand) + " " + b.Tool
	if old, is := t.before[key]; is && old.Effect != b.Effect && (old.Worth == use.Failed || old.Worth == use.Useless) && old.Digest != u.Digest {
		d.Refines = old.Seq
	}
	t.before[key] = u
	return d
}

// offered notes what tools are chosen from.
func (t *teller) offered(s agent.StrandID, b agent.ToolsOffered) {
	if t.chosen[s] == nil {
		t.chosen[s] = map[string]choice{}
	}
	for i, name := range b.Names {
		c := choice{from: "the text of the task"}
		if b.Query != "" {
			c.from = "a search for “" + b.Query + "”"
		}
		if i < len(b.Scores) {
			c.score = b.Scores[i]
		}
		t.chosen[s][name] = c
	}
}

func (t *teller) tell(e agent.Event) {
	step := Step{Seq: e.Seq, At: e.At, Strand: e.Strand, Kind: e.Body.Kind()}
	switch b := e.Body.(type) {
	case agent.ToolIntent:
		if e.Strand == agent.Voice {
			return // a post
		}
		step.Phase, step.Reason, step.Request, step.Input, step.Rule = Act, cmp.Or(b.Thought, t.reasons[e.Strand]), b.Tool, b.Arguments, b.Rule
		step.Decision = t.decided(e, b)
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
			for i, c := range b.Message.Calls {
				t.thoughts[agent.EffectID(fmt.Sprintf("%s.%d", b.Call, i))] = thought.Of(c.Arguments)
			}
			if b.Purpose == llm.Work && len(b.Message.Calls) == 0 {
				step.Decision = &Decision{Needed: "none"}
			}
		}
		step.Phase, step.Text = Decide, answered(b)
	case agent.ToolsOffered:
		t.offered(e.Strand, b)
		step.Phase, step.Text = word(e.Body)
	case agent.CallReplied:
		step.Phase, step.Text = word(e.Body)
		step.Reason = t.thoughts[b.Effect]
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
