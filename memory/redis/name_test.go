package redis_test

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// bare is a client of the server beside the store.
func bare(t *testing.T, srv *redistest.Server) *goredis.Client {
	t.Helper()
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// TestNamesLeaveNothing wants names that were set again and removed to leave
// no entry behind.
func TestNamesLeaveNothing(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL}), bare(t, srv)
	run := begin(t, s)
	for _, value := range []string{"a", "b", "b", string(run)} {
		c := agent.Commit{ID: agent.NewID(), Run: run, Set: map[string]string{"x": value, "y": value}}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if n, err := client.ZCard(t.Context(), "deckhand:names").Result(); err != nil || n != 4 {
			t.Fatalf("two names take %d entries, %v; want 4", n, err)
		}
	}
	if err := s.SetValue(t.Context(), "x", ""); err != nil {
		t.Fatal(err)
	}
	r, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Ends: true})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Expire(t.Context(), r.At.Add(time.Millisecond)); err != nil || n != 1 {
		t.Fatalf("expired %d, %v", n, err)
	}
	if n, err := client.Exists(t.Context(), "deckhand:names").Result(); err != nil || n != 0 {
		t.Fatalf("there are names left (%d, %v)", n, err)
	}
}

func TestPaceExpires(t *testing.T) {
	srv := redistest.Start(t)
	s, client := open(t, redis.Config{URL: srv.URL}), bare(t, srv)
	for _, p := range []agent.Pace{
		{Name: "edits", Every: 30 * time.Millisecond, Burst: 3},
		{Name: "booked", Every: 30 * time.Millisecond, Burst: 1, Book: true},
	} {
		key := "deckhand:{pace/" + p.Name + "}"
		for range 3 {
			if _, err := s.Take(t.Context(), p); err != nil {
				t.Fatal(err)
			}
		}
		left, err := client.PTTL(t.Context(), key).Result()
		if most := 3*p.Every + time.Millisecond; err != nil || left == -1 || left > most {
			t.Fatalf("%s is kept for %v, %v; want %v at most", key, left, err, most)
		}
		for deadline := time.Now().Add(20 * time.Second); ; {
			n, err := client.Exists(t.Context(), key).Result()
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("%s is still there: %v", key, err)
			}
			if n == 0 {
				break
			}
		}
	}
	free := agent.Pace{Name: "free", Burst: 1}
	if wait, err := s.Take(t.Context(), free); err != nil || wait != 0 {
		t.Fatalf("a pace without a time between turns: %v, %v", wait, err)
	}
	if n, err := client.Exists(t.Context(), "deckhand:{pace/free}").Result(); err != nil || n != 0 {
		t.Fatalf("it is remembered (%d, %v)", n, err)
	}
}
