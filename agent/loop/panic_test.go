package loop_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/agent/loop/checkins"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// mined is a store that panics where a test says so.
type mined struct {
	agent.Store
	loop.Blobs
	checkins.Lister

	await, list atomic.Bool
	keep        atomic.Bool
	claims      atomic.Int32 // that panic
	extends     atomic.Int32
}

func (m *mined) Claim(ctx context.Context, n int, wait time.Duration, only agent.RunID) ([]agent.Lease, error) {
	if m.claims.Add(-1) >= 0 {
		panic("a claim")
	}
	return m.Store.Claim(ctx, n, wait, only)
}

func (m *mined) Extend(ctx context.Context, l []agent.Lease) ([]agent.Lease, error) {
	if m.extends.Add(-1) >= 0 {
		panic("an extension")
	}
	return m.Store.Extend(ctx, l)
}

func (m *mined) AwaitWord(ctx context.Context, run agent.RunID, after uint64) error {
	if m.await.Load() {
		panic("a look")
	}
	return m.Blobs.AwaitWord(ctx, run, after)
}

func (m *mined) PutBlob(ctx context.Context, run agent.RunID, data []byte) (string, error) {
	if m.keep.Load() {
		panic("an artifact")
	}
	return m.Blobs.PutBlob(ctx, run, data)
}

func (m *mined) Runs(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error) {
	if m.list.CompareAndSwap(true, false) {
		panic("a list")
	}
	return m.Lister.Runs(ctx, f)
}

// Whatever a claim, an extension, a look or a tick of the clock panics about,
// the runs go on.
func TestPanicsBesideTheTurnsCostNothing(t *testing.T) {
	t.Parallel()
	var m *mined
	gate := make(chan struct{})
	tool := newFar(agent.RepeatRead, 0, func(context.Context, int) agent.Result { <-gate; return of(agent.OutcomeOK) })
	tool.spec.Class = agent.ClassRead
	obedient := noter("far", task("a", "far", nil))
	h := open(t, slow{obedient}, func(c *loop.Config) {
		lister, _ := c.Store.(checkins.Lister)
		m = &mined{Store: c.Store, Blobs: c.Blobs, Lister: lister}
		m.await.Store(true)
		m.list.Store(true)
		m.claims.Store(2)
		m.extends.Store(1)
		c.Store, c.Blobs, c.Runs, c.CheckIns = m, m, m, 100*time.Millisecond
	}, tool)
	run := h.start(writesFree())
	h.until(run, "its task is called by the clock", func(r agent.Run) bool { return r.Strands.Of("task/a").CheckIn.Due != "" })
	close(gate)
	if r := h.ended(run); r.Ended.State != agent.RunDone {
		t.Errorf("ended %+v", r.Ended)
	}
	if m.list.Load() || m.claims.Load() > 0 || m.extends.Load() > 0 {
		t.Error("not everything panicked")
	}
}

// slow answers its first question after somebody looked whether it is wanted.
type slow struct{ scripted }

func (s slow) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	if r.Purpose == llm.Intake {
		select {
		case <-time.After(700 * time.Millisecond):
		case <-ctx.Done():
		}
	}
	return s.scripted.Complete(ctx, r)
}

// A panic beside the tool, in one of several calls at once, pauses its run with
// the reason; other runs go on.
func TestAPanicInACallPausesItsRun(t *testing.T) {
	t.Parallel()
	var m *mined
	tool := newFar(agent.RepeatRead, 0, func(context.Context, int) agent.Result {
		return agent.Result{State: agent.OutcomeOK, Text: strings.Repeat("long ", 10_000), Trust: agent.Trusted}
	})
	tool.spec.Class = agent.ClassRead
	obedient := noter("far", task("a", "far", nil))
	h := open(t, scripted(func(r llm.Request) llm.Message {
		answer := obedient(r)
		if r.Purpose == llm.Work && turns(r) == 0 {
			other := call("far", map[string]any{"text": "another"}).Calls[0]
			other.ID = "call_2"
			answer.Calls = append(answer.Calls, other)
		}
		return answer
	}), func(c *loop.Config) {
		m = &mined{Blobs: c.Blobs}
		m.keep.Store(true)
		c.Blobs = m
	}, tool)
	poisoned := h.start(writesFree())
	r := h.until(poisoned, "it is paused", func(r agent.Run) bool { return r.Paused != "" })
	if !strings.Contains(r.Paused, "an internal error: an artifact") {
		t.Errorf("paused for %q", r.Paused)
	}
	m.keep.Store(false)
	if r := h.ended(h.start(writesFree())); r.Ended.State != agent.RunDone {
		t.Errorf("the other run ended %+v", r.Ended)
	}
}

// A tool that takes no notice of the end is not waited for without bound: the
// process ends, and says whose effects are to be looked for.
func TestTheEndDoesNotWaitForAToolThatIgnoresIt(t *testing.T) {
	t.Parallel()
	at, open := make(chan struct{}), make(chan struct{})
	tool := newFar(agent.RepeatOnce, 0, func(context.Context, int) agent.Result {
		close(at)
		<-open
		return of(agent.OutcomeOK)
	})
	store, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	box, err := tools.New(tool)
	if err != nil {
		t.Fatal(err)
	}
	l, err := loop.New(loop.Config{Store: store, Blobs: store, Model: noter("far", task("a", "far", nil)), Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), ModelName: "test", Grace: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() { over <- l.Run(ctx) }()
	h := &house{t: t, store: store, desk: &runs.Client{Journals: store}}
	run := h.start(writesFree())
	<-at
	began := time.Now()
	cancel()
	err = <-over
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the end took %s", took)
	}
	if !errors.Is(err, loop.ErrStuck) || !strings.Contains(err.Error(), string(run)+"/task/a") {
		t.Errorf("ended with %v", err)
	}
	close(open)
	if leases, err := store.Claim(t.Context(), 1, time.Minute, run); err != nil || len(leases) != 1 {
		t.Errorf("the strand is not handed back: %v, %v", leases, err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}
