package redistest

// A Sentinel group for a test.

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// SentinelName is what sentinels of this package call their master.
const SentinelName = "deck"

// Sentinels is a master with its replicas, and the sentinels that watch them.
// Its methods are for one goroutine.
type Sentinels struct {
	URL       string // redis+sentinel://…, with the addresses of all sentinels
	Servers   []*Server
	Sentinels []*Server

	t testing.TB
}

// StartSentinels runs a master with one replica and three sentinels, of which
// two decide on a failover, a second after the master stops answering. More
// arguments for each redis-server may follow. It returns when everybody knows
// everybody. All are killed at the test's end.
func StartSentinels(t testing.TB, args ...string) *Sentinels {
	t.Helper()
	master := Start(t, args...)
	g := &Sentinels{t: t, Servers: []*Server{master, master.Replica(args...)}}
	var addrs []string
	for range 3 {
		s := startSentinel(t, master, 2)
		g.Sentinels = append(g.Sentinels, s)
		addrs = append(addrs, "addr="+s.Addr)
	}
	g.URL = fmt.Sprintf("redis+sentinel://%s?master_name=%s&%s", g.Sentinels[0].Addr, SentinelName, strings.Join(addrs[1:], "&"))
	g.AwaitHealthy()
	return g
}

func startSentinel(t testing.TB, master *Server, quorum int) *Server {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	file := filepath.Join(dir, "sentinel.conf") // a sentinel keeps what it learns in its file
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nlogfile %s\nsentinel monitor %s 127.0.0.1 %s %d\n"+
		"sentinel down-after-milliseconds %s 1000\nsentinel failover-timeout %s 4000\n",
		port, dir, filepath.Join(dir, "redis.log"), SentinelName, master.port(), quorum, SentinelName, SentinelName)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Server{
		URL:  fmt.Sprintf("redis+sentinel://127.0.0.1:%d?master_name=%s", port, SentinelName),
		Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		t:    t, args: []string{file, "--sentinel"}, log: filepath.Join(dir, "redis.log"),
	}
	if err := s.launch(); err != nil {
		t.Fatalf("sentinel at %s: %v; see %s", s.Addr, err, s.log)
	}
	t.Cleanup(s.Kill)
	return s
}

// AwaitHealthy returns when each sentinel sees the master, the others, and
// every running server, and the running replicas follow the master.
func (g *Sentinels) AwaitHealthy() {
	g.t.Helper()
	running := 0
	for _, s := range g.Servers {
		if s.Running() {
			running++
		}
	}
	g.await("everybody knows everybody", func() error {
		if err := g.meet(); err != nil {
			return err
		}
		master, err := g.master()
		if err != nil {
			return err
		}
		if n, err := master.Query("WAIT", running-1, 100); err != nil || n != int64(running-1) {
			return fmt.Errorf("%v of %d replicas follow %s: %w", n, running-1, master.Addr, errors.Join(err))
		}
		return g.seeReplicas(master, running-1)
	})
}

// meet returns an error until each sentinel sees the master and the others.
func (g *Sentinels) meet() error {
	others := strconv.Itoa(len(g.Sentinels) - 1)
	for _, s := range g.Sentinels {
		about, err := s.master()
		if err != nil {
			return err
		}
		if about["flags"] != "master" || about["num-other-sentinels"] != others {
			return fmt.Errorf("%s sees a master that is %s, and %s of %s sentinels", s.Addr, about["flags"], about["num-other-sentinels"], others)
		}
	}
	return nil
}

// seeReplicas returns an error until each sentinel sees so many replicas follow
// the master.
func (g *Sentinels) seeReplicas(master *Server, want int) error {
	for _, s := range g.Sentinels {
		replicas, err := s.Query("SENTINEL", "REPLICAS", SentinelName)
		if err != nil {
			return err
		}
		up := 0
		list, _ := replicas.([]any)
		for _, r := range list {
			about := fields(r)
			if about["flags"] == "slave" && about["master-link-status"] == "ok" && about["master-port"] == master.port() {
				up++
			}
		}
		if up != want {
			return fmt.Errorf("%s sees %d of %d replicas", s.Addr, up, want)
		}
	}
	return nil
}

// Master is the running server that most sentinels call the master, and that
// agrees.
func (g *Sentinels) Master() *Server {
	g.t.Helper()
	var master *Server
	g.await("somebody is the master", func() (err error) {
		master, err = g.master()
		return err
	})
	return master
}

func (g *Sentinels) master() (*Server, error) {
	votes := map[string]int{}
	for _, s := range g.Sentinels {
		about, err := s.master()
		if err != nil {
			return nil, err
		}
		votes[about["port"]]++
	}
	for _, s := range g.Servers {
		if !s.Running() || 2*votes[s.port()] <= len(g.Sentinels) {
			continue
		}
		info, err := s.Query("INFO", "replication")
		if err != nil {
			return nil, err
		}
		if text, _ := info.(string); strings.Contains(text, "role:master") {
			return s, nil
		}
	}
	return nil, errors.New("no running server is the master of most sentinels")
}

// KillMaster kills the master and returns it. Its replica takes over after
// some seconds: see Master.
func (g *Sentinels) KillMaster() *Server {
	g.t.Helper()
	s := g.Master()
	s.Kill()
	return s
}

// Failover makes a replica the master, as an operator does, and returns when
// the sentinels know. What the old master had not told the replica is lost.
func (g *Sentinels) Failover() {
	g.t.Helper()
	old := g.Master()
	g.await("the failover is done", func() error {
		if now, err := g.master(); err == nil && now != old {
			return nil
		}
		_, err := g.Sentinels[0].Query("SENTINEL", "FAILOVER", SentinelName) // refused while one is under way
		return errors.Join(fmt.Errorf("the master is still %s", old.Addr), err)
	})
}

func (g *Sentinels) await(what string, is func() error) {
	g.t.Helper()
	await(g.t, what, g.Sentinels, is)
}

// master is what a sentinel says of the master.
func (s *Server) master() (map[string]string, error) {
	reply, err := s.Query("SENTINEL", "MASTER", SentinelName)
	return fields(reply), err
}

// fields reads a flat list or a map of texts.
func fields(reply any) map[string]string {
	about := map[string]string{}
	switch r := reply.(type) {
	case []any:
		for i := 0; i+1 < len(r); i += 2 {
			about[fmt.Sprint(r[i])] = fmt.Sprint(r[i+1])
		}
	case map[any]any:
		for k, v := range r {
			about[fmt.Sprint(k)] = fmt.Sprint(v)
		}
	}
	return about
}

// lastLines is the end of the server's log.
func (s *Server) lastLines() string {
	text, err := os.ReadFile(s.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}

// await asks until the answer is good.
func await(t testing.TB, what string, of []*Server, is func() error) {
	t.Helper()
	for deadline := time.Now().Add(2 * patience); ; pause() {
		err := is()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			for _, s := range of {
				t.Logf("%s, running: %v, ends its log with:\n%s", s.Addr, s.Running(), s.lastLines())
			}
			t.Fatalf("waited %s until %s: %v", 2*patience, what, err)
		}
	}
}
