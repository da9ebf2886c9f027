package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// process is a deckhand beside the script.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	out, err string        // files
	done     chan struct{} // closed when it is gone
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only when it is gone already
	<-p.done
	_ = p.in.Close()
}

// poll looks until it is so or patience is over: another process gives no signal.
func poll(so func() bool) bool {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		if so() {
			return true
		}
	}
	return false
}

func expect(ts *testscript.TestScript, args []string, n int, usage string) {
	if len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func pattern(ts *testscript.TestScript, text string) *regexp.Regexp {
	re, err := regexp.Compile("(?m)" + text)
	ts.Check(err)
	return re
}

// matches looks for the pattern and sets the variable that the rest names.
func matches(ts *testscript.TestScript, re *regexp.Regexp, text string, rest []string) bool {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	if len(rest) > 0 {
		ts.Setenv(rest[0], m[len(m)-1])
	}
	return true
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	expect(ts, args, 2, "exits CODE PROGRAM ARG...")
	if neg {
		ts.Fatalf("exits already says which code")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	if exit, is := errors.AsType[*exec.ExitError](err); is {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 2, "start NAME PROGRAM ARG...")
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, args[1])); err == nil {
			path = filepath.Join(dir, args[1])
			break
		}
	}
	p := &process{cmd: exec.Command(path, args[2:]...), done: make(chan struct{}), out: ts.MkAbs(args[0] + ".out"), err: ts.MkAbs(args[0] + ".err")}
	p.cmd.Dir = ts.MkAbs(".")
	for _, name := range passed {
		p.cmd.Env = append(p.cmd.Env, name+"="+ts.Getenv(name))
	}
	stdout, err := os.Create(p.out)
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(p.err)
	ts.Check(err)
	defer stderr.Close()
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	p.in, err = p.cmd.StdinPipe()
	ts.Check(err)
	ts.Check(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // the exit code says it
		close(p.done)
	}()
	rigOf(ts).processes[args[0]] = p
	ts.Setenv(args[0]+"_pid", strconv.Itoa(p.cmd.Process.Pid))
}

func named(ts *testscript.TestScript, name string) *process {
	p := rigOf(ts).processes[name]
	if p == nil {
		ts.Fatalf("%s was not started", name)
	}
	return p
}

func types(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 2, "types NAME TEXT")
	_, err := io.WriteString(named(ts, args[0]).in, args[1]+"\n")
	ts.Check(err)
}

func eof(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 1, "eof NAME")
	ts.Check(named(ts, args[0]).in.Close())
}

// last logs what the process has said, for whoever reads the failure.
func last(ts *testscript.TestScript, p *process) {
	ts.Logf("[%s]\n%s", filepath.Base(p.out), ts.ReadFile(p.out))
	ts.Logf("[%s]\n%s", filepath.Base(p.err), ts.ReadFile(p.err))
}

func shows(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 3, "shows NAME out|err REGEXP [VAR]")
	p := named(ts, args[0])
	file := map[string]string{"out": p.out, "err": p.err}[args[1]]
	re := pattern(ts, args[2])
	ok := false
	poll(func() bool {
		ended := !p.running()
		ok = matches(ts, re, ts.ReadFile(file), args[3:])
		return ok || ended
	})
	if !ok {
		last(ts, p)
		ts.Fatalf("%s never shows %q on std%s", args[0], args[2], args[1])
	}
}

func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 2, "signal NAME SIGNAL")
	sig, known := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "HUP": syscall.SIGHUP, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
	}[args[1]]
	if !known {
		ts.Fatalf("unknown signal %s", args[1])
	}
	ts.Check(named(ts, args[0]).cmd.Process.Signal(sig))
}

func ends(ts *testscript.TestScript, _ bool, args []string) {
	expect(ts, args, 2, "ends NAME CODE [DURATION]")
	p := named(ts, args[0])
	within := patience
	if len(args) > 2 {
		var err error
		within, err = time.ParseDuration(args[2])
		ts.Check(err)
	}
	select {
	case <-p.done:
	case <-time.After(within):
		last(ts, p)
		ts.Fatalf("%s does not end within %s", args[0], within)
	}
	_ = p.in.Close()
	got := strconv.Itoa(p.cmd.ProcessState.ExitCode())
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		got = status.Signal().String()
	}
	if got != args[1] {
		last(ts, p)
		ts.Fatalf("%s ended with %s, want %s", args[0], got, args[1])
	}
	delete(rigOf(ts).processes, args[0])
}
