package main

// This file measures one tick of the check-ins' clock over 10,000 parked runs
// on both stores. Its model fails when asked, which proves that waiting runs
// cost no model calls.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// mute is a model that nobody may ask.
type mute struct{}

func (mute) Complete(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{}, errors.New("a check-in of a parked run asked the model")
}

// benchCheckIn measures a tick of the check-ins' clock over parked runs.
func benchCheckIn(ctx context.Context, e *environment) ([]row, error) {
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	var rows []row
	for _, on := range []struct {
		name string
		open func() (store, error)
	}{
		{"SQLite", func() (store, error) {
			return sqlite.Open(ctx, sqlite.Config{Dir: filepath.Join(e.dir, "check-in")}, sqlite.Worker)
		}},
		{"Redis", func() (store, error) { return redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second}) }},
	} {
		s, err := on.open()
		if err != nil {
			return nil, err
		}
		r, err := tick(ctx, on.name, s)
		if err := errors.Join(err, s.Close()); err != nil {
			return nil, err
		}
		rows = append(rows, r)
	}
	return rows, wipe(ctx, e)
}

func tick(ctx context.Context, name string, s store) (row, error) {
	if err := park(ctx, s); err != nil {
		return row{}, err
	}
	box, err := tools.New()
	if err != nil {
		return row{}, err
	}
	l, err := loop.New(loop.Config{Store: s, Blobs: s, Model: mute{}, Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.DiscardHandler), Runs: s, CheckIns: 10 * time.Minute})
	if err != nil {
		return row{}, err
	}
	began := time.Now()
	called, err := l.Tick(ctx, began)
	took := time.Since(began)
	if err == nil && called != 0 {
		err = fmt.Errorf("a tick called %d check-ins of parked runs", called)
	}
	return row{name: name + ": a tick of the check-ins over 10,000 parked runs", value: took.Round(time.Millisecond).String(),
		aim: "≤ 1 s", reached: took <= time.Second}, err
}
