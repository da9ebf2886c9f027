package main

// This file measures the stores by themselves: claims and commits a second,
// and the delay until idle workers get due work. Redis is compared with a raw
// stream, SQLite with the disk's syncs.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// workers is how many goroutines claim and commit, and window how long each
// throughput is measured.
const (
	workers = 32
	window  = 3 * time.Second
)

// store is what both stores are.
type store interface {
	agent.Store
	agent.Archive
	Close() error
}

func said(text string) agent.Event {
	return agent.Event{Strand: agent.Main, Body: agent.PersonSaid{By: "terminal", Text: text, Trusted: true}}
}

// started begins a run with the goal.
func started(goal string) agent.Event {
	return agent.Event{Strand: agent.Main, Body: agent.RunStarted{Goal: goal, Requester: "terminal"}}
}

// fill opens runs that are due at once.
func fill(ctx context.Context, s store, n int) error {
	for range n {
		_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: agent.RunID(agent.NewID()), Events: []agent.Event{started("begin")},
			Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}})
		if err != nil {
			return err
		}
	}
	return nil
}

// throughput claims and commits with all workers for the window; every commit
// releases its strand, due at once again.
func throughput(ctx context.Context, s store) (perSecond float64, p99 time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, window)
	defer cancel()
	var commits atomic.Int64
	var mu sync.Mutex
	var all []time.Duration
	var failed error
	began := time.Now()
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			var mine []time.Duration
			for ctx.Err() == nil {
				took, n, err := turn(ctx, s)
				if err != nil && ctx.Err() == nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
				commits.Add(int64(n))
				mine = append(mine, took...)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	done.Wait()
	return float64(commits.Load()) / time.Since(began).Seconds(), quantile(all, 0.99), failed
}

func turn(ctx context.Context, s store) (took []time.Duration, n int, err error) {
	leases, err := s.Claim(ctx, 1, time.Second, "")
	if err != nil {
		return nil, 0, err
	}
	for _, l := range leases {
		began := time.Now()
		_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: l.Run, Lease: &l, Seen: agent.SeenAll,
			Events: []agent.Event{said("a step of the run with some text in it")},
			Wake:   map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}})
		if err != nil {
			return took, n, err
		}
		took, n = append(took, time.Since(began)), n+1
	}
	return took, n, nil
}

func quantile(all []time.Duration, q float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

// handOff measures how long an idle claim takes to get a strand that a commit
// makes due.
func handOff(ctx context.Context, s store) (time.Duration, error) {
	run := agent.RunID(agent.NewID())
	if _, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{started("wait")}}); err != nil {
		return 0, err
	}
	var all []time.Duration
	for i := range 300 {
		got := make(chan time.Time, 1)
		errs := make(chan error, 1)
		waiting := make(chan struct{})
		go func() {
			close(waiting)
			leases, err := s.Claim(ctx, 1, 5*time.Second, "")
			at := time.Now()
			for _, l := range leases {
				_, e := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: l.Run, Lease: &l, Seen: agent.SeenAll,
					Wake: map[agent.StrandID]time.Time{agent.Main: agent.Parked}})
				err = errors.Join(err, e)
			}
			errs <- err
			got <- at
		}()
		<-waiting
		<-time.After(2 * time.Millisecond) // let the claim go to sleep
		began := time.Now()
		_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(strconv.Itoa(i))},
			Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}})
		if err := errors.Join(err, <-errs); err != nil {
			return 0, err
		}
		all = append(all, (<-got).Sub(began))
	}
	return quantile(all, 0.99), nil
}

// pace measures an empty store: the idle hand-off first, then claims and
// commits of all workers at once.
func pace(ctx context.Context, s store) (idle time.Duration, perSecond float64, p99 time.Duration, err error) {
	if idle, err = handOff(ctx, s); err != nil {
		return 0, 0, 0, err
	}
	if err = fill(ctx, s, 512); err != nil {
		return 0, 0, 0, err
	}
	perSecond, p99, err = throughput(ctx, s)
	return idle, perSecond, p99, err
}

