package loop_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/agent/loop/cost"
)

// fine is a ledger that finds nothing.
func fine() agent.Ledger {
	return agent.Ledger{Progress: 0.9, Relevance: 1, PlanStillBest: true, Verdict: agent.CheckInContinue}
}

func saying(v agent.CheckInVerdict) agent.Ledger {
	l := fine()
	l.Verdict = v
	return l
}

// worker is a model that plans one task, and whose work and ledgers a test
// writes. It remembers what it was asked.
type worker struct {
	work  func(r llm.Request, nth int) llm.Message
	check func(r llm.Request, nth int) (llm.Message, error)
	// sum sums up a conversation, refuse refuses a request; both may be nil.
	sum    func(r llm.Request) llm.Message
	refuse func(r llm.Request) error

	mu    sync.Mutex
	asked []llm.Request
}

func (w *worker) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	w.mu.Lock()
	nth := 1
	for _, a := range w.asked {
		if a.Purpose == r.Purpose {
			nth++
		}
	}
	w.asked = append(w.asked, r)
	w.mu.Unlock()
	var m llm.Message
	var err error
	switch {
	case w.refuse != nil && w.refuse(r) != nil:
		err = w.refuse(r)
	case r.Purpose == llm.Compact:
		m = w.sum(r)
	case r.Purpose == llm.CheckIn && w.check != nil:
		m, err = w.check(r, nth)
	case r.Purpose == llm.CheckIn:
		m = call("submit_reflection", fine())
	case r.Purpose == llm.Work:
		m = w.work(r, nth)
	default:
		m = noter("note", task("a", "note", nil))(r)
	}
	if err != nil {
		return llm.Response{}, err
	}
	return llm.Response{Message: m, Model: r.Model, Usage: llm.Usage{Prompt: 100, Completion: 10}, Finish: "tool_calls"}, ctx.Err()
}

// of are the requests for a purpose.
func (w *worker) of(p llm.Purpose) []llm.Request {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []llm.Request
	for _, r := range w.asked {
		if r.Purpose == p {
			list = append(list, r)
		}
	}
	return list
}

// steady does so many different calls and finishes.
func steady(calls int) func(llm.Request, int) llm.Message {
	return func(_ llm.Request, nth int) llm.Message {
		if nth > calls {
			return finished()
		}
		return call("note", map[string]any{"text": fmt.Sprint("note ", nth)})
	}
}

func finished() llm.Message {
	return call("finish_task", map[string]any{"summary": "noted", "outputs": []map[string]any{{"name": "out_a", "value": "a"}}})
}

// ledgers answers check-ins, the last one again and again.
func ledgers(list ...agent.Ledger) func(llm.Request, int) (llm.Message, error) {
	return func(_ llm.Request, nth int) (llm.Message, error) {
		return call("submit_reflection", list[min(nth, len(list))-1]), nil
	}
}

func reads() note { return newNote("note", agent.ClassRead, agent.RepeatRead) }

func every(steps int) agent.RunStarted {
	return agent.RunStarted{PlanApproval: agent.ApprovePlanNever, CheckIns: steps}
}

// made are the check-ins in the run's journal.
func (h *house) made(run agent.RunID) []agent.CheckInMade {
	h.t.Helper()
	var list []agent.CheckInMade
	for _, e := range h.journal(run) {
		if b, is := e.Body.(agent.CheckInMade); is {
			list = append(list, b)
		}
	}
	return list
}

func (h *house) stuck(run agent.RunID) agent.Checkpoint {
	h.t.Helper()
	r := h.until(run, "a person is asked", func(r agent.Run) bool { return r.State() == agent.RunWaiting })
	c := *r.OpenCheckpoint()
	if c.Ask != agent.CheckStuck {
		h.t.Fatalf("the question is %s: %s", c.Ask, c.Title)
	}
	return c
}

