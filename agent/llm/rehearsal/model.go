package rehearsal

// The model: which entry of the scenario answers a request.

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// Name is the model's name in answers.
const Name = "rehearsal"

// Config says how a scenario is played.
type Config struct {
	// Speed is the factor on every takes: 0 answers at once, 1 takes as long as
	// the scenario says, 2 twice as long.
	Speed float64
}

// Model plays one scenario. It holds no state and may be used from many
// goroutines.
type Model struct {
	scenario *Scenario
	cfg      Config
}

var _ llm.Model = (*Model)(nil)

// New returns a model that plays s.
func New(s *Scenario, cfg Config) *Model { return &Model{scenario: s, cfg: cfg} }

// Says is the scenario's line for people: that this is scripted.
func (m *Model) Says() string { return m.scenario.Says }

// accepts is what the judge says unless the scenario says otherwise.
var accepts = turn{purpose: llm.Judge, calls: []call{{
	name: "judge_task",
	args: value{kind: object, keys: []string{`"accepted"`, `"reasons"`, `"missing"`}, items: []value{
		{json: []byte("true")},
		{kind: list, items: []value{{json: []byte(`"The rehearsal accepts every task."`)}}},
		{kind: list},
	}},
}}}

// Complete plays the entry for r's purpose, task and turn. It returns an
// *llm.Error with the fault Unscripted where there is none, or where an
// entry's templates ask for something that the request does not hold, and the
// context's error where that ends while the model pretends to think. Usage is
// counted: bytes/4, rounded up.
func (m *Model) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	n := turnOf(r.Messages)
	t, found, err := m.scenario.find(r, n)
	if err != nil {
		return llm.Response{}, m.unscripted(r, n, fmt.Sprintf("the condition in line %d cannot be told: %s", t.line, reason(err)), err)
	}
	if !found {
		return llm.Response{}, m.unscripted(r, n, "it has no entry for that; add one", nil)
	}
	message, err := t.play(r, n)
	if err != nil {
		return llm.Response{}, m.unscripted(r, n, fmt.Sprintf("the entry in line %d cannot be played: %s", t.line, reason(err)), err)
	}
	if !wait.Sleep(ctx, time.Duration(float64(t.takes)*m.cfg.Speed)) {
		return llm.Response{}, ctx.Err()
	}
	resp := llm.Response{Message: message, Model: Name, Finish: "stop", Estimated: true}
	resp.Usage = llm.Usage{Prompt: llm.Count(r), Completion: llm.CountAnswer(message)}
	if len(message.Calls) > 0 {
		resp.Finish = "tool_calls"
	}
	return resp, nil
}

// find returns the first entry that fits; with an error the entry whose
// condition it is about.
func (s *Scenario) find(r llm.Request, n int) (t *turn, found bool, err error) {
	for i := range s.turns {
		t := &s.turns[i]
		if t.purpose != r.Purpose || (t.task != nil && *t.task != r.Task) || (t.turn != nil && *t.turn != n) {
			continue
		}
		if t.when == nil {
			return t, true, nil
		}
		said, err := t.when.say(&scene{messages: r.Messages})
		if err != nil {
			return t, false, err
		}
		if said == "true" {
			return t, true, nil
		}
	}
	if r.Purpose == llm.Judge {
		return &accepts, true, nil
	}
	return nil, false, nil
}

func (t *turn) play(r llm.Request, n int) (llm.Message, error) {
	s := &scene{messages: r.Messages}
	m := llm.Message{Role: llm.Assistant}
	var err error
	if m.Content, err = t.text.say(s); err != nil {
		return m, err
	}
	for i := range t.calls {
		args, err := t.calls[i].args.render(nil, s)
		if err != nil {
			return m, err
		}
		id := strings.Join([]string{"call", string(r.Purpose), r.Task, strconv.Itoa(n), strconv.Itoa(i)}, "_")
		m.Calls = append(m.Calls, llm.Call{ID: id, Name: t.calls[i].name, Arguments: string(args)})
	}
	return m, nil
}

func (m *Model) unscripted(r llm.Request, n int, why string, cause error) error {
	return &llm.Error{
		Fault: llm.Unscripted, Err: cause,
		Message: fmt.Sprintf("scenario %q, purpose %s, task %q, turn %d: %s", m.scenario.Name, r.Purpose, r.Task, n, why),
	}
}

// reason drops the words that text/template puts before an error.
func reason(err error) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "error calling "); ok {
		return after
	}
	return strings.TrimPrefix(text, "template: ")
}

// turnOf counts the assistant messages.
func turnOf(messages []llm.Message) int {
	n := 0
	for i := range messages {
		if messages[i].Role == llm.Assistant {
			n++
		}
	}
	return n
}
