package redistest

// A Redis of its own for a test.

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience is how long a server may take to answer after its start.
const patience = 20 * time.Second

// Server is a redis-server child. Its methods are for one goroutine.
type Server struct {
	URL  string // redis://127.0.0.1:PORT
	Addr string // 127.0.0.1:PORT

	t       testing.TB
	args    []string
	log     string
	busPort string // of a Cluster's node
	cmd     *exec.Cmd
	done    chan struct{} // closed when the child was reaped
}

// Start runs a redis-server with an append-only file (fsync every second) and
// returns when it answers. More arguments of redis-server may follow, for
// example "--requirepass", "secret". The server is killed at the test's end.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	for range 5 { // a free port may be taken by somebody else before the child binds it
		s := prepare(t, args)
		if err := s.launch(); err == nil {
			t.Cleanup(s.Kill)
			return s
		}
	}
	t.Fatal("redis-server did not come up on any of 5 ports; run it by hand to see why")
	return nil
}

func prepare(t testing.TB, more []string) *Server {
	t.Helper()
	dir := t.TempDir()
	port := freePort(t)
	args := []string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--dir", dir,
		"--save", "", "--appendonly", "yes", "--appendfsync", "everysec",
		"--logfile", filepath.Join(dir, "redis.log"), "--repl-diskless-sync-delay", "0",
	}
	return &Server{
		URL: fmt.Sprintf("redis://127.0.0.1:%d", port), Addr: fmt.Sprintf("127.0.0.1:%d", port),
		t: t, args: append(args, more...), log: filepath.Join(dir, "redis.log"),
	}
}

// StartOneNodeCluster runs one redis-server in cluster mode that owns every slot: it
// refuses calls whose keys are in different slots, as a larger Cluster does, and
// is up in a tenth of the time.
func StartOneNodeCluster(t testing.TB) *Server {
	t.Helper()
	s := Start(t, "--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(freePort(t)))
	if reply, err := s.Ask("CLUSTER ADDSLOTSRANGE 0 16383"); err != nil || reply != "+OK" {
		t.Fatalf("redis-server at %s does not take the slots: %q, %v", s.Addr, reply, err)
	}
	deadline := time.Now().Add(patience)
	for {
		// A key of any slot is refused with CLUSTERDOWN until the server has noticed.
		if reply, err := s.Ask("EXISTS any"); err == nil && strings.HasPrefix(reply, ":") {
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the cluster at %s did not come up within %s; see %s", s.Addr, patience, s.log)
		}
		pause()
	}
}

// Replica starts a second server that replicates this one, and returns when
// its link is up. More arguments of redis-server may follow.
func (s *Server) Replica(args ...string) *Server {
	s.t.Helper()
	r := Start(s.t, append([]string{"--replicaof", "127.0.0.1 " + s.port()}, args...)...)
	deadline := time.Now().Add(patience)
	for {
		if reply, err := s.Ask("WAIT 1 100"); err == nil && reply != ":0" {
			return r
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("replica %s did not follow %s within %s; see %s", r.Addr, s.Addr, patience, r.log)
		}
		pause()
	}
}

// Running says whether the server was started and neither stopped nor killed since.
func (s *Server) Running() bool { return s.cmd != nil }

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr) // made of the two
	return port
}

// Stop ends the server the way an operator does (SIGTERM) and waits for it.
func (s *Server) Stop() { s.end(syscall.SIGTERM) }

// Kill ends the server with SIGKILL and waits until it is gone. A server that
// is not running stays so.
func (s *Server) Kill() { s.end(syscall.SIGKILL) }

func (s *Server) end(sig syscall.Signal) {
	if s.cmd == nil {
		return
	}
	group := -s.cmd.Process.Pid
	_ = s.cmd.Process.Signal(sig) // fails only when it is gone already
	<-s.done
	s.cmd = nil
	if err := guarded.remove(-group); err != nil {
		s.t.Errorf("guard of redis-server: %v", err)
	}
	// A server may have forked to write a file; its directory is about to go.
	for deadline := time.Now().Add(time.Second); syscall.Kill(group, syscall.SIGKILL) == nil && time.Now().Before(deadline); {
		pause()
	}
}

// Freeze stops the server's process without ending it (SIGSTOP); Thaw lets it
// go on.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw undoes Freeze.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatalf("signal redis-server at %s: %v", s.Addr, err)
	}
}

// Restart starts the server again on the same port and data, and returns when
// it answers. A running server is killed first.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	if err := s.launch(); err != nil {
		s.t.Fatalf("redis-server does not start again at %s: %v; see %s", s.Addr, err, s.log)
	}
}

// launch starts the child and waits for its first answer.
func (s *Server) launch() error {
	s.t.Helper()
	path, err := exec.LookPath("redis-server")
	if err != nil {
		s.t.Fatal("redis-server is not on PATH: install Redis 7.0 or later to run this test")
	}
	cmd := exec.Command(path, s.args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("start %s: %v", path, err)
	}
	if err := guarded.add(cmd.Process.Pid); err != nil {
		s.t.Fatalf("guard of redis-server: %v", err)
	}
	s.cmd, s.done = cmd, make(chan struct{})
	go func(done chan struct{}) {
		_ = cmd.Wait() // a killed child is no error here
		close(done)
	}(s.done)
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause() {
		select {
		case <-s.done:
			if err := guarded.remove(s.cmd.Process.Pid); err != nil {
				return err
			}
			s.cmd = nil
			return errors.New("redis-server ended at its start")
		default:
		}
		// LOADING answers PING with an error until the append-only file is read.
		if reply, err := s.Ask("PING"); err == nil && (reply == "+PONG" || strings.HasPrefix(reply, "-NOAUTH")) {
			return nil
		}
	}
	s.Kill()
	return fmt.Errorf("redis-server did not answer within %s", patience)
}

// Ask sends one inline command on a connection of its own and returns the
// first line of the reply, for example "+OK" or ":1".
func (s *Server) Ask(command string) (string, error) {
	conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	if _, err := fmt.Fprintf(conn, "%s\r\n", command); err != nil {
		return "", err
	}
	reply, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimRight(reply, "\r\n"), err
}

// pause is the step of a poll: the child is a process of its own and gives no
// signal.
func pause() { <-time.After(10 * time.Millisecond) }

func freePort(t testing.TB) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("no free port on the loopback: %v", err)
	}
	defer func() { _ = l.Close() }()
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		t.Fatalf("%v is no TCP address", l.Addr())
	}
	return addr.Port
}