// A check-in comes after so many calls, is a conversation of its own, and
// leaves the work's as it is, byte for byte.
func TestCheckInBySteps(t *testing.T) {
	w := &worker{work: steady(5)}
	h := open(t, w, nil, reads())
	run := h.start(every(2))
	if r := h.ended(run); r.Ended.State != agent.RunDone || r.Ended.ModelCalls != 1+6+2+1+1 {
		t.Errorf("ended %+v", r.Ended) // the third check-in is due when the task has finished
	}
	checks := w.of(llm.CheckIn)
	if len(checks) != 2 || len(checks[1].Functions) != 1 || len(checks[1].Messages) != 2 || !strings.Contains(checks[1].Messages[1].Content, "note 4") {
		t.Errorf("%d check-ins; the second: %+v", len(checks), checks)
	}
	work := w.of(llm.Work)
	for i := 1; i < len(work); i++ {
		before, now := work[i-1].Messages, work[i].Messages
		if !reflect.DeepEqual(before, now[:len(before)]) {
			t.Errorf("work call %d does not begin like the one before it", i+1)
		}
	}
}

func TestCheckInByFact(t *testing.T) {
	w := &worker{work: steady(2)}
	tool := &gate{note: reads(), at: make(chan struct{}), open: make(chan struct{})}
	h := open(t, w, nil, tool)
	run := h.start(every(0))
	<-tool.at
	_, err := h.store.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{{Strand: "task/a", Body: agent.CheckInDue{Reason: "10m passed"}}}})
	close(tool.open)
	if r := h.ended(run); err != nil || r.Ended.State != agent.RunDone {
		t.Errorf("ended %+v (%v)", r.Ended, err)
	}
	if made := h.made(run); len(made) != 1 || len(w.of(llm.CheckIn)) != 1 || made[0].Ledger == nil {
		t.Errorf("%d check-ins asked, made %+v", len(w.of(llm.CheckIn)), made)
	}
}

// gate is a tool whose first call waits.
type gate struct {
	note
	once     sync.Once
	at, open chan struct{}
}

func (g *gate) Run(ctx context.Context, c agent.Call) agent.Result {
	g.once.Do(func() { close(g.at); <-g.open })
	return g.note.Run(ctx, c)
}

// That no ledger can be had is no trouble: the work goes on, and the next
// check-in is due after the usual number of calls.
func TestMissedCheckInsAreHarmless(t *testing.T) {
	prose := llm.Message{Role: llm.Assistant, Content: "all is well"}
	for _, tt := range []struct {
		name  string
		check func(llm.Request, int) (llm.Message, error)
		calls int // of each check-in
		why   string
	}{
		{"prose", func(llm.Request, int) (llm.Message, error) { return prose, nil }, 3, "no usable answer in three tries"},
		{"an answer that does not fit", func(llm.Request, int) (llm.Message, error) {
			return call("submit_reflection", map[string]any{"progress": 7}), nil
		}, 3, "no usable answer in three tries"},
		{"another function", func(llm.Request, int) (llm.Message, error) { return finished(), nil }, 3, "something that I cannot do"},
		{"a refusal", func(llm.Request, int) (llm.Message, error) { return llm.Message{Refusal: "I would rather not"}, nil }, 1, "rather not"},
		{"no connection", func(llm.Request, int) (llm.Message, error) {
			return llm.Message{}, &llm.Error{Fault: llm.Exhausted, Message: "gone"}
		}, 1, "gone"},
		{"a wrong key", func(llm.Request, int) (llm.Message, error) {
			return llm.Message{}, &llm.Error{Fault: llm.Unauthorised, Message: "no such key"}
		}, 1, "no such key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &worker{work: steady(5), check: tt.check}
			h := open(t, w, nil, reads())
			run := h.start(every(2))
			r := h.ended(run)
			if r.Ended.State != agent.RunDone || len(r.Asked) > 0 || len(r.Findings) > 0 || len(w.of(llm.Work)) != 6 {
				t.Errorf("ended %+v; asked %v, found %+v, %d work calls", r.Ended, r.Asked, r.Findings, len(w.of(llm.Work)))
			}
			made := h.made(run)
			if len(made) != 2 || len(w.of(llm.CheckIn)) != 2*tt.calls || !strings.Contains(made[0].Missed, tt.why) {
				t.Errorf("%d calls for check-ins, made %+v", len(w.of(llm.CheckIn)), made)
			}
		})
	}
}

