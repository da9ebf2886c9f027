package crashtest

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/deckhand-bot/deckhand/agent"
)

// child is a worker process.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // closed when it is gone
}

// spawn starts a worker in reserve, that will die at the boundary of the run.
func (s *scene) spawn(run agent.RunID, at boundary, workers int) (*child, error) {
	o := orders{
		Dir: filepath.Join(s.root, "data"), Lease: s.lease, Deadline: s.deadline, Workers: workers,
		Model: s.far.model, Target: s.far.target.addr, Workspace: s.workspace(), Witness: s.witness(), Run: run, At: at,
	}
	if s.server != nil {
		o.Redis = s.server.URL
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), ordersVar+"="+string(encode(o)))
	cmd.Stderr = s.words
	cmd.SysProcAttr = apart()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a worker: %w", err)
	}
	c := &child{cmd: cmd, in: in, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is seen in the journal
		close(c.done)
	}()
	s.mu.Lock()
	s.children = append(s.children, c)
	s.mu.Unlock()
	return c, nil
}

// open lets the worker take up work.
func (c *child) open() error {
	_, err := io.WriteString(c.in, "go\n")
	return err
}

// signal sends a signal to the worker and whatever it started.
func (c *child) signal(sig syscall.Signal) {
	select {
	case <-c.done:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, sig) // gone in this moment: no matter
	}
}

// kill ends the worker with SIGKILL and waits until it is gone.
func (c *child) kill() {
	c.signal(syscall.SIGKILL)
	<-c.done
	_ = c.in.Close()
}
