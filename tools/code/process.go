package code

// This file runs a program's child process from the parent's side: it starts
// it, ends it when it uses too much, and says why it ended.

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// ErrLimit is the cause where a program was ended for what it used.
var ErrLimit = errors.New("the program was stopped")

// ErrScript is the cause where a program failed by itself.
var ErrScript = errors.New("the program failed")

// look is how often a child's memory is looked at; a child can grow by a few
// tens of MiB in between.
const look = 20 * time.Millisecond

// grace is how long a child may take to say by itself that its wall time is over.
const grace = time.Second

// silence is how long what a child says is still read after it was killed: what it
// began may outlive it and keep the pipe open.
const silence = 5 * time.Second

// execute runs one child to its end. Nothing of it is left when it returns.
func (t *Tool) execute(ctx context.Context, r request) (output, error) {
	dir, err := os.MkdirTemp("", "deckhand-run-code-")
	if err != nil {
		return output{}, fmt.Errorf("no empty folder could be made for the program: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd, end, err := t.command(ctx, dir)
	if err != nil {
		return output{}, err
	}
	complaint := &head{limit: 8 << 10}
	cmd.Stderr = complaint
	stdin, e1 := cmd.StdinPipe()
	stdout, e2 := cmd.StdoutPipe()
	if err := errors.Join(e1, e2); err != nil {
		return output{}, fmt.Errorf("the program could not be started: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return output{}, fmt.Errorf("the program could not be started: %w; is the command %q right?", err, t.c.Command[0])
	}
	c := &child{pid: cmd.Process.Pid, end: end, limits: r, gone: make(chan struct{}), leave: func() { _ = stdout.Close() }}
	var helpers sync.WaitGroup
	helpers.Go(func() { c.feed(stdin) })
	helpers.Go(func() { c.watch(ctx) })
	out := c.read(stdout)
	// Nothing more is read: a child that still writes ends by that.
	c.kill(nil)
	waited := cmd.Wait()
	close(c.gone)
	_ = stdin.Close()
	helpers.Wait()
	return out, c.verdict(out, waited, cmd.ProcessState, complaint.text())
}

// command is the child's, and how it is ended: its whole group, or the sandbox's
// supervisor, which ends all of it.
func (t *Tool) command(ctx context.Context, dir string) (cmd *exec.Cmd, end func(pid int), err error) {
	if s := t.c.Sandbox; s != nil {
		driver, err := s.Driver(ctx)
		if err != nil {
			return nil, nil, fmt.Errorf("no sandbox works here: %w", err)
		}
		if driver == sandbox.Bubblewrap {
			cmd, err := s.Command(ctx, sandbox.Spec{Command: t.c.Command, Read: t.c.Command[:1], Memory: t.c.Memory + spare, Wall: t.c.Wall + 5*time.Second})
			return cmd, func(pid int) { _ = syscall.Kill(pid, syscall.SIGINT) }, err
		}
	}
	//nolint:gosec,noctx // the command is the operator's: this program itself; its whole group is killed here
	cmd = exec.Command(t.c.Command[0], t.c.Command[1:]...)
	cmd.Dir, cmd.Env = dir, []string{}
	cmd.SysProcAttr = attributes()
	// A negative number is the group. The child is not waited for yet, so its
	// number cannot be somebody else's.
	return cmd, func(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }, nil
}

// spare is what a sandbox gives the child besides the program's memory: its own
// runtime's. The child bounds the program itself.
const spare = 128 << 20

// child is a running child process.
type child struct {
	pid    int
	end    func(pid int)
	limits request
	gone   chan struct{}
	leave  func() // ends the reading of what it says

	mu     sync.Mutex
	reason error // why it was killed, nil: it was not
	killed bool
	script error
}

// kill ends the child's process group; the first reason is kept.
func (c *child) kill(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return
	}
	c.killed, c.reason = true, reason
	c.end(c.pid)
	time.AfterFunc(silence, c.leave)
}

// feed sends the request. The pipe stays open: its end tells the child that
// this process is gone.
func (c *child) feed(w io.Writer) {
	b, err := json.Marshal(c.limits)
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	if err != nil && !errors.Is(err, syscall.EPIPE) && !errors.Is(err, os.ErrClosed) {
		c.kill(fmt.Errorf("the program could not be handed over: %w", err))
	}
}

// watch ends the child when it uses too much or is no longer wanted.
func (c *child) watch(ctx context.Context) {
	tick := time.NewTicker(look)
	defer tick.Stop()
	wall := time.NewTimer(c.limits.Wall + grace)
	defer wall.Stop()
	for {
		select {
		case <-c.gone:
			return
		case <-ctx.Done():
			c.kill(fmt.Errorf("stopped: %w", ctx.Err()))
			return
		case <-wall.C:
			c.kill(fmt.Errorf("%w: %s", ErrLimit, tooLong(c.limits.Wall)))
			return
		case <-tick.C:
			if resident(c.pid) > c.limits.Memory {
				c.kill(c.tooMuchMemory())
				return
			}
		}
	}
}

func (c *child) tooMuchMemory() error {
	return fmt.Errorf("%w: it used more than %d MiB of memory; work on smaller pieces", ErrLimit, c.limits.Memory>>20)
}

// read collects the child's frames until the last one or its end.
func (c *child) read(r io.Reader) output {
	// A byte takes at most six in JSON; more than that is not from Child.
	most := 7*c.limits.Output + 64<<10
	lines := bufio.NewScanner(io.LimitReader(r, int64(most)))
	lines.Buffer(make([]byte, 0, 64<<10), most)
	var out output
	for lines.Scan() {
		var f frame
		if json.Unmarshal(lines.Bytes(), &f) != nil {
			break // cut off by its death, or not from Child
		}
		switch {
		case f.Cut:
			out.cut = true
		case f.Log != nil:
			out.lines = append(out.lines, *f.Log)
		case f.Value != nil:
			out.ended = true
			if *f.Value != "" {
				out.lines = append(out.lines, *f.Value)
			}
			return out
		case f.Error != nil:
			out.ended = true
			c.script = fmt.Errorf("%w: %s", ErrScript, *f.Error)
			if f.Limit {
				c.script = fmt.Errorf("%w: %s", ErrLimit, *f.Error)
			}
			return out
		}
	}
	return out
}

// verdict says why a child ended, nil: well.
func (c *child) verdict(out output, waited error, state *os.ProcessState, complaint string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if out.ended {
		return c.script
	}
	if c.reason != nil {
		return c.reason
	}
	switch {
	case strings.Contains(complaint, "stack exceeds"), strings.Contains(complaint, "stack overflow"):
		return fmt.Errorf("%w: it is nested or recurses too deeply", ErrLimit)
	case starved(complaint), strings.Contains(complaint, sandbox.MemoryWords):
		return c.tooMuchMemory()
	case state.UserTime()+state.SystemTime() >= c.limits.CPU:
		return fmt.Errorf("%w: %s", ErrLimit, tooMuchCPU(c.limits.CPU))
	}
	first, _, _ := strings.Cut(complaint, "\n")
	if waited == nil {
		return fmt.Errorf("the program's process ended without a result: %s", first)
	}
	return fmt.Errorf("the program's process ended unexpectedly (%w): %s", waited, first)
}

// starved reports whether a crash is one of those that Go ends in when the
// system refuses it memory: its own words, those of the race detector, or a
// nil pointer in the collector.
func starved(complaint string) bool {
	for _, words := range []string{"out of memory", "cannot allocate memory", "failed to allocate", "makeslice"} {
		if strings.Contains(complaint, words) {
			return true
		}
	}
	return strings.HasPrefix(complaint, "SIGSEGV")
}

func tooMuchCPU(limit time.Duration) string {
	return fmt.Sprintf("it used more than %s of processor time; is there a loop without an end?", limit)
}

func tooLong(limit time.Duration) string { return fmt.Sprintf("it took longer than %s", limit) }

// head keeps the start of what is written to it.
type head struct {
	limit int
	b     bytes.Buffer
}

// Write keeps what fits and never fails.
func (h *head) Write(p []byte) (int, error) {
	h.b.Write(p[:min(len(p), h.limit-h.b.Len())])
	return len(p), nil
}

func (h *head) text() string { return strings.TrimSpace(h.b.String()) }