// A check-in that does not fit the budget asks nobody.
func TestCheckInWithoutMoney(t *testing.T) {
	for name, tt := range map[string]struct {
		limits agent.Limits
		fast   string
		why    string
	}{
		"no step is left":               {agent.Limits{Steps: 2}, "", "does not fit the budget (steps)"},
		"the fast model has no price":   {agent.Limits{USD: agent.Dollar}, "fast", "has no price"},
		"the fast model costs too much": {agent.Limits{USD: agent.Dollar / 10}, "gold", "does not fit the budget (usd)"},
	} {
		t.Run(name, func(t *testing.T) {
			w := &worker{work: steady(1)}
			h := open(t, w, func(c *loop.Config) {
				c.FastName, c.MaxAnswer = tt.fast, 300
				c.Prices = map[string]cost.Price{"test": {Input: 1, Output: 1}, "gold": {Input: 1000 * agent.Dollar, Output: 1000 * agent.Dollar}}
			}, reads())
			brief := every(1)
			brief.Limits = tt.limits
			run := h.start(brief)
			r := h.until(run, "the run waits or has ended", func(r agent.Run) bool { return r.Ended != nil || r.State() == agent.RunWaiting })
			made := h.made(run)
			if len(made) == 0 || !strings.Contains(made[0].Missed, tt.why) || len(w.of(llm.CheckIn)) != 0 || r.Paused != "" {
				t.Errorf("made %+v; %d calls for check-ins; the run is %s (%s)", made, len(w.of(llm.CheckIn)), r.State(), r.Paused)
			}
		})
	}
}

// One model may pause the work; a stop is the word of two.
func TestASecondModelConfirmsAStop(t *testing.T) {
	gone := func(llm.Request, int) (llm.Message, error) {
		return llm.Message{}, &llm.Error{Fault: llm.Exhausted, Message: "gone"}
	}
	first := func(second func(llm.Request, int) (llm.Message, error)) func(llm.Request, int) (llm.Message, error) {
		return func(r llm.Request, nth int) (llm.Message, error) {
			if nth == 1 {
				return call("submit_reflection", saying(agent.CheckInStop)), nil
			}
			return second(r, nth)
		}
	}
	for _, tt := range []struct {
		name, fast string
		check      func(llm.Request, int) (llm.Message, error)
		models     string
		verdict    agent.CheckInVerdict
		title      string
	}{
		{"they agree", "fast", ledgers(saying(agent.CheckInStop)), "fast test", agent.CheckInStop, "two models agree"},
		{"they do not", "fast", ledgers(saying(agent.CheckInStop), fine()), "fast test", agent.CheckInEscalate, "a model says that the work should stop"},
		{"there is one only", "", ledgers(saying(agent.CheckInStop)), "test", agent.CheckInEscalate, "a model says that the work should stop"},
		{"the second is away", "fast", first(gone), "fast test", agent.CheckInEscalate, "a model says that the work should stop"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &worker{work: steady(5), check: tt.check}
			h := open(t, w, func(c *loop.Config) { c.FastName = tt.fast }, reads())
			run := h.start(every(2))
			c := h.stuck(run)
			var models []string
			for _, r := range w.of(llm.CheckIn) {
				models = append(models, r.Model)
			}
			made := h.made(run)
			newest := made[len(made)-1]
			if got := strings.Join(models, " "); got != tt.models || newest.Verdict != tt.verdict || !strings.Contains(c.Title, tt.title) || len(w.of(llm.Work)) != 2 {
				t.Errorf("asked %q, made %+v, title %q after %d work calls", got, newest, c.Title, len(w.of(llm.Work)))
			}
		})
	}
}

