package redis_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// Model calls take seconds, thousands of them at once: what they wait for may
// not cost the server a write each.
func TestAwaitingAWordWritesNothing(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, redis.Config{URL: srv.URL, Lease: time.Minute})
	list := startRuns(t, s, 20)
	before := writes(t, srv)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	var all sync.WaitGroup
	for _, run := range list {
		all.Go(func() {
			if err := s.AwaitWord(ctx, run, 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("awaited %v, want the context's error", err)
			}
		})
	}
	all.Wait()
	if after := writes(t, srv); after != before {
		t.Errorf("the server's counts of what may write went\nfrom %s\nto   %s", before, after)
	}
}

// writes is the server's count of calls that may write.
func writes(t *testing.T, srv *redistest.Server) string {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer client.Close()
	info, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(info) {
		name, counts, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":")
		switch name {
		case "eval", "evalsha", "hset", "set", "zadd", "publish", "rpush":
			calls, _, _ := strings.Cut(counts, ",")
			list = append(list, name+" "+calls)
		}
	}
	return strings.Join(list, " ")
}
