package loop_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// far is a tool with an effect far away. Each run takes the next of its
// results, the last one again and again.
type far struct {
	spec    agent.ToolSpec
	run     func(ctx context.Context, nth int) agent.Result
	mu      *sync.Mutex
	started *int
}

func newFar(repeat agent.Repeat, deadline time.Duration, run func(ctx context.Context, nth int) agent.Result) far {
	return far{run: run, mu: &sync.Mutex{}, started: new(int), spec: agent.ToolSpec{
		Name: "far", Description: "acts far away", Class: agent.ClassWrite, Repeat: repeat, Deadline: deadline,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}}
}

func (f far) Spec() agent.ToolSpec { return f.spec }

func (f far) Run(ctx context.Context, _ agent.Call) agent.Result {
	f.mu.Lock()
	*f.started++
	nth := *f.started
	f.mu.Unlock()
	return f.run(ctx, nth)
}

func of(state agent.OutcomeState) agent.Result {
	return agent.Result{State: state, Text: string(state), Trust: agent.Trusted}
}

func writesFree() agent.RunStarted {
	return agent.RunStarted{PlanApproval: agent.ApprovePlanNever, Autonomy: agent.WithinBudget}
}

func TestNobodyIsAskedBeforeTheRequestHasEnded(t *testing.T) {
	const deadline = 700 * time.Millisecond
	tool := newFar(agent.RepeatOnce, deadline, func(context.Context, int) agent.Result { return of(agent.OutcomeUnknown) })
	h := open(t, noter("far", task("a", "far", nil)), nil, tool)
	run := h.start(writesFree())
	h.until(run, "a person is asked", func(r agent.Run) bool { return r.OpenCheckpoint() != nil })
	events, err := h.store.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	var until time.Time
	for _, e := range events {
		switch b := e.Body.(type) {
		case agent.ToolIntent:
			until = b.Deadline
		case agent.CheckpointOpened:
			if b.Ask != agent.CheckUncertain || e.At.Before(until) {
				t.Errorf("asked (%s) at %s, the request may arrive until %s", b.Ask, e.At, until)
			}
		}
	}
	if until.IsZero() {
		t.Error("the intent has no deadline")
	}
}

// losing is a store whose lease is gone when the first outcome (of the state, if
// it has one) is committed.
type losing struct {
	agent.Store
	once  sync.Once
	state agent.OutcomeState
}

func (l *losing) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	lost := false
	outcome := func(e agent.Event) bool {
		o, is := e.Body.(agent.ToolOutcome)
		return is && (l.state == "" || l.state == o.State)
	}
	if c.Lease != nil && slices.ContainsFunc(c.Events, outcome) {
		l.once.Do(func() { lost = true })
	}
	if lost {
		return agent.Receipt{}, agent.ErrConflict
	}
	return l.Store.Commit(ctx, c)
}

// When a worker lost its lease, another may be at the effect again: that the
// first attempt failed must not close the call while the second succeeds.
func TestLostLeaseKeepsSuccessAndForgetsFailure(t *testing.T) {
	for _, tt := range []struct {
		first agent.OutcomeState
		runs  int
	}{{agent.OutcomeOK, 1}, {agent.OutcomeError, 2}} {
		t.Run(string(tt.first), func(t *testing.T) {
			tool := newFar(agent.RepeatIdempotent, 0, func(_ context.Context, nth int) agent.Result {
				if nth == 1 {
					return of(tt.first)
				}
				return of(agent.OutcomeOK)
			})
			h := open(t, noter("far", task("a", "far", nil)), func(c *loop.Config) { c.Store = &losing{Store: c.Store} }, tool)
			run := h.start(writesFree())
			h.ended(run)
			events, err := h.store.Read(t.Context(), run, 0)
			if err != nil {
				t.Fatal(err)
			}
			var states []agent.OutcomeState
			for _, e := range events {
				if o, is := e.Body.(agent.ToolOutcome); is {
					states = append(states, o.State)
				}
			}
			if !slices.Equal(states, []agent.OutcomeState{agent.OutcomeOK}) || *tool.started != tt.runs {
				t.Errorf("outcomes %v after %d runs, want one ok after %d", states, *tool.started, tt.runs)
			}
		})
	}
}

// session is a worker on the store in the folder, until ends returns: then it is
// given no time to end its calls, which may have words after the test.
func session(t *testing.T, dir string, model llm.Model, tool agent.Tool, ends func(ctx context.Context, s *sqlite.Store) error) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	box, err := tools.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loop.New(loop.Config{Store: store, Blobs: store, Model: model, Tools: box,
		Policy: policy.Default{}, Log: slog.New(slog.DiscardHandler), ModelName: "test", Grace: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	err = ends(ctx, store)
	cancel()
	if e := <-done; err != nil || e != nil {
		t.Fatal(err, e)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// The deadline of an idempotent request says nothing to its repetition.
func TestIdempotentIsRepeatedAfterItsDeadline(t *testing.T) {
	const deadline = 300 * time.Millisecond
	began := make(chan struct{}, 2)
	tool := newFar(agent.RepeatIdempotent, deadline, func(ctx context.Context, nth int) agent.Result {
		began <- struct{}{}
		if nth == 1 || ctx.Err() != nil {
			<-ctx.Done()
			return of(agent.OutcomeError)
		}
		return of(agent.OutcomeOK)
	})
	dir := t.TempDir()
	run := agent.RunID(agent.NewID())
	worked := func(ends func(ctx context.Context, s *sqlite.Store) error) {
		t.Helper()
		session(t, dir, noter("far", task("a", "far", nil)), tool, ends)
	}
	worked(func(ctx context.Context, s *sqlite.Store) error {
		brief := writesFree()
		brief.Goal, brief.Requester, brief.Slots = "act far away", bot.Terminal, 1
		_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{{Strand: agent.Main, Body: brief}},
			Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}})
		<-began
		return err
	})
	<-time.After(deadline)
	worked(func(ctx context.Context, s *sqlite.Store) error {
		for seq := uint64(0); ; {
			events, err := s.Read(ctx, run, seq)
			if err != nil {
				return err
			}
			for _, e := range events {
				seq = e.Seq
				if o, is := e.Body.(agent.ToolOutcome); is && o.State != agent.OutcomeOK {
					t.Errorf("the repetition ended %+v", o)
				}
				if _, is := e.Body.(agent.RunEnded); is {
					return nil
				}
			}
			if err := s.Await(ctx, run, seq); err != nil {
				return err
			}
		}
	})
}