// What a check-in wants is done: in the journal, with the work, by a person.
func TestVerdicts(t *testing.T) {
	t.Run("a nudge is heard by the next call", func(t *testing.T) {
		l := saying(agent.CheckInNudge)
		l.Nudge, l.Evidence = "count once", []uint64{3, 9999}
		w := &worker{work: steady(3), check: ledgers(l, fine())}
		h := open(t, w, nil, reads())
		r := h.ended(h.start(every(2)))
		third := w.of(llm.Work)[2].Messages
		if last := third[len(third)-1].Content; !strings.Contains(last, "count once") || !strings.Contains(last, "trust=untrusted") {
			t.Errorf("the third call ends with %q", last)
		}
		if len(r.Findings) != 1 || r.Findings[0].Rule != "L13" || !slices.Equal(r.Findings[0].Events, []uint64{3}) {
			t.Errorf("found %+v", r.Findings)
		}
	})
	t.Run("a re-plan begins when nothing runs", func(t *testing.T) {
		replan := saying(agent.CheckInReplan)
		replan.Nudge = "count by folder"
		w := &worker{work: steady(3), check: ledgers(replan, fine())}
		h := open(t, &replanner{worker: w}, nil, reads())
		run := h.start(every(2))
		r := h.ended(run)
		plans := w.of(llm.Plan)
		if r.Ended.State != agent.RunDone || r.Replans != 1 || len(plans) != 1 || !strings.Contains(plans[0].Messages[1].Content, "the work needs another plan") ||
			!strings.Contains(plans[0].Messages[1].Content, "- count by folder") {
			t.Errorf("ended %+v after %d re-plans, asked %+v", r.Ended, r.Replans, plans)
		}
	})
	t.Run("a person decides, and the work goes on", func(t *testing.T) {
		w := &worker{work: steady(3), check: ledgers(saying(agent.CheckInEscalate), fine())}
		h := open(t, w, nil, reads())
		run := h.start(every(2))
		c := h.stuck(run)
		if !strings.Contains(c.Title, "a person should decide") || len(c.Choices) != 3 || !strings.Contains(c.Title, "Write note a") || !strings.HasPrefix(c.Detail, "- a check-in sees") {
			t.Errorf("the question is %q, %v\n%s", c.Title, c.Choices, c.Detail)
		}
		if err := h.decide(c.ID, agent.DecideRetry); err != nil {
			t.Fatal(err)
		}
		if r := h.ended(run); r.Ended.State != agent.RunDone || len(r.Asked) != 1 {
			t.Errorf("ended %+v, asked %v", r.Ended, r.Asked)
		}
	})
	t.Run("with nobody to ask the task fails", func(t *testing.T) {
		w := &worker{work: steady(3), check: ledgers(saying(agent.CheckInEscalate))}
		h := open(t, &replanner{worker: w, never: true}, nil, reads())
		brief := every(2)
		brief.Unattended = true
		run := h.start(brief)
		r := h.ended(run)
		if r.Ended.State != agent.RunFailed || len(r.Asked) != 0 || !strings.Contains(r.Tasks["a"].Reason, "a person should decide") {
			t.Errorf("ended %+v; task a: %+v", r.Ended, r.Tasks["a"])
		}
	})
	t.Run("three check-ins without progress want another plan", func(t *testing.T) {
		w := &worker{work: steady(9), check: ledgers(agent.Ledger{Relevance: 1, PlanStillBest: true, Verdict: agent.CheckInContinue})}
		h := open(t, &replanner{worker: w, never: true}, nil, reads())
		run := h.start(every(2))
		h.ended(run)
		made := h.made(run)
		if len(made) != 3 || made[2].Verdict != agent.CheckInReplan || !strings.Contains(made[2].Reason, "no progress") {
			t.Errorf("made %+v", made)
		}
	})
}

// replanner plans anew with a task that finishes at once, or never.
type replanner struct {
	*worker
	never bool
}

func (p *replanner) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	resp, err := p.worker.Complete(ctx, r)
	switch {
	case r.Purpose == llm.Plan && p.never:
		return llm.Response{}, &llm.Error{Fault: llm.Invalid, Message: "no plan"}
	case r.Purpose == llm.Plan:
		resp.Message = call("submit_plan", map[string]any{"reason": "another way", "tasks": []any{task("b", "note", nil)}})
	case r.Purpose == llm.Work && r.Task == "b":
		resp.Message = call("finish_task", map[string]any{"summary": "noted", "outputs": []map[string]any{{"name": "out_b", "value": "b"}}})
	}
	return resp, err
}
