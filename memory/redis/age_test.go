package redis_test

import (
	"fmt"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// TestWhatIsNoRunsOwnAges wants once-keys and counters to go by themselves, and
// what an older build wrote without an end to get one.
func TestWhatIsNoRunsOwnAges(t *testing.T) {
	for _, kind := range []struct {
		name  string
		start func(t *testing.T) (url, addr string)
	}{
		{"single", func(t *testing.T) (string, string) { s := redistest.Start(t); return s.URL, s.Addr }},
		{"cluster", func(t *testing.T) (string, string) {
			s := redistest.StartOneNodeCluster(t)
			return "redis+cluster://" + s.Addr, s.Addr
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			url, addr := kind.start(t)
			s := open(t, redis.Config{URL: url})
			client := goredis.NewClient(&goredis.Options{Addr: addr})
			defer func() { _ = client.Close() }()
			set := func(key string) {
				t.Helper()
				if err := client.Set(t.Context(), key, "1", 0).Err(); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 2500 { // more than one page of a scan
				set(fmt.Sprint("deckhand:blob:", i))
			}
			set("deckhand:{counter/month/2026-01/usd}")
			set("deckhand:{0}:foreign")
			run := startRuns(t, s, 1)[0]
			_, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Once: []string{"message"}, Spend: []agent.Spend{
				{Counter: "month/2026-02/usd", Nano: 5}, {Counter: agent.CounterOf(agent.RunCounter(run), "usd"), Nano: 5},
			}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.PutBlob(t.Context(), run, []byte("artifact")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Expire(t.Context(), time.Now().Add(-time.Hour)); err != nil {
				t.Fatal(err)
			}
			const day = 24 * time.Hour
			old := time.Hour
			if kind.name == "cluster" { // where no older build works beside this one
				old = -2
			}
			for key, want := range map[string]time.Duration{
				"deckhand:blob:0": 100 * day, "deckhand:blob:2499": 100 * day, "deckhand:{counter/month/2026-01/usd}": memory.CounterKept,
				"deckhand:{counter/month/2026-02/usd}": memory.CounterKept, "deckhand:{0}:foreign": -1,
				"deckhand:blob:" + memory.BlobHash([]byte("artifact")): old,
			} {
				if got := client.TTL(t.Context(), key).Val(); got > want || got < want-time.Minute {
					t.Errorf("%s is kept for %v, want %v", key, got, want)
				}
			}
			for _, key := range client.Keys(t.Context(), "deckhand:*once*").Val() {
				if got := client.TTL(t.Context(), key).Val(); got > memory.OnceKept || got < memory.OnceKept-time.Minute {
					t.Errorf("%s is kept for %v, want %v", key, got, memory.OnceKept)
				}
			}
			for _, key := range client.Keys(t.Context(), "*:"+string(run)).Val() {
				if got := client.TTL(t.Context(), key).Val(); got != -1 {
					t.Errorf("%s of a run ends in %v", key, got)
				}
			}
		})
	}
}

// TestArtifactsOfAnOlderBuildAreRead by runs that go on, and by no others.
func TestArtifactsOfAnOlderBuildAreRead(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, redis.Config{URL: srv.URL})
	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	if err := client.Set(t.Context(), "deckhand:blob:abc", "old", 0).Err(); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Blob(t.Context(), startRuns(t, s, 1)[0], "abc"); err != nil || string(data) != "old" {
		t.Errorf("read %q, %v", data, err)
	}
	if data, err := s.Blob(t.Context(), "no-such-run", "abc"); err == nil {
		t.Errorf("a run that is not there has %q", data)
	}
}
