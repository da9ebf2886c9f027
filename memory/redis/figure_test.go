package redis_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// BenchmarkIdleHandoff measures from the sending of a commit in one process to
// the lease in another that is idle with 32 waiting workers.
func BenchmarkIdleHandoff(b *testing.B) {
	srv := redistest.Start(b)
	config := redis.Config{URL: srv.URL, Lease: time.Minute}
	desk, crew := open(b, config), open(b, config)
	ctx, stop := context.WithCancel(b.Context())
	got := make(chan agent.Lease)
	gone := make(chan struct{}, workers)
	for range workers {
		go func() {
			defer func() { gone <- struct{}{} }()
			for ctx.Err() == nil {
				leases, err := crew.Claim(ctx, 1, time.Minute, "")
				if err != nil && ctx.Err() == nil {
					b.Error(err)
				}
				for _, l := range leases {
					got <- l
				}
			}
		}()
	}
	var took []time.Duration
	b.ResetTimer()
	for range b.N {
		<-time.After(2 * time.Millisecond) // the crew falls idle
		began := time.Now()
		fill(b, desk, 1)
		<-got
		took = append(took, time.Since(began))
	}
	b.StopTimer()
	stop()
	for range workers {
		<-gone
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkParked parks 10,000 runs of 6 strands and 20 events, 8 KB of content
// each, and reports the server's memory over the content, and how long a new
// process takes to open the store and list them.
func BenchmarkParked(b *testing.B) {
	const runs, strands, events, content = 10_000, 6, 20, 8 << 10
	text := strings.Repeat("0123456789abcdef", content/events/16)
	for range b.N {
		srv := redistest.Start(b)
		s := open(b, redis.Config{URL: srv.URL, Lease: time.Minute})
		before := usedMemory(b, srv)
		each(b, runs, func(ctx context.Context, _ int) error { return park(ctx, s, strands, events, text) })
		used := usedMemory(b, srv) - before
		began := time.Now()
		other := open(b, redis.Config{URL: srv.URL, Lease: time.Minute})
		all, err := other.Runs(b.Context(), agent.RunFilter{})
		if err != nil || len(all) != runs {
			b.Fatalf("%d runs, %v; want %d", len(all), err, runs)
		}
		b.ReportMetric(time.Since(began).Seconds()*1000, "open-ms")
		b.ReportMetric(listing(b, other), "list-ms")
		for _, r := range all {
			c := agent.Commit{ID: agent.NewID(), Run: r.Run, Wake: map[agent.StrandID]time.Time{agent.Main: time.Now().Add(time.Hour)}}
			if _, err := s.Commit(b.Context(), c); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(listing(b, other), "list-timers-ms")
		b.ReportMetric(used/(runs*float64(len(text)*events)), "memory/content")
		b.ReportMetric(used/runs/1024, "KB/run")
	}
}

// listing is how many milliseconds it takes to list the runs, the middle of five.
func listing(b *testing.B, s *redis.Store) float64 {
	b.Helper()
	var took []time.Duration
	for range 5 {
		began := time.Now()
		if _, err := s.Runs(b.Context(), agent.RunFilter{}); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2].Seconds() * 1000
}

// park opens a run with a first fact, works each strand once and parks it.
func park(ctx context.Context, s *redis.Store, strands, events int, text string) error {
	run := agent.RunID(agent.NewID())
	wakes := map[agent.StrandID]time.Time{agent.Main: agent.AtOnce, agent.Voice: agent.AtOnce}
	for i := len(wakes); i < strands; i++ {
		wakes[agent.TaskStrand(agent.TaskID(fmt.Sprint("step-", i)))] = agent.AtOnce
	}
	first := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: wakes}
	if _, err := s.Commit(ctx, first); err != nil {
		return err
	}
	leases, err := s.Claim(ctx, strands, 0, run)
	if err != nil {
		return err
	}
	if len(leases) != strands {
		return fmt.Errorf("claimed %d strands of run %s, want %d", len(leases), run, strands)
	}
	written := 1
	for i, l := range leases {
		c := agent.Commit{ID: agent.NewID(), Run: run, Lease: &l, Seen: agent.SeenAll, Wake: map[agent.StrandID]time.Time{l.Strand: agent.Parked}}
		for ; written < 1+(events-1)*(i+1)/strands; written++ {
			c.Events = append(c.Events, said(l.Strand, text))
		}
		if _, err := s.Commit(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func usedMemory(b *testing.B, srv *redistest.Server) float64 {
	b.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	text, err := client.Info(b.Context(), "memory").Result()
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "used_memory:"); ok {
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatal("the server does not say how much memory it uses")
	return 0
}
