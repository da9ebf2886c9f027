package loop_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/tools/source"
)

// manual is a tool with a documentation that may change.
type manual struct {
	note
	edition *atomic.Int32
}

func newManual(name string) manual {
	return manual{newNote(name, agent.ClassRead, agent.RepeatRead), &atomic.Int32{}}
}

func (m manual) Documentation(context.Context) string {
	return fmt.Sprintf("The manual of %s, edition %d.", m.spec.Name, m.edition.Load())
}

// Run fails where it is told so, and its manual has another edition after the
// first call that went well.
func (m manual) Run(ctx context.Context, c agent.Call) agent.Result {
	r := m.note.Run(ctx, c)
	if strings.Contains(string(c.Arguments), "wrong") {
		return agent.Failed("the text is wrong")
	}
	m.edition.Store(2)
	return r
}

// steps is a worker that makes one call after the other and keeps its requests.
type steps struct {
	mu    sync.Mutex
	tools []string
	calls []llm.Message
	seen  []llm.Request
}

func (s *steps) answer(r llm.Request) llm.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.Purpose {
	case llm.Intake:
		work := task("a", "", nil)
		work["tools"], work["acceptance"] = append([]string{}, s.tools...), "it is noted"
		return call("submit_plan", map[string]any{"tasks": []any{work}})
	case llm.Work:
		s.seen = append(s.seen, r)
		if n := len(s.seen); n <= len(s.calls) {
			return s.calls[n-1]
		}
		return call("finish_task", map[string]any{"thought": "all is noted", "summary": "done", "outputs": []any{map[string]any{"name": "out_a", "value": 1}}, "confidence": 1})
	case llm.Judge:
		return call("judge_task", map[string]any{"accepted": true, "reasons": []string{}, "missing": []string{}})
	}
	return call("submit_report", map[string]any{"headline": "done", "body": "all done"})
}

// last is the newest message of the n-th request of work, from 1.
func (s *steps) last(n int) string {
	m := s.seen[n-1].Messages
	return m[len(m)-1].Content
}

// works runs a goal with tools of a source and returns the journal.
func (s *steps) works(t *testing.T, change func(*loop.Config), list ...agent.Tool) []agent.Event {
	t.Helper()
	registry, err := source.New(source.Config{Sources: []source.Source{server{list}}, Effects: source.Effects{"ocean__*": source.EffectRead}})
	if err != nil {
		t.Fatal(err)
	}
	registry.Load(t.Context())
	h := open(t, scripted(s.answer), func(c *loop.Config) {
		c.Tools = registry
		if change != nil {
			change(c)
		}
	})
	run := h.start(agent.RunStarted{Goal: "note it", PlanApproval: agent.ApprovePlanNever, Unattended: true})
	if r := h.ended(run); r.Ended.State != agent.RunDone {
		t.Fatalf("the run ended %s: %s", r.Ended.State, r.Ended.Reason)
	}
	events := h.journal(run)
	h.stop()
	return events
}

// Before its first call a tool's documentation is put before the model, at once
// where the task names the tool, and again once it says something else.
func TestDocumentationComesBeforeTheCall(t *testing.T) {
	var list []agent.Tool
	for i := range 7 {
		list = append(list, newManual(fmt.Sprintf("gauge_%d", i)))
	}
	tide := newManual("tide")
	list = append(list, tide)
	noted := call("ocean__tide", map[string]any{"text": "now"})
	for name, named := range map[string][]string{"one of many tools": nil, "named by the task": {"ocean__tide"}} {
		tide.edition.Store(1)
		*tide.calls = nil
		s := &steps{tools: named, calls: []llm.Message{noted, noted, noted, noted}}
		if named != nil {
			s.calls = s.calls[:3]
		}
		events := s.works(t, nil, list...)
		first := 1
		if named == nil {
			if strings.Contains(fmt.Sprint(s.seen[0].Messages), "The manual of") {
				t.Errorf("%s: manuals of tools that nobody called are shown", name)
			}
			first = 2
		}
		if got := s.last(first); !strings.Contains(got, "The manual of tide, edition 1.") || !strings.Contains(got, "trust=untrusted") {
			t.Errorf("%s: before the first call the model sees %q", name, got)
		}
		if got := s.last(first + 1); !strings.Contains(got, "noted") {
			t.Errorf("%s: then the call brings %q", name, got)
		}
		if got := s.last(first + 2); !strings.Contains(got, "edition 2.") {
			t.Errorf("%s: before the next call the model sees %q", name, got)
		}
		if calls := tide.seen(); len(calls) != 2 {
			t.Errorf("%s: the tool was called %d times", name, len(calls))
		}
		shown := 0
		for _, e := range events {
			if o, is := e.Body.(agent.ToolsOffered); is {
				shown += len(o.Documents)
			}
		}
		if shown != 2 {
			t.Errorf("%s: the journal has %d documentations", name, shown)
		}
	}
}

