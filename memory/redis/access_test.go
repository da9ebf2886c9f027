package redis_test

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// told is a log that can be read.
type told struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *told) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *told) count(words string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), words)
}

func (l *told) log() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// asked sends commands that must succeed.
func asked(t *testing.T, srv *redistest.Server, commands ...string) {
	t.Helper()
	for _, command := range commands {
		if reply, err := srv.Ask(command); err != nil || strings.HasPrefix(reply, "-") {
			t.Fatalf("%s: %q, %v", command, reply, err)
		}
	}
}

func TestOpenSaysWhatItsUserLacks(t *testing.T) {
	srv := redistest.Start(t)
	for rules, says := range map[string]string{
		"~deckhand:* +@all":                               "a new user has no channels): ACL SETUSER crew &deckhand:*",
		"~* resetchannels +@all":                          "ACL SETUSER crew &deckhand:*",
		"~* &* +@read +@connection +@scripting +@pubsub":  "+set",
		"%R~* &* +@all":                                   "ACL SETUSER crew",
		"~other:* &* +@all":                               "ACL SETUSER crew ~deckhand:*",
		"~deckhand:{* ~deckhand:meta &* +@all":            "ACL SETUSER crew ~deckhand:*",
		"~* &* +@all -evalsha -eval":                      "ACL SETUSER crew +eval +evalsha",
		"~* &* +@all -zinterstore -zintercard -time -set": "ACL SETUSER crew +set +time +zintercard",
		"~* &* +@all -publish -hset":                      "+hset +publish",
	} {
		t.Run(rules, func(t *testing.T) {
			asked(t, srv, "ACL SETUSER crew reset on >secret "+rules)
			rejected(t, redis.Config{URL: "redis://crew:secret@" + srv.Addr}, redis.ErrServer, says)
		})
	}
	for _, rules := range []string{"~deckhand:* &deckhand:* +@all", "~deckhand:* &deckhand:* +@all -@admin -@dangerous", "~* &deckhand:bell +@all -info -config -acl"} {
		t.Run(rules, func(t *testing.T) {
			asked(t, srv, "ACL SETUSER crew reset on >secret "+rules)
			open(t, redis.Config{URL: "redis://crew:secret@" + srv.Addr})
		})
	}
}

// TestTheRightsThatOpenProvesAreAll runs the suite as a user who may do what
// Open looks for and nothing else.
func TestTheRightsThatOpenProvesAreAll(t *testing.T) {
	srv := redistest.Start(t)
	rules := []string{"ACL SETUSER crew on >pw ~deckhand:* &deckhand:* +eval +evalsha"}
	for _, right := range redis.Rights {
		name, _, _ := strings.Cut(right, " ")
		rules = append(rules, "+"+strings.ToLower(name))
	}
	asked(t, srv, strings.Join(rules, " "))
	url := "redis://crew:pw@" + srv.Addr
	conform(t, url, func(string) *redistest.Server { return srv }, func() { asked(t, srv, "FLUSHALL") })
	entries, err := srv.Query("ACL", "LOG")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries.([]any) { //nolint:errcheck,forcetypeassert // that is its reply
		if text := fmt.Sprint(entry); !strings.Contains(text, "object:info") {
			t.Errorf("the user was refused something: %s", text)
		}
	}
}

func TestOpenRefusesEveryEviction(t *testing.T) {
	srv := redistest.Start(t)
	for _, policy := range []string{"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru", "volatile-lfu", "volatile-random", "volatile-ttl"} {
		asked(t, srv, "CONFIG SET maxmemory-policy "+policy)
		rejected(t, redis.Config{URL: srv.URL}, redis.ErrServer, "set maxmemory-policy noeviction")
	}
	asked(t, srv, "CONFIG SET maxmemory-policy noeviction")
	open(t, redis.Config{URL: srv.URL})
}

func TestOpenWarnsOfAServerThatForgets(t *testing.T) {
	srv := redistest.Start(t)
	var log told
	if s := open(t, redis.Config{URL: srv.URL, Log: log.log()}); len(s.Warnings()) != 0 || log.count("WARN") != 0 {
		t.Errorf("warned of a server that is well: %q", s.Warnings())
	}
	asked(t, srv, "CONFIG SET appendonly no")
	if s := open(t, redis.Config{URL: srv.URL, Log: log.log()}); len(s.Warnings()) != 1 || !strings.Contains(s.Warnings()[0], "appendonly yes") || log.count("appendonly yes") != 1 {
		t.Errorf("warnings %q, want one to set appendonly yes, and in the log", s.Warnings())
	}
	asked(t, srv, "ACL SETUSER crew on >pw ~* &* +@all -info")
	if s := open(t, redis.Config{URL: "redis://crew:pw@" + srv.Addr}); len(s.Warnings()) != 1 || !strings.Contains(s.Warnings()[0], "INFO") {
		t.Errorf("warnings %q, want one that nothing could be asked", s.Warnings())
	}
}

// TestADeafBellSaysWhy takes the channels from a user that listens, and gives
// them back.
func TestADeafBellSaysWhy(t *testing.T) {
	srv := redistest.Start(t)
	asked(t, srv, "ACL SETUSER crew on >pw ~* &* +@all")
	var log told
	s := open(t, redis.Config{URL: "redis://crew:pw@" + srv.Addr, Lease: time.Minute, Log: log.log()})
	hears := func() bool {
		t.Helper()
		run := agent.RunID(agent.NewID())
		got := make(chan time.Duration, 1)
		began := time.Now()
		go func() {
			if _, err := s.Claim(t.Context(), 1, time.Minute, run); err != nil {
				t.Error(err)
			}
			got <- time.Since(began)
		}()
		c := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		<-got
		return true
	}
	until := func(words string) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); log.count(words) == 0; hears() {
			if time.Now().After(deadline) {
				t.Fatalf("the log does not say %q: %s", words, log.text.String())
			}
		}
	}
	hears()
	asked(t, srv, "ACL SETUSER crew resetchannels", "CLIENT KILL TYPE pubsub")
	until("the bell is not heard")
	asked(t, srv, "ACL SETUSER crew &deckhand:*")
	until("the bell is heard again")
	if n := log.count("the bell is not heard"); n != 1 {
		t.Errorf("the log says %d times that the bell is not heard, want once", n)
	}
}
