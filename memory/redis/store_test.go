package redis_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// A pool of the library whose server was away probes it once a second and ends
// with its next probe after it was closed: that goroutine is no leak of the store.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}

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
	t.Run("single", func(t *testing.T) {
		srv := redistest.Start(t)
		conform(t, srv.URL, func(string) *redistest.Server { return srv }, func() {
			if reply, err := srv.Ask("FLUSHALL"); err != nil || reply != "+OK" {
				t.Fatalf("empty the server: %q, %v", reply, err)
			}
		})
	})
	t.Run("cluster", func(t *testing.T) {
		c := redistest.StartCluster(t)
		conform(t, c.URL, c.Master, c.Empty)
	})
}

// conform runs the suite of every store against servers that are emptied before
// each of its tests; owner is the server that has a key.
func conform(t *testing.T, url string, owner func(key string) *redistest.Server, empty func()) {
	t.Helper()
	storetest.Run(t, func(t *testing.T, lease time.Duration) storetest.Stores {
		empty()
		c := redis.Config{URL: url, Lease: lease, Shards: shards}
		first := open(t, c)
		return storetest.Stores{
			Store: first, Replicas: true,
			Beside: func(t *testing.T) storetest.Store { return open(t, c) },
			// The end of a process is no event for Redis: the old handle just stops.
			Reopen: func(t *testing.T) storetest.Store { return open(t, c) },
			Tamper: func(t *testing.T, run agent.RunID, seq uint64, kind agent.Kind, version int, body string) {
				key := keyOf("journal", run)
				line := fmt.Sprintf(`{"seq":%d,"at":1,"strand":"main","kind":%q,"v":%d,"body":%s}`, seq, kind, version, body)
				if _, err := owner(key).Query("LSET", key, int64(seq)-1, line); err != nil {
					t.Fatal(err)
				}
			},
			Needs: func(t *testing.T, run agent.RunID, generation int) int {
				return needs(t, owner(keyOf("run", run)), run, generation)
			},
		}
	})
}

// keyOf is a key of a run, as keys.go documents it.
func keyOf(what string, run agent.RunID) string {
	return fmt.Sprintf("deckhand:{%d}:%s:%s", shardOf(run), what, run)
}

// needs sets the generation that a run needs, and returns what it was.
func needs(t *testing.T, srv *redistest.Server, run agent.RunID, generation int) int {
	t.Helper()
	before, err := srv.Query("HGET", keyOf("run", run), "needs")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := srv.Query("HSET", keyOf("run", run), "needs", generation); err != nil {
		t.Fatal(err)
	}
	text, _ := before.(string)
	n, _ := strconv.Atoi(text) // "" is none
	return n
}
