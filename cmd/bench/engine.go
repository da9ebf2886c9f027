package main

// This file works a load of runs with the real loop and measures the processor
// time, wall time and memory of this process. Benches compare these costs with
// a bare loop or with other loads.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
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
	workers     int  // of each replica
	tasks       int  // side by side, and one more behind them; 0: one task
	replicas    int  // each with a store's handle and folds of its own; 0: one
	embedded    bool // on SQLite, else on Redis
	whole       bool // all tools of the product are offered, else note alone
	// watch, where set, sees every answer that the model gives.
	watch func()
}

// calls is how many model calls the load makes: intake and report, and for each
// task one a tool call, finish and judge.
func (l load) calls() int {
	tasks := 1
	if l.tasks > 0 {
		tasks = l.tasks + 1
	}
	return l.runs * (2 + tasks*(l.steps+2))
}

// goal is what the scripted model of this program (child.go) reads.
func (l load) goal(run int) string {
	verb := "note it all"
	if l.whole {
		verb = "calculate it all"
	}
	return fmt.Sprintf("%s, run %d, steps=%d, tasks=%d", verb, run, l.steps, l.tasks)
}

// box is what tools the load's runs have.
func (l load) box(e *environment) (loop.Toolbox, error) {
	if !l.whole {
		return tools.New(note{})
	}
	return kit.NewTools(config.Config{Workspace: e.dir, DataDir: e.dir})
}

// open opens the load's store.
func (l load) open(ctx context.Context, e *environment) (store, error) {
	if l.embedded {
		return sqlite.Open(ctx, sqlite.Config{Dir: filepath.Join(e.dir, "engine")}, sqlite.Worker)
	}
	return redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second})
}

// cost is what a load took.
type cost struct {
	cpu, wall time.Duration
	memory    memory // when the most was resident; that is above the start
	ended     map[agent.RunState]int
}

// watched is a model whose answers somebody counts.
type watched struct {
	llm.Model
	seen func()
}

func (w watched) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	resp, err := w.Model.Complete(ctx, r)
	w.seen()
	return resp, err
}

// replica is one process's part of the engine.
type replica struct {
	store store
	loop  *loop.Loop
	close func()
}

func newReplica(ctx context.Context, e *environment, model string, l load) (*replica, error) {
	s, err := l.open(ctx, e)
	if err != nil {
		return nil, err
	}
	client := openai.New(openai.Config{BaseURL: model, Stream: l.stream, Timeout: time.Minute})
	r := &replica{store: s, close: func() { client.Close(); _ = s.Close() }} // what it wrote was committed
	box, err := l.box(e)
	if err != nil {
		r.close()
		return nil, err
	}
	var m llm.Model = client
	if l.watch != nil {
		m = watched{client, l.watch}
	}
	r.loop, err = loop.New(loop.Config{Store: s, Blobs: s, Model: m, Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})), ModelName: "bench", Workers: l.workers,
		Patience: limit.Patience{Wait: time.Minute, Longest: time.Second}})
	if err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// engine works the load durably and measures this process alone.
func engine(ctx context.Context, e *environment, model string, l load) (cost, error) {
	var all []*replica
	defer func() {
		for _, r := range all {
			r.close()
		}
	}()
	for range max(l.replicas, 1) {
		r, err := newReplica(ctx, e, model, l)
		if err != nil {
			return cost{}, err
		}
		all = append(all, r)
	}
	s := all[0].store
	desk := &runs.Client{Journals: s}
	runs := make([]agent.RunID, l.runs)
	for i := range runs {
		var err error
		runs[i], err = desk.Start(ctx, agent.RunStarted{Goal: l.goal(i), Requester: "terminal", PlanApproval: agent.ApprovePlanNever, Slots: max(l.tasks, 4)})
		if err != nil {
			return cost{}, err
		}
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	var done sync.WaitGroup
	profiled, err := e.profile(l)
	if err != nil {
		return cost{}, err
	}
	m := measure()
	errs := make([]error, len(all)+2)
	for i, r := range all {
		done.Go(func() { errs[i] = r.loop.Run(working) })
	}
	errs[len(all)] = await(ctx, s)
	c := m.stop()
	errs[len(all)+1] = profiled()
	stop()
	done.Wait()
	if err := errors.Join(errs...); err != nil {
		return c, err
	}
	c.ended, err = states(ctx, s, runs)
	if !l.embedded {
		err = errors.Join(err, wipe(ctx, e))
	}
	return c, err
}

// await waits until no run lives. It looks at the index only, so that watching
// costs the measured process next to nothing.
func await(ctx context.Context, s store) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		live, err := s.Runs(ctx, agent.RunFilter{Live: true, Most: 1})
		if err != nil || len(live) == 0 {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("run %s has not ended: %w", live[0].Run, ctx.Err())
		}
	}
}

// states counts how the runs ended.
func states(ctx context.Context, s store, runs []agent.RunID) (map[agent.RunState]int, error) {
	ended := map[agent.RunState]int{}
	for _, run := range runs {
		events, err := s.Read(ctx, run, 0)
		if err != nil {
			return nil, err
		}
		if end, is := events[len(events)-1].Body.(agent.RunEnded); is {
			ended[end.State]++
		}
	}
	return ended, nil
}
