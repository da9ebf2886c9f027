package main

// This file works a crowd of runs against an endpoint with limits, and through
// an outage of it. The endpoint is in this process: it is counted, not timed.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/limit"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
	"github.com/deckhand-bot/deckhand/agent/llm/openai"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

const (
	limitedRuns = 200
	perMinute   = 600
	// settled is when the burst of the start is over, and the limit is what counts.
	settled = 10 * time.Second
	// outage is how long the endpoint is out of reach.
	outage = 60 * time.Second
)

// limited is an endpoint with limits whose door can be shut.
type limited struct {
	*llmtest.Limited
	addr   string
	server *http.Server
}

func openLimited() (*limited, error) {
	l := &limited{addr: "127.0.0.1:0", Limited: llmtest.NewLimited(llmtest.Limits{Requests: perMinute}, func(r llmtest.Request) llmtest.Reply {
		return llmtest.Slow(answer(r), 300*time.Millisecond)
	})}
	return l, l.open()
}

// open listens, at the same address as before.
func (l *limited) open() error {
	listener, err := net.Listen("tcp", l.addr)
	if err != nil {
		return err
	}
	l.addr = listener.Addr().String()
	l.server = &http.Server{Handler: llmtest.New(l.Script), ReadHeaderTimeout: time.Minute}
	go func() { _ = l.server.Serve(listener) }() // its end is Shutdown's
	return nil
}

// shut answers what is under way and refuses connections from then on.
func (l *limited) shut() error { return l.server.Shutdown(context.Background()) }

// replica is one process's worker.
func (l *limited) replica(ctx context.Context, e *environment) (work func(context.Context) error, closed func(), err error) {
	store, err := redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second})
	if err != nil {
		return nil, nil, err
	}
	box, err := tools.New(note{})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	client := openai.New(openai.Config{BaseURL: "http://" + l.addr + "/v1", Timeout: time.Minute})
	lp, err := loop.New(loop.Config{Store: store, Blobs: store, Model: client, Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.DiscardHandler), ModelName: "bench", Patience: limit.Patience{Wait: time.Hour, Retries: 5, Longest: 10 * time.Second}})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return lp.Run, func() { client.Close(); _ = store.Close() }, nil
}

// limitedLoad is how a crowd met the endpoint.
type limitedLoad struct {
	ended    map[agent.RunState]int
	used     float64 // of the limit, from settled on
	count    llmtest.Count
	answered int // in the journals
}

// crowd works the runs by so many replicas; away, when positive, is when the
// endpoint is shut for the length of an outage.
func (l *limited) crowd(ctx context.Context, e *environment, replicas int, away time.Duration) (load limitedLoad, err error) {
	store, err := redis.Open(ctx, redis.Config{URL: e.redis.url})
	if err != nil {
		return load, err
	}
	defer store.Close()
	desk := &runs.Client{Journals: store}
	list := make([]agent.RunID, limitedRuns)
	for i := range list {
		list[i], err = desk.Start(ctx, agent.RunStarted{Goal: fmt.Sprintf("note it all, run %d, steps=0", i), Requester: "terminal",
			PlanApproval: agent.ApprovePlanNever, Slots: 4})
		if err != nil {
			return load, err
		}
	}
	began, measured, err := l.work(ctx, e, store, replicas, away)
	if err != nil {
		return load, err
	}
	n := 0
	for _, at := range l.Times() {
		if at.After(began.Add(settled)) && at.Before(measured) {
			n++
		}
	}
	load.used = float64(n) / (measured.Sub(began.Add(settled)).Minutes() * perMinute)
	load.count = l.Count()
	if load.answered, err = answersOf(ctx, store, list); err != nil {
		return load, err
	}
	load.ended, err = states(ctx, store, list)
	return load, errors.Join(err, wipe(ctx, e))
}

// work runs the replicas until no run lives, and says between when and when the
// endpoint is watched: away, where it is positive, ends that.
func (l *limited) work(ctx context.Context, e *environment, store *redis.Store, replicas int, away time.Duration) (began, measured time.Time, err error) {
	working, stop := context.WithCancel(ctx)
	defer stop()
	group, working := errgroup.WithContext(working)
	for range replicas {
		work, closed, err := l.replica(ctx, e)
		if err != nil {
			return began, measured, err
		}
		defer closed()
		group.Go(func() error { return work(working) })
	}
	began = time.Now()
	measured = began.Add(settled + 40*time.Second)
	if away > 0 {
		measured = began.Add(away)
		<-time.After(away)
		if err := l.shut(); err != nil {
			return began, measured, err
		}
		<-time.After(outage)
		if err := l.open(); err != nil {
			return began, measured, err
		}
	}
	if err := await(ctx, store); err != nil {
		return began, measured, err
	}
	stop()
	return began, measured, group.Wait()
}

// answersOf counts the answers of the model in the journals.
func answersOf(ctx context.Context, store *redis.Store, list []agent.RunID) (n int, err error) {
	for _, run := range list {
		events, err := store.Read(ctx, run, 0)
		if err != nil {
			return 0, err
		}
		for _, ev := range events {
			if a, is := ev.Body.(agent.ModelAnswered); is && a.Message != nil {
				n++
			}
		}
	}
	return n, nil
}

// benchLimits is how a crowd gets along with a limit, and with an endpoint that
// is out of reach in the middle.
func benchLimits(ctx context.Context, e *environment) ([]row, error) {
	var rows []row
	for _, c := range []struct {
		replicas int
		away     time.Duration
	}{{1, 0}, {3, settled + 20*time.Second}} {
		l, err := openLimited()
		if err != nil {
			return nil, err
		}
		load, err := l.crowd(ctx, e, c.replicas, c.away)
		if err := errors.Join(err, l.shut()); err != nil {
			return nil, err
		}
		rows = append(rows, limitRows(load, c.replicas, c.away > 0)...)
	}
	return rows, nil
}

func limitRows(load limitedLoad, replicas int, away bool) []row {
	name := fmt.Sprintf("limits: %d runs at %d requests a minute, %d replica(s)", limitedRuns, perMinute, replicas)
	failed := limitedRuns - load.ended[agent.RunDone]
	refused := float64(load.count.Limited) / float64(load.count.Answered+load.count.Limited)
	rows := []row{
		{name + ", of the limit used", fmt.Sprintf("%.3f", load.used), "", "", "≥ 0.97", load.used >= 0.97},
		{name + ", answered 429", fmt.Sprintf("%.2f %%", refused*100), "", "", "≤ 0.5 %", refused <= 0.005},
	}
	what := name + ", runs failed"
	if away {
		what = name + fmt.Sprintf(", runs failed with the endpoint away for %s", outage)
		twice := load.count.Answered - load.answered
		rows = append(rows, row{name + ", answers paid twice", strconv.Itoa(twice), "", "", "0", twice == 0})
	}
	return append(rows, row{what, strconv.Itoa(failed), "", "", "0", failed == 0})
}
