package redistest

// A Sentinel group for a test.

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// StartSentinel runs one sentinel that watches the server under the name and
// alone decides on a failover, half a second after the server stops answering.
// It returns when the sentinel knows the given number of replicas.
func StartSentinel(t testing.TB, master *Server, name string, replicas int) *Server {
	t.Helper()
	dir, port := t.TempDir(), freePort(t)
	_, watched, err := net.SplitHostPort(master.Addr)
	if err != nil {
		t.Fatalf("address of the master: %v", err)
	}
	file := filepath.Join(dir, "sentinel.conf") // a sentinel keeps what it learns in its file
	text := fmt.Sprintf("port %d\nbind 127.0.0.1\ndir %s\nlogfile %s\nsentinel monitor %s 127.0.0.1 %s 1\n"+
		"sentinel down-after-milliseconds %s 500\nsentinel failover-timeout %s 3000\n",
		port, dir, filepath.Join(dir, "redis.log"), name, watched, name, name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &Server{
		URL:  fmt.Sprintf("redis+sentinel://127.0.0.1:%d?master_name=%s", port, name),
		Addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)),
		t:    t, args: []string{file, "--sentinel"}, log: filepath.Join(dir, "redis.log"),
	}
	if err := s.launch(); err != nil {
		t.Fatalf("sentinel at %s: %v; see %s", s.Addr, err, s.log)
	}
	t.Cleanup(s.Kill)
	for deadline := time.Now().Add(patience); ; pause() {
		reply, err := s.Ask("SENTINEL REPLICAS " + name)
		if err == nil && strings.HasPrefix(reply, fmt.Sprintf("*%d", replicas)) {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("sentinel at %s does not see %d replicas: %q, %v; see %s", s.Addr, replicas, reply, err, s.log)
		}
	}
}
