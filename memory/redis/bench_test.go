package redis_test

import (
	"context"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

const workers = 32

// payload is what one step writes, 300 bytes of text.
var payload = strings.Repeat("0123456789", 30)

func said(strand agent.StrandID, text string) agent.Event {
	return agent.Event{Strand: strand, Body: agent.PersonSaid{By: "terminal", Text: text, Trusted: true}}
}

// opens is the event that a run begins with.
func opens() agent.Event {
	return agent.Event{Strand: agent.Main, Body: agent.RunStarted{Goal: "test", Requester: "terminal"}}
}

// each runs f in 32 goroutines until n steps are made, and returns steps a second.
func each(b *testing.B, n int, f func(ctx context.Context, worker int) error) float64 {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	var group sync.WaitGroup
	began := time.Now()
	for w := range workers {
		group.Go(func() {
			for left.Add(-1) >= 0 {
				if err := f(b.Context(), w); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	return float64(n) / time.Since(began).Seconds()
}

// fill opens runs with a main strand that is due.
func fill(b *testing.B, s *redis.Store, runs int) {
	b.Helper()
	for range runs {
		c := agent.Commit{
			ID: agent.NewID(), Run: agent.RunID(agent.NewID()),
			Events: []agent.Event{opens(), said(agent.Main, payload)}, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
		}
		if _, err := s.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// claimCommit is one step: claim a strand, commit an event, leave it due.
func claimCommit(s *redis.Store) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		leases, err := s.Claim(ctx, 1, time.Minute, "")
		if err != nil {
			return err
		}
		for _, l := range leases {
			_, err := s.Commit(ctx, agent.Commit{
				ID: agent.NewID(), Run: l.Run, Lease: &l, Seen: agent.SeenAll,
				Events: []agent.Event{said(l.Strand, payload)}, Wake: map[agent.StrandID]time.Time{l.Strand: agent.AtOnce},
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// rawStream is the same step on a bare stream: add an entry, read one with a
// consumer group, acknowledge it.
func rawStream(b *testing.B, client *goredis.Client) func(context.Context, int) error {
	b.Helper()
	stream := "stream:" + agent.NewID()
	if err := client.XGroupCreateMkStream(b.Context(), stream, "g", "0").Err(); err != nil {
		b.Fatal(err)
	}
	return func(ctx context.Context, worker int) error {
		if err := client.XAdd(ctx, &goredis.XAddArgs{Stream: stream, Values: []any{"body", payload}}).Err(); err != nil {
			return err
		}
		got, err := client.XReadGroup(ctx, &goredis.XReadGroupArgs{
			Group: "g", Consumer: strconv.Itoa(worker), Streams: []string{stream, ">"}, Count: 1, Block: time.Minute,
		}).Result()
		if err != nil {
			return err
		}
		return client.XAck(ctx, stream, "g", got[0].Messages[0].ID).Err()
	}
}

func rawClient(b *testing.B, srv *redistest.Server) *goredis.Client {
	b.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr, PoolSize: workers})
	b.Cleanup(func() { _ = client.Close() })
	return client
}

func BenchmarkClaimCommit(b *testing.B) {
	srv := redistest.Start(b)
	s := open(b, redis.Config{URL: srv.URL, Lease: time.Minute})
	fill(b, s, 4*workers)
	b.ResetTimer()
	b.ReportMetric(each(b, b.N, claimCommit(s)), "steps/s")
}

func BenchmarkRawStream(b *testing.B) {
	srv := redistest.Start(b)
	step := rawStream(b, rawClient(b, srv))
	b.ResetTimer()
	b.ReportMetric(each(b, b.N, step), "steps/s")
}

// BenchmarkRatio makes both kinds of steps in turn on one server and reports
// the store's rate over the bare stream's.
func BenchmarkRatio(b *testing.B) {
	srv := redistest.Start(b)
	s := open(b, redis.Config{URL: srv.URL, Lease: time.Minute})
	fill(b, s, 4*workers)
	ours, theirs := claimCommit(s), rawStream(b, rawClient(b, srv))
	const round = 2000
	var store, stream float64
	for range b.N {
		store += 1 / each(b, round, ours)
		stream += 1 / each(b, round, theirs)
	}
	b.ReportMetric(stream/store, "ratio")
	b.ReportMetric(float64(b.N)/store, "store-steps/s")
	b.ReportMetric(float64(b.N)/stream, "stream-steps/s")
}
