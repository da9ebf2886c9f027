package redistest_test

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

func set(t *testing.T, s *redistest.Server, key, value string) {
	t.Helper()
	if _, err := s.Query("SET", key, value); err != nil {
		t.Fatalf("SET %s at %s: %v", key, s.Addr, err)
	}
}

func value(t *testing.T, s *redistest.Server, key string) any {
	t.Helper()
	v, err := s.Query("GET", key)
	if err != nil {
		t.Fatalf("GET %s at %s: %v", key, s.Addr, err)
	}
	return v
}

func TestClusterMovesAndFailsOver(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t)
	first := c.Master("k")
	set(t, first, "k", "v")

	c.MoveSlot("k")
	second := c.Master("k")
	if second == first || value(t, second, "k") != "v" {
		t.Fatalf("the slot is at %s after it was at %s", second.Addr, first.Addr)
	}
	if _, err := first.Query("GET", "k"); err == nil || !strings.HasPrefix(err.Error(), "MOVED") {
		t.Fatalf("its old owner answers %v", err)
	}

	c.AwaitHealthy()
	c.Failover("k")
	third := c.Master("k")
	if third == second || value(t, third, "k") != "v" {
		t.Fatalf("the slot is at %s after a failover from %s", third.Addr, second.Addr)
	}

	c.AwaitHealthy()
	if dead := c.KillMaster("k"); dead != third {
		t.Fatalf("killed %s, want %s", dead.Addr, third.Addr)
	}
	last := c.Master("k")
	if last == third || value(t, last, "k") != "v" {
		t.Fatalf("the slot is at %s after the death of %s", last.Addr, third.Addr)
	}
	third.Restart()
	c.AwaitHealthy()
}

func TestSentinelsFailOver(t *testing.T) {
	t.Parallel()
	for name, away := range map[string]func(*redistest.Sentinels){
		"by an operator": (*redistest.Sentinels).Failover,
		"by death":       func(g *redistest.Sentinels) { g.KillMaster() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := redistest.StartSentinels(t)
			first := g.Master()
			set(t, first, "k", "v")
			if n, err := first.Query("WAIT", 1, 10_000); err != nil || n != int64(1) {
				t.Fatalf("%v replicas have it, %v", n, err)
			}
			away(g)
			second := g.Master()
			if second == first || value(t, second, "k") != "v" {
				t.Fatalf("the master is %s after it was %s", second.Addr, first.Addr)
			}
		})
	}
}

// TestServersDieWithTheTest kills a test's process in the middle.
func TestServersDieWithTheTest(t *testing.T) {
	if file := os.Getenv("REDISTEST_CHILD"); file != "" {
		s := redistest.Start(t)
		info, err := s.Query("INFO", "server")
		text, is := info.(string)
		if err != nil || !is {
			t.Fatal(info, err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	file := t.TempDir() + "/info"
	child := exec.Command(os.Args[0], "-test.run=^TestServersDieWithTheTest$")
	child.Env = append(os.Environ(), "REDISTEST_CHILD="+file)
	if err := child.Run(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Fatalf("the child ended with %v, want a kill", err)
	}
	info, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(info), "process_id:")
	text, _, _ := strings.Cut(rest, "\r\n")
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil; <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("redis-server %d outlives the test's process", pid)
		}
	}
}
