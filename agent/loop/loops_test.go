package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// failing is a tool that never works.
type failing struct{ note }

func (f failing) Run(context.Context, agent.Call) agent.Result {
	return agent.Failed("no such host")
}

// pausing is the tool wait without its waiting: what the rules go by are its
// arguments.
type pausing struct{ note }

func newPausing() pausing {
	p := pausing{newNote("wait", agent.ClassRead, agent.RepeatRead)}
	p.spec.Parameters = json.RawMessage(`{"type":"object","properties":{"seconds":{"type":"number"}},"required":["seconds"]}`)
	return p
}

// round calls the texts in turn.
func round(texts ...string) func(llm.Request, int) llm.Message {
	return func(_ llm.Request, nth int) llm.Message {
		return call("note", map[string]any{"text": texts[(nth-1)%len(texts)]})
	}
}

// Models that go round in circles, each with what finds it and the number of
// model calls that it got: of its work, and for check-ins.
func TestLoopsEndAsTheRulesSay(t *testing.T) {
	prose := func(_ llm.Request, nth int) llm.Message {
		return llm.Message{Role: llm.Assistant, Content: fmt.Sprint("Let me think about that, ", nth)}
	}
	chant := func(_ llm.Request, nth int) llm.Message {
		return llm.Message{Role: llm.Assistant, Content: fmt.Sprint(nth, " ", strings.Repeat("I will now write the note, and then I will be done with it. ", 40)),
			Calls: finished().Calls}
	}
	unrelated := agent.Ledger{Progress: 0.5, Relevance: 0.1, PlanStillBest: true, Verdict: agent.CheckInContinue}
	for _, tt := range []struct {
		name         string
		work         func(llm.Request, int) llm.Message
		tool         agent.Tool
		steps        int
		ledger       agent.Ledger
		works, looks int
		found        string
		end          string // of the question, or of the task's reason
	}{
		{"identical calls", round("again"), reads(), 30, fine(), 4, 0, "L9 check-in, L1 nudge, L3 stop", "the same call 4 times with the same result"},
		{"alternating calls", round("a", "b"), reads(), 30, fine(), 6, 0, "L1 nudge, L1 nudge, L4 stop", "a cycle of 2 calls"},
		{"a cycle of three", round("a", "b", "c"), reads(), 30, fine(), 9, 0, "L1 nudge, L1 nudge, L1 nudge, L4 stop", "a cycle of 3 calls"},
		{"the same error", round("again"), failing{reads()}, 30, fine(), 4, 0, "L9 check-in, L1 nudge, L2 nudge, L2 stop, L3 stop", "failed 4 times"},
		{"words alone", prose, reads(), 30, fine(), 3, 0, "", "no usable answer in three tries"},
		{"chanting", chant, reads(), 30, fine(), 3, 0, "L6 stop, L6 stop", "It last wrote: “3 I will now write the note"},
		{"unrelated work", steady(100), reads(), 3, unrelated, 3, 1, "L13 stop", "has little to do with the goal"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &worker{work: tt.work, check: ledgers(tt.ledger)}
			h := open(t, &replanner{worker: w, never: true}, nil, tt.tool)
			r := h.until(h.start(every(tt.steps)), "it is noticed", func(r agent.Run) bool { return r.Ended != nil || r.State() == agent.RunWaiting })
			works, looks, end := len(w.of(llm.Work)), len(w.of(llm.CheckIn)), r.Tasks["a"].Reason
			if c := r.OpenCheckpoint(); c != nil {
				end = string(c.Ask) + ": " + c.Title
			}
			if works != tt.works || looks != tt.looks || !strings.Contains(end, tt.end) {
				t.Errorf("%d calls of work and %d for check-ins, want %d and %d; it ended with %q", works, looks, tt.works, tt.looks, end)
			}
			var found []string
			for _, f := range r.Findings {
				found = append(found, f.Rule+" "+f.Severity)
			}
			if got := strings.Join(found, ", "); got != tt.found {
				t.Errorf("found %s", got)
			}
		})
	}
}

// Looking again after pauses is no loop.
func TestPollingIsFine(t *testing.T) {
	const polls = 8
	w := &worker{work: func(_ llm.Request, nth int) llm.Message {
		switch {
		case nth > 2*polls:
			return finished()
		case nth%2 == 0:
			return call("wait", map[string]any{"seconds": 60})
		}
		return call("note", map[string]any{"text": "is it there?"})
	}}
	h := open(t, &tooled{worker: w, tools: []string{"note", "wait"}}, nil, reads(), newPausing())
	r := h.ended(h.start(every(0)))
	if r.Ended.State != agent.RunDone || len(r.Findings) > 0 || len(w.of(llm.Work)) != 2*polls+1 || len(w.of(llm.CheckIn)) > 0 {
		t.Errorf("ended %+v, found %+v, %d calls of work, %d for check-ins", r.Ended, r.Findings, len(w.of(llm.Work)), len(w.of(llm.CheckIn)))
	}
}

// tooled is a worker whose one task may use the tools.
type tooled struct {
	*worker
	tools []string
}

func (p *tooled) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	resp, err := p.worker.Complete(ctx, r)
	if r.Purpose == llm.Intake {
		resp.Message = call("submit_plan", map[string]any{"name": "Notes", "tasks": []any{task("a", "note", map[string]any{"tools": p.tools})}})
	}
	return resp, err
}

// planner works nothing and plans on and on: each turn of its task adds one.
type planner struct{ worker }

