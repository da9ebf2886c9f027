package mcp

// This file runs a server as a child process: in a group of its own, so that
// nothing of it is left, with what it writes bounded.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Bounds of what a server writes.
const (
	maxMessage = 16 << 20 // bytes of one message
	// A server that writes more than this within the window floods.
	floodWindow = 10 * time.Second
	floodBytes  = 96 << 20
	floodLines  = 10_000
	maxStderr   = 2 << 10 // bytes of its complaints that are kept: the newest
)

// How long a server may take to end by itself: after its input is closed, and
// after it was told to.
const (
	endByItself = time.Second
	endBySignal = time.Second
)

// errFlood is said of a server that writes too much.
var errFlood = errors.New("it floods: more than it may write in " + floodWindow.String())

// inherited are the variables that a server gets of this process's environment.
var inherited = []string{"PATH", "HOME", "LANG", "LC_ALL", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "USER"}

// child is a server's process as a connection.
type child struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	err    tail
	gone   chan struct{} // closed when the process was waited for
	ending sync.Once
	writes atomic.Int64 // begun

	mu    sync.Mutex
	since time.Time
	bytes int
	lines int
	flood bool
}

// startChild starts the server's process.
func (s *Server) startChild(ctx context.Context) (*child, error) {
	//nolint:gosec,noctx // the command is the operator's; it outlives the call that needs it first, and its group is ended here
	cmd := exec.Command(s.c.Command, s.c.Args...)
	cmd.Dir = s.c.Dir
	cmd.Env = environment(s.c.Env)
	if s.c.Sandbox != nil {
		inside, err := s.c.Sandbox(ctx, cmd)
		if err != nil {
			return nil, fmt.Errorf("its sandbox cannot be made: %w", err)
		}
		cmd = inside
	}
	cmd.SysProcAttr = ownGroup(cmd.SysProcAttr)
	c := &child{cmd: cmd, gone: make(chan struct{})}
	cmd.Stderr = &c.err
	cmd.WaitDelay = endBySignal // for descendants that keep its stderr open
	var e1, e2 error
	c.in, e1 = cmd.StdinPipe()
	c.out, e2 = cmd.StdoutPipe()
	if err := errors.Join(e1, e2); err != nil {
		return nil, fmt.Errorf("it cannot be started: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("it cannot be started: %w; is %q installed and in the PATH?", err, s.c.Command)
	}
	return c, nil
}

// environment is what a server sees: little of this process's, and what is
// configured.
func environment(own map[string]string) []string {
	var env []string
	for _, name := range inherited {
		if v, is := os.LookupEnv(name); is && own[name] == "" {
			env = append(env, name+"="+v)
		}
	}
	for name, v := range own {
		env = append(env, name+"="+v)
	}
	slices.Sort(env)
	return env
}

// Read reads what the server writes, unless it floods.
func (c *child) Read(p []byte) (int, error) {
	n, err := c.out.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := time.Now(); now.Sub(c.since) > floodWindow {
		c.since, c.bytes, c.lines = now, 0, 0
	}
	c.bytes += n
	c.lines += strings.Count(string(p[:n]), "\n")
	if c.bytes > floodBytes || c.lines > floodLines {
		c.flood = true
		return 0, errFlood
	}
	return n, err
}

// Write sends to the server.
func (c *child) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.in.Write(p)
}

// Close ends the process, without waiting for it.
func (c *child) Close() error {
	go c.end()
	return nil
}

// end ends the process with all of its group, and returns when nothing is left:
// first it may end by itself, as the protocol wants.
func (c *child) end() {
	c.ending.Do(func() {
		defer close(c.gone)
		_ = c.in.Close()
		over := make(chan struct{})
		go func() {
			_ = c.cmd.Wait() // how it ended is asked of its state
			close(over)
		}()
		pid := -c.cmd.Process.Pid // the group, which stays its own until it was waited for
		for _, step := range []struct {
			patience time.Duration
			then     syscall.Signal
		}{{endByItself, syscall.SIGTERM}, {endBySignal, syscall.SIGKILL}} {
			select {
			case <-over:
			case <-time.After(step.patience):
				_ = syscall.Kill(pid, step.then)
				continue
			}
			break
		}
		<-over
		_ = syscall.Kill(pid, syscall.SIGKILL) // descendants that stayed
	})
	<-c.gone
}

// failure says how the process ended, and what it complained of last; nil: well.
func (c *child) failure() error {
	<-c.gone
	c.mu.Lock()
	flood := c.flood
	c.mu.Unlock()
	words := c.err.text()
	switch state := c.cmd.ProcessState; {
	case flood:
		return errFlood
	case words != "":
		return fmt.Errorf("%s; the last it wrote: %s", state, words)
	case state != nil && !state.Success():
		return errors.New(state.String())
	}
	return nil
}

// tail keeps the end of what is written to it.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// Write keeps the newest bytes and never fails.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p[max(0, len(p)-maxStderr):]...)
	t.b = t.b[max(0, len(t.b)-maxStderr):]
	return len(p), nil
}

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.b), "�"))
}