// A thought comes with a call, is kept and does not reach the tool; what failed
// and what is different now stands behind a call that fails again.
func TestThoughts(t *testing.T) {
	tool := newManual("tide")
	with := func(text, thought string) llm.Message {
		return call("ocean__tide", map[string]any{"text": text, "thought": thought})
	}
	s := &steps{tools: []string{"ocean__tide"}, calls: []llm.Message{
		with("wrong", "I need the tide with the key sk-proj-abcdefghijklmnopqrstuvwx1234"), with("wrong again", ""), with("wrong again", "once more"), with("right", "another text")}}
	events := s.works(t, nil, tool)
	if calls := tool.seen(); len(calls) != 4 || calls[3] != `{"text":"right"}` {
		t.Errorf("the tool saw %q", calls)
	}
	var thoughts []string
	for _, e := range events {
		if in, is := e.Body.(agent.ToolIntent); is {
			thoughts = append(thoughts, in.Thought)
		}
	}
	if len(thoughts) != 4 || !strings.HasPrefix(thoughts[0], "I need the tide") || strings.Contains(thoughts[0], "abcdefghij") || thoughts[3] != "another text" {
		t.Errorf("kept are %q", thoughts)
	}
	for n, want := range map[int]string{2: "say what has to be different", 3: `text: "wrong" → "wrong again"`, 4: "the same arguments"} {
		if got := s.last(n); !strings.Contains(got, "the text is wrong") || !strings.Contains(got, want) {
			t.Errorf("after call %d the model sees %q", n-1, got)
		}
	}
	if schema := parametersOf(s.seen[0], "ocean__tide"); !strings.Contains(schema, `"thought"`) || !strings.Contains(s.seen[0].Messages[0].Content, "thought") {
		t.Errorf("offered is %s", schema)
	}
}

// Switched off, no thought is asked for and none is kept.
func TestNoThoughts(t *testing.T) {
	tool := newManual("tide")
	s := &steps{tools: []string{"ocean__tide"}, calls: []llm.Message{call("ocean__tide", map[string]any{"text": "right", "thought": "unasked"})}}
	for _, e := range s.works(t, func(c *loop.Config) { c.NoThought = true }, tool) {
		if in, is := e.Body.(agent.ToolIntent); is && in.Thought != "" {
			t.Errorf("kept is %q", in.Thought)
		}
	}
	if schema := parametersOf(s.seen[0], "ocean__tide"); strings.Contains(schema, "thought") || strings.Contains(s.seen[0].Messages[0].Content, "thought") {
		t.Errorf("offered is %s", schema)
	}
	if calls := tool.seen(); len(calls) != 1 || calls[0] != `{"text":"right"}` {
		t.Errorf("the tool saw %q", calls)
	}
}

// parametersOf is the schema of a function that a request offers.
func parametersOf(r llm.Request, name string) string {
	for _, f := range r.Functions {
		if f.Name == name {
			return string(f.Parameters)
		}
	}
	return ""
}