func newPlanner() *planner {
	return &planner{worker{work: func(r llm.Request, nth int) llm.Message {
		if r.Task != "a" && !strings.HasPrefix(r.Task, "again") {
			return call("fail_task", map[string]any{"reason": "this one is not meant to run", "kind": "other"})
		}
		id := fmt.Sprint("more", nth)
		return call("add_tasks", map[string]any{"reason": "found on the way", "tasks": []any{
			task(id, "note", map[string]any{"title": topics[nth%len(topics)] + " " + id, "instructions": topics[nth%len(topics)], "depends_on": []string{r.Task}, "deliverable": false}),
		}})
	}}}
}

var topics = []string{"Measure rainfall", "Paint fences", "Translate poems", "Sort invoices", "Tune pianos", "Bake bread", "Repair bicycles", "Map rivers"}

func (p *planner) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	resp, err := p.worker.Complete(ctx, r)
	if r.Purpose == llm.Plan {
		resp.Message = call("submit_plan", map[string]any{"reason": "smaller", "tasks": []any{task(fmt.Sprint("again", len(p.of(llm.Plan))), "note", nil)}})
	}
	return resp, err
}

// A backlog that only grows is planned anew, twice, and then put before the
// person. Meanwhile no task starts and none is added.
func TestPlanningForEver(t *testing.T) {
	p := newPlanner()
	h := open(t, p, nil, reads())
	run := h.start(every(0))
	c := h.stuck(run)
	r := h.until(run, "it waits", func(agent.Run) bool { return true })
	const rounds, refusals = 5, 3
	if works := len(p.of(llm.Work)); works != 3*(rounds+refusals) || len(p.of(llm.Plan)) != 2 || r.Replans != 2 {
		t.Errorf("%d calls of work and %d plans, %d re-plans", works, len(p.of(llm.Plan)), r.Replans)
	}
	if !strings.Contains(c.Title, "the backlog grew for 5 rounds") {
		t.Errorf("asked %q", c.Title)
	}
	if !slices.ContainsFunc(r.Findings, func(f agent.Finding) bool { return f.Rule == "L11" && f.Severity == "nudge" }) {
		t.Errorf("found %+v", r.Findings)
	}
	if err := h.decide(c.ID, agent.DecideFinish); err != nil {
		t.Fatal(err)
	}
	if r := h.ended(run); r.Ended.State != agent.RunFailed {
		t.Errorf("ended %+v", r.Ended)
	}
}

// With nobody to ask, a plan that never comes closer to its end ends the run,
// and the run says so.
func TestPlanningForEverAlone(t *testing.T) {
	p := newPlanner()
	h := open(t, p, nil, reads())
	brief := every(0)
	brief.Unattended = true
	r := h.ended(h.start(brief))
	if r.Ended.State != agent.RunFailed || len(r.Asked) != 0 || len(p.of(llm.Plan)) != 2 || !strings.Contains(r.Ended.Reason, "the backlog grew for 5 rounds") {
		t.Errorf("ended %+v after %d plans, asked %v", r.Ended, len(p.of(llm.Plan)), r.Asked)
	}
}

// The same plan once more after two re-plans is put before the person.
func TestThePlanIsAlwaysTheSame(t *testing.T) {
	w := &worker{work: func(llm.Request, int) llm.Message {
		return call("fail_task", map[string]any{"reason": "no way", "kind": "other"})
	}}
	h := open(t, &same{w}, nil, reads())
	run := h.start(every(0))
	c := h.stuck(run)
	if works := len(w.of(llm.Work)); works != 2 || len(w.of(llm.Plan)) != 2 || !strings.Contains(c.Title, "the plan is the same after 2 re-plans") {
		t.Errorf("%d calls of work and %d plans; asked %q", works, len(w.of(llm.Plan)), c.Title)
	}
}

// same plans what it planned before.
type same struct{ *worker }

func (s *same) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	resp, err := s.worker.Complete(ctx, r)
	if r.Purpose == llm.Plan {
		resp.Message = call("submit_plan", map[string]any{"reason": "once more", "tasks": []any{task("a", "note", nil)}})
	}
	return resp, err
}

// streaming is a model whose one task chants as a stream: piece by piece, until
// somebody cuts it.
type streaming struct {
	*worker
	pieces int
}

func (s *streaming) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	resp, err := s.worker.Complete(ctx, r)
	if r.Purpose != llm.Work || len(s.of(llm.Work)) > 1 {
		return resp, err
	}
	const verse = "and once more, and then again from the beginning, for it was so good, "
	write := r.Watch()
	for s.pieces = 1; !write(verse) && s.pieces < 1000; s.pieces++ {
	}
	resp.Message = llm.Message{Role: llm.Assistant, Content: strings.Repeat(verse, s.pieces)}
	return resp, err
}

// A chant is cut as soon as it is proved; the model hears why and goes on.
func TestAChantIsCutUnderWay(t *testing.T) {
	s := &streaming{worker: &worker{work: steady(0)}}
	h := open(t, s, nil, reads())
	r := h.ended(h.start(every(0)))
	work := s.of(llm.Work)
	if r.Ended.State != agent.RunDone || len(work) != 2 || s.pieces > 11 {
		t.Fatalf("ended %+v after %d calls of work; the chant had %d verses", r.Ended, len(work), s.pieces)
	}
	heard := work[1].Messages[len(work[1].Messages)-1].Content
	if !strings.Contains(heard, "repeated itself and was cut off") || len(r.Findings) != 1 || r.Findings[0].Rule != "L6" {
		t.Errorf("the model heard %q; found %+v", heard, r.Findings)
	}
}
