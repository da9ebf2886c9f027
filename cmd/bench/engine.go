package main

// This file works a load of runs with the real loop on Redis and measures the
// processor time, wall time and memory of this process. Benches compare these
// costs with a bare loop or with other loads.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// note is a tool that costs nothing.
type note struct{}

func (note) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: "note", Description: "Notes a text.", Class: agent.ClassRead, Repeat: agent.RepeatRead,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`)}
}

func (note) Run(_ context.Context, c agent.Call) agent.Result {
	return agent.Result{State: agent.OutcomeOK, Text: "noted " + string(c.Effect), Trust: agent.Trusted}
}

// load is a number of runs of a number of tool calls each.
type load struct {
	runs, steps int
	stream      bool
	workers     int
}

// calls is how many model calls the load makes: intake, one a tool call,
// finish, judge, report.
func (l load) calls() int { return l.runs * (l.steps + 4) }

// cost is what a load took.
type cost struct {
	cpu, wall time.Duration
	memory    uint64 // highest resident memory above the start, bytes
	ended     map[agent.RunState]int
}

// engine works the load durably on Redis and measures this process alone.
func engine(ctx context.Context, e *environment, model string, l load) (cost, error) {
	store, err := redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second})
	if err != nil {
		return cost{}, err
	}
	defer store.Close()
	box, err := tools.New(note{})
	if err != nil {
		return cost{}, err
	}
	client := openai.New(openai.Config{BaseURL: model, Stream: l.stream, Timeout: time.Minute})
	defer client.Close()
	lp, err := loop.New(loop.Config{Store: store, Blobs: store, Model: client, Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})), ModelName: "bench", Workers: l.workers,
		Patience: limit.Patience{Wait: time.Minute, Longest: time.Second}})
	if err != nil {
		return cost{}, err
	}
	desk := &runs.Client{Journals: store}
	runs := make([]agent.RunID, l.runs)
	for i := range runs {
		runs[i], err = desk.Start(ctx, agent.RunStarted{Goal: fmt.Sprintf("note it all, run %d, steps=%d", i, l.steps), Requester: "terminal",
			PlanApproval: agent.ApprovePlanNever, Slots: 4})
		if err != nil {
			return cost{}, err
		}
	}
	working, stop := context.WithCancel(ctx)
	var done sync.WaitGroup
	m := measure()
	done.Go(func() { err = lp.Run(working) })
	waitErr := await(ctx, store, l.runs)
	c := m.stop()
	stop()
	done.Wait()
	if err := errors.Join(waitErr, err); err != nil {
		return c, err
	}
	c.ended, err = states(ctx, store, runs)
	return c, errors.Join(err, wipe(ctx, e))
}

// await waits until every run has ended. It looks at the index only, so that
// watching costs the measured process next to nothing.
func await(ctx context.Context, store *redis.Store, runs int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		list, err := store.Runs(ctx, agent.RunFilter{})
		if err != nil {
			return err
		}
		ended := 0
		for _, r := range list {
			if !r.Ended.IsZero() {
				ended++
			}
		}
		if ended >= runs {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d runs ended: %w", ended, runs, ctx.Err())
		}
	}
}

// states counts how the runs ended.
func states(ctx context.Context, store *redis.Store, runs []agent.RunID) (map[agent.RunState]int, error) {
	ended := map[agent.RunState]int{}
	for _, run := range runs {
		events, err := store.Read(ctx, run, 0)
		if err != nil {
			return nil, err
		}
		if end, is := events[len(events)-1].Body.(agent.RunEnded); is {
			ended[end.State]++
		}
	}
	return ended, nil
}

// meter measures this process between measure and stop.
type meter struct {
	began  time.Time
	before time.Duration
	base   uint64
	quit   chan struct{}
	peak   chan uint64
}

func measure() *meter {
	m := &meter{began: time.Now(), before: cpu(), base: resident(os.Getpid()), quit: make(chan struct{}), peak: make(chan uint64)}
	go func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		peak := m.base
		for {
			select {
			case <-tick.C:
				peak = max(peak, resident(os.Getpid()))
			case <-m.quit:
				m.peak <- peak
				return
			}
		}
	}()
	return m
}

func (m *meter) stop() cost {
	c := cost{cpu: cpu() - m.before, wall: time.Since(m.began)}
	close(m.quit)
	c.memory = <-m.peak - m.base
	return c
}

// cpu is the processor time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
