package redis_test

import (
	"errors"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// rejected opens and wants an error that says what is wrong, and no secret.
func rejected(t *testing.T, c redis.Config, want error, says string) {
	t.Helper()
	s, err := redis.Open(t.Context(), c)
	if err == nil {
		_ = s.Close()
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		t.Fatalf("open: %v; want %v that says %q", err, want, says)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Fatalf("the error tells the password: %v", err)
	}
}

func TestOpenRefusesBadURLs(t *testing.T) {
	for _, url := range []string{
		"", "localhost:6379", "http://localhost", "redis+ring://localhost", "redis://u:sec ret@localhost", "redis://:secret@localhost:port",
		"redis://u:secret/@localhost", "redis://localhost/one", "redis://localhost?secret=1", "redis+sentinel://:secret@localhost", "redis+cluster://localhost?secret=1",
		"redis+sentinel://localhost?master_name=m&route_randomly=true", "redis+cluster://localhost?read_only=true",
	} {
		t.Run(url, func(t *testing.T) {
			rejected(t, redis.Config{URL: url}, redis.ErrURL, "redis://[USER:PASSWORD@]HOST:PORT")
		})
	}
}

func TestOpenNamesTheAddressOfAnUnreachableServer(t *testing.T) {
	srv := redistest.Start(t)
	srv.Kill()
	rejected(t, redis.Config{URL: "redis://user:secret@" + srv.Addr}, redis.ErrUnreachable, srv.Addr)
}

func TestOpenRefusesAWrongPassword(t *testing.T) {
	srv := redistest.Start(t, "--requirepass", "right")
	rejected(t, redis.Config{URL: "redis://:secret@" + srv.Addr}, redis.ErrUnreachable, srv.Addr)
	open(t, redis.Config{URL: "redis://:right@" + srv.Addr})
}

func TestOpenRefusesAChangedNumberOfShards(t *testing.T) {
	srv := redistest.Start(t)
	open(t, redis.Config{URL: srv.URL, Shards: 4})
	open(t, redis.Config{URL: srv.URL})
	open(t, redis.Config{URL: srv.URL, Shards: 4})
	rejected(t, redis.Config{URL: srv.URL, Shards: 16}, redis.ErrLayout, "set up with 4 shards and the configuration says 16")

	client := goredis.NewClient(&goredis.Options{Addr: srv.Addr})
	defer func() { _ = client.Close() }()
	client.HSet(t.Context(), "deckhand:meta", "layout", "99")
	rejected(t, redis.Config{URL: srv.URL}, redis.ErrLayout, `layout "99"`)
}

func TestOpenRefusesServersThatDoNotFit(t *testing.T) {
	single, cluster := redistest.Start(t), redistest.StartOneNodeCluster(t)
	rejected(t, redis.Config{URL: cluster.URL}, redis.ErrServer, "write redis+cluster://")
	rejected(t, redis.Config{URL: single.Replica().URL}, redis.ErrServer, "use the master's URL")
	if reply, err := single.Ask("CONFIG SET maxmemory-policy allkeys-lru"); err != nil || reply != "+OK" {
		t.Fatalf("config: %q, %v", reply, err)
	}
	rejected(t, redis.Config{URL: single.URL}, redis.ErrServer, "evicts data")
}

// A password that is changed while a process works is told as that: new
// connections are refused, and nothing else says why.
func TestAPasswordThatWasChanged(t *testing.T) {
	srv := redistest.Start(t)
	s := open(t, redis.Config{URL: srv.URL})
	srv.Restart() // the connections are made anew
	if _, err := srv.Ask("CONFIG SET requirepass other"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Now(t.Context())
	if !errors.Is(err, redis.ErrPassword) || errors.Is(err, agent.ErrPermanent) {
		t.Errorf("the store says %v", err)
	}
}
