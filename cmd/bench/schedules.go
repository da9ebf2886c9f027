package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	botrecurring "github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
)

// What is simulated: so many replicas and schedules, over so many days.
const (
	replicas  = 5
	recurring = 30
	days      = 40
)

// benchSchedules has the clocks of five replicas serve the same ticks, each
// replica with its own connections. The time is simulated: the days follow each
// other at once, and lie ahead so that reports have no old runs to tell of.
func benchSchedules(ctx context.Context, e *environment) ([]row, error) {
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	raw, err := rawTicks(ctx, e)
	if err != nil {
		return nil, err
	}
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	var clocks []*botrecurring.Clock
	var stores []*redis.Store
	defer func() {
		for _, s := range stores {
			_ = s.Close() // the bench is over
		}
	}()
	for range replicas {
		s, err := redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second})
		if err != nil {
			return nil, err
		}
		stores = append(stores, s)
		clocks = append(clocks, botrecurring.NewClock(botrecurring.ClockConfig{
			Reporter:  botrecurring.Reporter{Runs: &runs.Client{Journals: s}, Log: slog.New(slog.DiscardHandler)},
			Recurring: botrecurring.Schedules{Fixed: daily(), Store: s},
		}))
	}
	took := simulate(ctx, clocks)
	served, twice, err := ticksOf(ctx, stores[0])
	if err != nil {
		return nil, err
	}
	speed := float64(served) / took.Seconds()
	missing := recurring*days - (served - twice)
	return []row{{
		name:     fmt.Sprintf("Redis: ticks of %d schedules on %d replicas", recurring, replicas),
		value:    fmt.Sprintf("%.0f/s, %d twice, %d missing", speed, twice, missing),
		baseline: fmt.Sprintf("%.0f/s %d×SET NX + RPUSH", raw, replicas), ratio: fmt.Sprintf("%.2f×", speed/raw),
		aim: "≥ 100/s, 0 twice", reached: speed >= 100 && twice == 0 && missing == 0,
	}}, wipe(ctx, e)
}

// daily are schedules that all come at nine.
func daily() []botrecurring.Schedule {
	list := make([]botrecurring.Schedule, recurring)
	for i := range list {
		list[i] = botrecurring.Schedule{Name: fmt.Sprintf("daily-%d", i), Report: botrecurring.OfChannel, When: "0 9 * * *", Zone: "UTC",
			To: fmt.Sprintf("slack:T1:C%d", i), Always: true}
	}
	return list
}

// simulate lets the days pass; every clock is asked at once.
func simulate(ctx context.Context, clocks []*botrecurring.Clock) time.Duration {
	at := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 60)
	for _, c := range clocks {
		c.Serve(ctx, at)
	}
	began := time.Now()
	for day := range days {
		var all sync.WaitGroup
		for _, c := range clocks {
			all.Go(func() { c.Serve(ctx, at.AddDate(0, 0, day).Add(9*time.Hour)) })
		}
		all.Wait()
	}
	return time.Since(began)
}

// ticksOf are the runs that ticks became, and how many of them are one too many.
func ticksOf(ctx context.Context, s store) (served, twice int, err error) {
	infos, err := s.Runs(ctx, agent.RunFilter{})
	if err != nil {
		return 0, 0, err
	}
	seen := map[string]bool{}
	for _, info := range infos {
		events, err := s.Read(ctx, info.Run, 0)
		if err != nil {
			return 0, 0, err
		}
		b, is := events[0].Body.(agent.RunStarted)
		if !is || b.Tick == nil {
			return 0, 0, errors.New("a run that no tick began")
		}
		key := fmt.Sprint(b.Tick.Schedule, b.Tick.At.Unix())
		if served++; seen[key] {
			twice++
		}
		seen[key] = true
	}
	return served, twice, nil
}

// rawTicks is the baseline: as many clients ask for a key of each tick, and who
// gets it writes one entry, without any of a clock's promises.
func rawTicks(ctx context.Context, e *environment) (perSecond float64, err error) {
	opts, err := goredis.ParseURL(e.redis.url)
	if err != nil {
		return 0, err
	}
	event, err := said("a headline and the body of a report under it").MarshalJSON()
	if err != nil {
		return 0, err
	}
	began := time.Now()
	var group errgroup.Group
	for range replicas {
		group.Go(func() error {
			c := goredis.NewClient(opts)
			defer c.Close()
			for tick := range recurring * days {
				won, err := c.SetNX(ctx, fmt.Sprintf("tick/%d", tick), "1", time.Hour).Result()
				if err != nil {
					return err
				}
				if !won {
					continue
				}
				if err := c.RPush(ctx, fmt.Sprintf("run/%d", tick), event).Err(); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	return recurring * days / time.Since(began).Seconds(), err
}
