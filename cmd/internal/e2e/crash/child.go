package crash

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
)

// ordersVar makes a test binary a child that follows its orders.
const ordersVar = "DECKHAND_CRASH_ORDERS"

// Orders reads what this process is told to do into a struct; false says that it
// is no child. A TestMain asks before it runs any test.
func Orders(into any) bool {
	text := os.Getenv(ordersVar)
	if text == "" {
		return false
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		Exit(fmt.Errorf("the orders: %w", err))
	}
	return true
}

// Exit ends a child that has an error to tell: it should have been killed.
func Exit(err error) {
	fmt.Fprintln(os.Stderr, "child:", err)
	os.Exit(1)
}

// Gate is closed when the child may take up work: Open sends a line on its
// standard input. The child ends with the process that holds the other end.
func Gate() <-chan struct{} {
	gate := make(chan struct{})
	go func() {
		in := bufio.NewScanner(os.Stdin)
		if in.Scan() {
			close(gate)
		}
		in.Scan()
		os.Exit(0)
	}()
	return gate
}

// Child is a process of this test binary that does Deckhand's work.
type Child struct {
	Done chan struct{} // closed when it is gone

	cmd *exec.Cmd
	in  io.WriteCloser
}

// Start starts a child in reserve. What it says goes to output. A child dies of
// SIGKILL alone: fell is told of one that ends in any other way; nil: nobody is.
func Start(orders any, output io.Writer, fell func(error)) (*Child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(orders)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), ordersVar+"="+string(text))
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = separate()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start a child: %w", err)
	}
	c := &Child{cmd: cmd, in: in, Done: make(chan struct{})}
	go func() {
		defer close(c.Done)
		_ = cmd.Wait() // the state says the same
		if cmd.ProcessState.ExitCode() >= 0 && fell != nil {
			fell(fmt.Errorf("a child ended by itself (%s): its last words say why", cmd.ProcessState))
		}
	}()
	return c, nil
}

// Open lets the child take up work.
func (c *Child) Open() error {
	_, err := io.WriteString(c.in, "go\n")
	return err
}

// Signal sends a signal to the child and whatever it started.
func (c *Child) Signal(sig syscall.Signal) {
	select {
	case <-c.Done:
	default:
		_ = syscall.Kill(-c.cmd.Process.Pid, sig) // gone in this moment: no matter
	}
}

// Kill ends the child with SIGKILL and waits until it is gone.
func (c *Child) Kill() {
	c.Signal(syscall.SIGKILL)
	<-c.Done
	_ = c.in.Close() // the other end is gone
}