func benchRedis(ctx context.Context, e *environment) ([]row, error) {
	raw, err := rawStream(ctx, e)
	if err != nil {
		return nil, err
	}
	s, err := redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	idle, speed, _, err := pace(ctx, s)
	if err != nil {
		return nil, err
	}
	return []row{
		{name: "Redis: claim + commit, 32 workers", value: fmt.Sprintf("%.0f/s", speed), baseline: fmt.Sprintf("%.0f/s XADD+XREADGROUP+XACK", raw),
			ratio: fmt.Sprintf("%.2f×", speed/raw), aim: "≥ 0.6×", reached: speed >= 0.6*raw},
		{name: "Redis: idle hand-off, p99", value: idle.Round(time.Microsecond).String(), aim: "≤ 5 ms", reached: idle <= 5*time.Millisecond},
	}, wipe(ctx, e)
}

// wipe empties the server between benches.
func wipe(ctx context.Context, e *environment) error {
	opts, err := goredis.ParseURL(e.redis.url)
	if err != nil {
		return err
	}
	c := goredis.NewClient(opts)
	defer c.Close()
	return c.FlushAll(ctx).Err()
}

// rawStream is the baseline: the same payload through a stream with a
// consumer group, without any of a store's promises.
func rawStream(ctx context.Context, e *environment) (float64, error) {
	opts, err := goredis.ParseURL(e.redis.url)
	if err != nil {
		return 0, err
	}
	opts.PoolSize = workers
	c := goredis.NewClient(opts)
	defer c.Close()
	if err := c.XGroupCreateMkStream(ctx, "raw", "g", "0").Err(); err != nil {
		return 0, err
	}
	event, err := said("a step of the run with some text in it").MarshalJSON()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	var n atomic.Int64
	var done sync.WaitGroup
	errs := make(chan error, workers)
	for w := range workers {
		done.Go(func() {
			for time.Since(began) < window {
				if err := rawTurn(ctx, c, strconv.Itoa(w), event); err != nil {
					errs <- err
					return
				}
				n.Add(1)
			}
		})
	}
	done.Wait()
	select {
	case err := <-errs:
		return 0, err
	default:
		return float64(n.Load()) / time.Since(began).Seconds(), nil
	}
}

func rawTurn(ctx context.Context, c *goredis.Client, worker string, event []byte) error {
	if err := c.XAdd(ctx, &goredis.XAddArgs{Stream: "raw", Values: map[string]any{"e": event}}).Err(); err != nil {
		return err
	}
	got, err := c.XReadGroup(ctx, &goredis.XReadGroupArgs{Group: "g", Consumer: worker, Streams: []string{"raw", ">"}, Count: 1}).Result()
	if err != nil {
		return err
	}
	return c.XAck(ctx, "raw", "g", got[0].Messages[0].ID).Err()
}

func benchSQLite(ctx context.Context, e *environment) ([]row, error) {
	raw, err := fsyncs(e.dir)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: filepath.Join(e.dir, "sqlite")}, sqlite.Worker)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	idle, speed, p99, err := pace(ctx, s)
	if err != nil {
		return nil, err
	}
	return []row{
		{name: "SQLite: claim + commit, 32 workers", value: fmt.Sprintf("%.0f/s", speed), baseline: fmt.Sprintf("%.0f fsyncs/s", raw),
			ratio: fmt.Sprintf("%.2f×", speed/raw), aim: "≥ 1.5×", reached: speed >= 1.5*raw},
		{name: "SQLite: commit, p99", value: p99.Round(time.Microsecond).String(), aim: "≤ 20 ms", reached: p99 <= 20*time.Millisecond},
		{name: "SQLite: idle hand-off, p99", value: idle.Round(time.Microsecond).String(), aim: "≤ 5 ms", reached: idle <= 5*time.Millisecond},
	}, nil
}

// fsyncs is how often the disk syncs a second, 4 KB at a time.
func fsyncs(dir string) (float64, error) {
	f, err := os.CreateTemp(dir, "fsync")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := make([]byte, 4096)
	began, n := time.Now(), 0
	for ; time.Since(began) < window; n++ {
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
