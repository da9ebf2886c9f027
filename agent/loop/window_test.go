package loop_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
)

// pages is a tool that reads a page of a book: two thousand characters that no
// other page has.
type pages struct{}

func (pages) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "note", Description: "reads a page", Class: agent.ClassRead, Repeat: agent.RepeatRead,
		Parameters: json.RawMessage(`{"type":"object","properties":{"page":{"type":"integer"}},"required":["page"]}`)}
}

func (pages) Run(_ context.Context, c agent.Call) agent.Result {
	return agent.Result{State: agent.OutcomeOK, Text: page(string(c.Arguments)), Trust: agent.Untrusted}
}

func mark(arguments string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(arguments)))[:12] }

func page(arguments string) string {
	return strings.Repeat("Page "+arguments+" of the log. ", 60) + "The mark is " + mark(arguments) + "."
}

// windowed is a house whose model has so many tokens of context, and the model.
func windowed(t *testing.T, window int, w *worker) *house {
	t.Helper()
	return open(t, w, func(c *loop.Config) {
		c.MaxAnswer = 1000
		c.Window = func(context.Context, string) int { return window }
	}, pages{})
}

// reading is work that reads so many pages and finishes.
func reading(steps int) func(llm.Request, int) llm.Message {
	return func(_ llm.Request, nth int) llm.Message {
		if nth > steps {
			return finished()
		}
		return call("note", map[string]any{"page": nth})
	}
}

// summary is what a model says that sums up.
func summary(llm.Request) llm.Message {
	return call("submit_summary", map[string]any{"progress": "Pages were read."})
}

var resultNumbers = regexp.MustCompile(`Result #(\d+) of note`)

// A task of two hundred steps ends within a window of 8,000 tokens: no request is
// longer, what people said stays, and what was taken out can be read again.
func TestLongTaskInASmallWindow(t *testing.T) {
	const steps, window = 200, 8000
	first := ""
	w := &worker{check: func(_ llm.Request, nth int) (llm.Message, error) {
		l := fine()
		l.Progress = float64(nth) / 100
		return call("submit_reflection", l), nil
	}}
	w.sum = func(r llm.Request) llm.Message {
		if m := resultNumbers.FindStringSubmatch(r.Messages[1].Content); m != nil && first == "" {
			first = "#" + m[1]
		}
		return call("submit_summary", map[string]any{"progress": "Pages were read.", "facts": []string{"nothing odd so far"}, "artifacts": []string{first}})
	}
	w.work = func(r llm.Request, nth int) llm.Message {
		if nth == steps+1 {
			return call("read_result", map[string]any{"id": first, "find": "The mark"})
		}
		return reading(steps)(r, nth)
	}
	h := windowed(t, window, w)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	r := h.ended(run)
	if r.Ended.State != agent.RunDone {
		t.Fatalf("it ended %s: %s", r.Ended.State, r.Ended.Reason)
	}
	longest, compactions := 0, len(w.of(llm.Compact))
	for _, q := range append(w.of(llm.Work), w.of(llm.Compact)...) {
		longest = max(longest, llm.Count(q)+q.MaxTokens)
	}
	if longest > window {
		t.Errorf("the longest request and its answer take %d tokens of %d", longest, window)
	}
	asked := w.of(llm.Work)
	last := asked[len(asked)-1].Messages
	if got, want := last[len(last)-1].Content, "The mark is "+mark(`{"page":1}`); !strings.Contains(got, want) || !strings.Contains(got, "trust=untrusted") {
		t.Errorf("the first page, read again, is %q, want %q, framed as untrusted", got, want)
	}
	if compactions == 0 || compactions > steps/4 {
		t.Errorf("%d summaries were asked for", compactions)
	}
	t.Logf("%d steps, longest request with its answer %d of %d tokens, %d summaries", steps, longest, window, compactions)
}

// A result and its call stay together, and the conversation begins with system
// and brief in every request.
func TestCompactedConversationsAreWhole(t *testing.T) {
	w := &worker{sum: summary, work: reading(30)}
	h := windowed(t, 6000, w)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	h.ended(run)
	for i, q := range w.of(llm.Work) {
		open := map[string]int{}
		for _, m := range q.Messages {
			for _, c := range m.Calls {
				open[c.ID]++
			}
			if m.Role == llm.Tool {
				open[m.CallID]--
			}
		}
		for id, n := range open {
			if n != 0 {
				t.Fatalf("request %d: call %s has %d results too few", i, id, n)
			}
		}
		if q.Messages[0].Role != llm.System || q.Messages[1].Role != llm.User || !strings.Contains(q.Messages[1].Content, "make a note") {
			t.Fatalf("request %d begins with %v", i, q.Messages[:2])
		}
	}
}

// Where no model sums up, a list of the calls stands in their place and the work
// goes on.
func TestWithoutASummaryTheWorkGoesOn(t *testing.T) {
	w := &worker{work: reading(40), sum: func(llm.Request) llm.Message {
		return llm.Message{Role: llm.Assistant, Content: "I would rather not."}
	}}
	h := windowed(t, 8000, w)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	r := h.ended(run)
	if r.Ended.State != agent.RunDone {
		t.Fatalf("it ended %s: %s", r.Ended.State, r.Ended.Reason)
	}
	if !slices.ContainsFunc(w.of(llm.Work), func(q llm.Request) bool {
		return len(q.Messages) > 2 && strings.Contains(q.Messages[2].Content, `note {"page":1}`) && strings.Contains(q.Messages[2].Content, "nobody summed it up")
	}) {
		t.Error("no request has the list of the calls in their place")
	}
}

// An endpoint that refuses a prompt for its length is asked again with a shorter
// one; the window that it names holds from then on.
func TestRefusedLength(t *testing.T) {
	const window = 9000
	w := &worker{sum: summary, work: reading(60), refuse: func(r llm.Request) error {
		if r.Purpose != llm.Work || llm.Count(r) <= window {
			return nil
		}
		return &llm.Error{Fault: llm.TooLong, Status: 400, Message: "too long", Window: window}
	}}
	h := windowed(t, 0, w)
	run := h.start(agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.AskRisky})
	r := h.ended(run)
	refused := 0
	for _, e := range h.journal(run) {
		if full, is := e.Body.(agent.ContextFull); is && full.Refused {
			refused++
		}
	}
	if r.Ended.State != agent.RunDone || refused != 1 {
		t.Fatalf("it ended %s after %d refusals: %s", r.Ended.State, refused, r.Ended.Reason)
	}
}
