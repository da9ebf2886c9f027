package loop_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// first is a model whose first answer of work is the one given; then it goes on.
func first(answer llm.Message) scripted {
	goesOn := noter("far", task("a", "far", nil))
	return func(r llm.Request) llm.Message {
		switch {
		case r.Purpose == llm.Work && turns(r) == 0:
			return answer
		case r.Purpose == llm.Work:
			return call("finish_task", map[string]any{"summary": "noted", "outputs": []map[string]any{{"name": "out_a", "value": "a"}}})
		}
		return goesOn(r)
	}
}

// reader is a tool that only reads.
func reader(run func(ctx context.Context, nth int) agent.Result) far {
	tool := newFar(agent.RepeatRead, 0, run)
	tool.spec.Class = agent.ClassRead
	return tool
}

// replies are the texts of the calls' outcomes and replies, in order.
func (h *house) replies(run agent.RunID) (texts []string) {
	h.t.Helper()
	events, err := h.store.Read(h.t.Context(), run, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, e := range events {
		switch b := e.Body.(type) {
		case agent.ToolOutcome:
			texts = append(texts, b.Text)
		case agent.CallReplied:
			texts = append(texts, b.Text)
		}
	}
	return texts
}

// An answer with many calls is worked on a few at a time, and not beyond its bound.
func TestManyCallsInOneAnswer(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	tool := reader(func(context.Context, int) agent.Result {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		<-time.After(5 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return of(agent.OutcomeOK)
	})
	var answer llm.Message
	for i := range bounds.Calls + 8 {
		c := call("far", map[string]any{"text": strconv.Itoa(i)})
		c.Calls[0].ID = fmt.Sprint("call_", i)
		answer.Role, answer.Calls = llm.Assistant, append(answer.Calls, c.Calls...)
	}
	h := open(t, first(answer), nil, tool)
	run := h.start(writesFree())
	if r := h.ended(run); r.Ended.State != agent.RunDone || *tool.started != bounds.Calls || most > bounds.AtWork || most < 2 {
		t.Errorf("ended %+v after %d calls, %d at once", r.Ended, *tool.started, most)
	}
	refused := 0
	for _, text := range h.replies(run) {
		if strings.Contains(text, "too many calls in one answer") {
			refused++
		}
	}
	if refused != 8 {
		t.Errorf("%d calls were refused", refused)
	}
}

// Arguments that no journal could be read with are refused before they are in it.
func TestDeepArguments(t *testing.T) {
	tool := reader(func(context.Context, int) agent.Result { return of(agent.OutcomeOK) })
	deep := call("far", nil)
	deep.Calls[0].Arguments = `{"text":` + strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000) + "}"
	h := open(t, first(deep), nil, tool)
	run := h.start(writesFree())
	if r := h.ended(run); r.Ended.State != agent.RunDone || *tool.started != 0 {
		t.Errorf("ended %+v after %d calls", r.Ended, *tool.started)
	}
	if got := strings.Join(h.replies(run), "\n"); !strings.Contains(got, "nested more than 64 deep") {
		t.Errorf("the model was told %q", got)
	}
}

// An artifact that is named many times multiplies nothing beyond the bound, and
// what a tool takes counts for the text that an artifact stands for.
func TestArtifactsInArguments(t *testing.T) {
	for what, tt := range map[string]struct {
		times int
		want  string
	}{"too large together": {90, "too long with the artifacts in their places"}, "longer than the tool takes": {1, "with the artifacts in their places"}} {
		t.Run(what, func(t *testing.T) {
			tool := reader(func(_ context.Context, nth int) agent.Result {
				return agent.Result{State: agent.OutcomeOK, Text: strings.Repeat("long ", 100_000), Trust: agent.Trusted}
			})
			tool.spec.Parameters = []byte(`{"type":"object","properties":{"text":{"type":"string","maxLength":100000}},"required":["text"]}`)
			goesOn := first(call("far", map[string]any{"text": "read"}))
			model := scripted(func(r llm.Request) llm.Message {
				if r.Purpose == llm.Work && turns(r) == 1 {
					said := r.Messages[len(r.Messages)-1].Content
					at := strings.Index(said, "${artifact:")
					return call("far", map[string]any{"text": strings.Repeat(said[at:at+len("${artifact:}")+64], tt.times)})
				}
				return goesOn(r)
			})
			h := open(t, model, nil, tool)
			run := h.start(writesFree())
			if r := h.ended(run); r.Ended.State != agent.RunDone || *tool.started != 1 {
				t.Errorf("ended %+v after %d calls", r.Ended, *tool.started)
			}
			if got := strings.Join(h.replies(run), "\n"); !strings.Contains(got, tt.want) {
				t.Errorf("the model was told %.300q", got)
			}
		})
	}
}

// A result beyond measure is kept as far as it goes, and says so.
func TestLargeResult(t *testing.T) {
	tool := reader(func(context.Context, int) agent.Result {
		return agent.Result{State: agent.OutcomeOK, Text: strings.Repeat("x", bounds.Result+7), Trust: agent.Trusted}
	})
	h := open(t, first(call("far", map[string]any{"text": "read"})), nil, tool)
	run := h.start(writesFree())
	h.ended(run)
	if got := strings.Join(h.replies(run), "\n"); !strings.Contains(got, "7 bytes more are not kept: ask for less at once") {
		t.Errorf("the model was told %.100q…%q", got, got[max(0, len(got)-200):])
	}
}

// A read that never comes to an end, because the process does, is not begun for
// ever.
func TestAReadThatEndsTheProcess(t *testing.T) {
	began := make(chan struct{}, 10)
	tool := reader(func(ctx context.Context, _ int) agent.Result {
		began <- struct{}{}
		<-ctx.Done()
		return of(agent.OutcomeError)
	})
	dir, run, model := t.TempDir(), agent.RunID(agent.NewID()), first(call("far", map[string]any{"text": "read"}))
	session(t, dir, model, tool, func(ctx context.Context, s *sqlite.Store) error {
		brief := writesFree()
		brief.Goal, brief.Requester, brief.Slots = "read", bot.Terminal, 1
		_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{{Strand: agent.Main, Body: brief}},
			Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}})
		<-began
		for seq := uint64(0); err == nil; { // until its intent is written down: before that nothing is known of it
			var events []agent.Event
			if events, err = s.Read(ctx, run, seq); err != nil {
				return err
			}
			for _, e := range events {
				seq = e.Seq
				if in, is := e.Body.(agent.ToolIntent); is && in.Tool == "far" {
					return nil
				}
			}
			err = s.Await(ctx, run, seq)
		}
		return err
	})
	for range bounds.Starts - 1 {
		session(t, dir, model, tool, func(context.Context, *sqlite.Store) error {
			<-began
			return nil
		})
	}
	session(t, dir, model, tool, func(ctx context.Context, s *sqlite.Store) error {
		for seq := uint64(0); ; {
			events, err := s.Read(ctx, run, seq)
			if err != nil {
				return err
			}
			for _, e := range events {
				seq = e.Seq
				if o, is := e.Body.(agent.ToolOutcome); is && !strings.Contains(o.Text, "it was begun 3 times and never came to an end") {
					t.Errorf("the outcome is %+v", o)
				}
				if e, is := e.Body.(agent.RunEnded); is {
					if e.State != agent.RunDone {
						t.Errorf("ended %+v", e)
					}
					return nil
				}
			}
			if err := s.Await(ctx, run, seq); err != nil {
				return err
			}
		}
	})
	if *tool.started != bounds.Starts {
		t.Errorf("it was begun %d times", *tool.started)
	}
}
