package redis_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store and closes it with the test.
func open(t testing.TB, c redis.Config) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	for _, kind := range []struct {
		name, scheme string
		start        func(testing.TB) *redistest.Server
	}{
		{"single", "redis://", func(t testing.TB) *redistest.Server { return redistest.Start(t) }},
		{"cluster", "redis+cluster://", redistest.StartOneNodeCluster},
	} {
		t.Run(kind.name, func(t *testing.T) {
			srv := kind.start(t)
			storetest.Run(t, func(t *testing.T, lease time.Duration) storetest.Stores {
				if reply, err := srv.Ask("FLUSHALL"); err != nil || reply != "+OK" {
					t.Fatalf("empty the server: %q, %v", reply, err)
				}
				return stores(t, redis.Config{URL: kind.scheme + srv.Addr, Lease: lease}, srv)
			})
		})
	}
}

func stores(t *testing.T, c redis.Config, srv *redistest.Server) storetest.Stores {
	t.Helper()
	first := open(t, c)
	return storetest.Stores{
		Store: first, Replicas: true,
		Beside: func(t *testing.T) storetest.Store { return open(t, c) },
		// The end of a process is no event for Redis: the old handle just stops.
		Reopen: func(t *testing.T) storetest.Store { return open(t, c) },
		Tamper: func(t *testing.T, run agent.RunID, seq uint64, kind agent.Kind, version int, body string) {
			tamper(t, srv, run, seq, fmt.Sprintf(`{"seq":%d,"at":1,"strand":"main","kind":%q,"v":%d,"body":%s}`, seq, kind, version, body))
		},
		Needs: func(t *testing.T, run agent.RunID, generation int) int { return needs(t, srv, run, generation) },
	}
}

// needs sets the generation that a run needs, and returns what it was.
func needs(t *testing.T, srv *redistest.Server, run agent.RunID, generation int) int {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	found, err := client.Keys(t.Context(), "deckhand:{*}:run:"+string(run)).Result()
	if err != nil || len(found) != 1 {
		t.Fatalf("run %s: keys %q, %v", run, found, err)
	}
	before, err := client.HGet(t.Context(), found[0], "needs").Int()
	if err != nil && !errors.Is(err, goredis.Nil) {
		t.Fatal(err)
	}
	if err := client.HSet(t.Context(), found[0], "needs", generation).Err(); err != nil {
		t.Fatal(err)
	}
	return before
}

// tamper replaces an entry of a journal, which it finds by the documented key.
func tamper(t *testing.T, srv *redistest.Server, run agent.RunID, seq uint64, line string) {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	found, err := client.Keys(t.Context(), "deckhand:{*}:journal:"+string(run)).Result()
	if err != nil || len(found) != 1 {
		t.Fatalf("journal of %s: keys %q, %v", run, found, err)
	}
	if err := client.LSet(t.Context(), found[0], int64(seq)-1, line).Err(); err != nil {
		t.Fatal(err)
	}
}
