package sandbox

// This file is the process between Deckhand and a command: it starts the
// command in its driver, ends it when it uses too much, and leaves nothing of it.

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// The arguments behind Config.Self: none is a supervisor.
const (
	confineWord = "confine" // a process that gives up rights and becomes the command
	probeWord   = "probe"   // a command that does nothing
	probeAnswer = "works"
)

// Exit codes of a supervisor that are not the command's.
const (
	codeUnavailable = 125
	codeEnded       = 137
)

// endNow ends a command without patience, and SIGTERM with grace.
const (
	endNow = syscall.SIGINT
	grace  = 2 * time.Second
)

// Main is the main function of a process that Config.Self starts, with the
// arguments behind it. It returns the exit code. It changes the whole process,
// so call it only in one started for it.
func Main(args []string) int {
	switch {
	case len(args) == 1 && args[0] == probeWord:
		fmt.Println(probeAnswer, "descriptors", openDescriptors()) //nolint:forbidigo // a process of its own, which answers its parent over a pipe
		return 0
	case len(args) == 1 && args[0] == confineWord:
		return becomeCommand()
	case len(args) > 1 && args[0] == forwardWord:
		return forward(args[1:])
	case len(args) == 2 && args[0] == installWord:
		return install(args[1])
	case len(args) == 1 && args[0] == podWord:
		return inPod(os.Args[:len(os.Args)-1], os.Stdout)
	case len(args) == 0:
		return supervise()
	}
	fmt.Fprintln(os.Stderr, "this is for Deckhand itself")
	return 2
}

func supervise() int {
	runtime.LockOSThread() // the command dies with the thread that started it
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, endNow, syscall.SIGHUP)
	o, err := readOrder()
	if err != nil {
		fmt.Fprintln(os.Stderr, "the order cannot be read:", err)
		return codeUnavailable
	}
	CloseInherited()
	n, code := superviseOrder(o, signals)
	return tell(o, n, code)
}

// tell says how it went: at descriptor 3, or as the last line of stderr.
func tell(o order, n note, code int) int {
	if o.Note {
		text, err := json.Marshal(n)
		if err == nil {
			_, err = os.NewFile(3, "note").Write(text)
		}
		if err != nil {
			return codeUnavailable
		}
		return code
	}
	switch {
	case n.Error != "":
		fmt.Fprintln(os.Stderr, "the sandbox could not start the command:", n.Error)
	case n.Limit != "":
		fmt.Fprintln(os.Stderr, stopped+n.Limit)
	}
	return code
}

// stopped begins the line that says which limit ended a command.
const stopped = "the sandbox ended the command: "

// superviseOrder runs the command to its end.
func superviseOrder(o order, signals <-chan os.Signal) (note, int) {
	r, err := prepare(o)
	if err != nil {
		return note{Error: err.Error()}, codeUnavailable
	}
	defer r.cleanUp()
	if err := adoptOrphans(); err != nil {
		return note{Error: err.Error()}, codeUnavailable
	}
	if !r.remote {
		if err := limitProcess(o.Spec); err != nil {
			return note{Error: err.Error()}, codeUnavailable
		}
		r.group = joinGroup(o.Spec)
		defer r.group.leave()
	}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := startLocal(r, o); err != nil {
		return note{Error: err.Error()}, codeUnavailable
	}
	_ = os.Stdin.Close() // the command's alone
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = r.cmd.Wait() // how it ended is in its state
	}()
	limit := watch(o.Spec, r, ended, signals)
	endRemains()
	if limit != "" {
		return note{Limit: limit}, codeEnded
	}
	code := exitCode(r.cmd.ProcessState)
	if r.remote && code == codeUnavailable {
		return note{Error: "the engine did not start the container; its words are in stderr"}, code
	}
	if code != 0 {
		limit = failedFor(o.Spec, r, code)
	}
	return note{Limit: limit}, code
}

// prepare makes the driver's command.
func prepare(o order) (*running, error) {
	if len(o.Spec.Network) > 0 && o.Driver == Child {
		return nil, errors.New("the driver child cannot let a command reach some hosts only: bubblewrap, docker and podman can")
	}
	switch o.Driver {
	case Bubblewrap:
		return prepareBubblewrap(o)
	case Docker, Podman:
		return prepareEngine(o)
	case Child:
		return prepareChild(o)
	case Auto, Kubernetes: // the one is chosen before, the other needs no supervisor
	}
	return nil, fmt.Errorf("there is no driver %q", o.Driver)
}

// startLocal starts the command as a child of this process.
func startLocal(r *running, o order) error {
	err := r.cmd.Start()
	if err != nil && o.Driver == Child && r.cmd.SysProcAttr != nil && dropNamespaces(r, o) {
		err = r.cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("%s could not be started: %w", r.cmd.Path, err)
	}
	lowerPriority(r.cmd.Process.Pid)
	for _, f := range r.cmd.ExtraFiles {
		_ = f.Close()
	}
	return nil
}
