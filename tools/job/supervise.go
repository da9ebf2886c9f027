package job

// This file is the process that runs one command and outlives whoever started
// it; it notes the command's output and how it ended in the job's folder.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// The pace of a supervisor: how often it looks whether it is asked to end the
// command, how long it waits for its lock, how long for output after the end,
// and how long it tries to note the end.
const (
	lookEvery   = 100 * time.Millisecond
	lockWait    = 10 * time.Second
	drainWait   = 500 * time.Millisecond
	noteRetries = 60
)

// Supervise is the main function of a supervisor: it runs the command of the
// job's folder, unless another supervisor does or did, and returns the exit
// code. It changes the whole process, so call it only in one started for it.
func Supervise(dir string, complaints io.Writer) int {
	sandbox.CloseInherited()
	runtime.LockOSThread() // the command dies with the thread that started it, where the system can do that
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	lock, err := takeJobLock(dir)
	if lock == nil {
		if err != nil {
			fmt.Fprintln(complaints, err)
			return 1
		}
		return 0
	}
	defer func() { _ = lock.Close() }()
	var o order
	if err := readJSON(filepath.Join(dir, orderFile), &o); err != nil {
		fmt.Fprintln(complaints, "the order cannot be read:", err)
		return 1
	}
	me, err := identify(os.Getpid())
	if err == nil {
		err = adoptOrphans()
	}
	if err == nil {
		err = createJSON(dir, begunFile, begun{At: time.Now(), Supervisor: me, Machine: thisMachine()})
	}
	if errors.Is(err, fs.ErrExist) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(complaints, "it cannot be noted that the job begins:", err)
		return 1
	}
	s := &supervisor{dir: dir, order: o, room: o.Output, full: make(chan string, 1), gone: make(chan struct{})}
	return s.noteEnd(s.run(signals), complaints)
}

// takeJobLock takes the job's lock; nil without an error: another supervisor runs
// the job, or did.
func takeJobLock(dir string) (*os.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	lock, err := lockUnbegun(ctx, dir)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("the job's lock is held by somebody who does not begin: %w", err)
	case err != nil:
		return nil, fmt.Errorf("the job's lock cannot be taken: %w", err)
	}
	return lock, nil
}

// supervisor runs one command.
type supervisor struct {
	dir   string
	order order
	pid   int // the command's, and its group's

	mu   sync.Mutex
	room int64       // bytes of output that may still come
	full chan string // why no more output can be kept

	status syscall.WaitStatus // of the command
	exited chan struct{}
	gone   chan struct{} // no child is left
}

// run runs the command to its end. Nothing of it is left then, where the
// system lets a process find all that descends from it.
func (s *supervisor) run(signals <-chan os.Signal) end {
	if why, asked := s.killRequest(); asked {
		return end{State: Killed, Reason: why + " before it began"}
	}
	var copies sync.WaitGroup
	pipes, err := s.start(&copies)
	if err != nil {
		return end{State: Exited, Code: 126, Reason: "it could not be started: " + err.Error()}
	}
	s.exited = make(chan struct{})
	go s.reap()
	e := s.watch(signals)
	for _, p := range pipes { // where somebody got away with the other end
		_ = p.SetReadDeadline(time.Now().Add(drainWait))
	}
	copies.Wait()
	for _, p := range pipes {
		_ = p.Close()
	}
	return e
}

// start starts the command in a group of its own and copies what it puts out.
func (s *supervisor) start(copies *sync.WaitGroup) (pipes []*os.File, err error) {
	for _, own := range []string{tempDir, homeDir} {
		if err := os.MkdirAll(filepath.Join(s.dir, own), 0o700); err != nil {
			return nil, err
		}
	}
	cmd, err := s.command()
	if err != nil {
		return nil, err
	}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			_ = f.Close()
		}
	}()
	var ours [2]*os.File
	for i, name := range []string{outFile, errFile} {
		r, w, e1 := os.Pipe()
		f, e2 := os.OpenFile(filepath.Join(s.dir, name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err := errors.Join(e1, e2); err != nil {
			return nil, err
		}
		pipes, theirs, ours[i] = append(pipes, r), append(theirs, w), f
	}
	cmd.Stdout, cmd.Stderr = theirs[0], theirs[1]
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s.pid = cmd.Process.Pid
	if p, err := identify(s.pid); err == nil { // it may be over already
		_ = writeJSON(s.dir, commandFile, p) // only for what a killed supervisor leaves behind
	}
	for i := range pipes {
		copies.Go(func() { s.copyOutput(pipes[i], ours[i]) })
	}
	return pipes, nil
}

// command is the order's: in its sandbox, whose supervisor stands between this
// process and the command, or as it is.
func (s *supervisor) command() (*exec.Cmd, error) {
	if s.order.Sandbox == nil {
		cmd := exec.Command(Shell, "-c", s.order.Command) //nolint:gosec,noctx // a person approved it; it is ended by signals to its group
		cmd.Dir, cmd.Env = s.order.Folder, s.environment()
		cmd.SysProcAttr = newGroup()
		return cmd, nil
	}
	box, err := sandbox.New(s.order.Sandbox.Config)
	if err != nil {
		return nil, err
	}
	spec := s.order.Sandbox.Spec
	temp, home := filepath.Join(s.dir, tempDir), filepath.Join(s.dir, homeDir)
	spec.Write = []string{temp, home}
	env := map[string]string{"HOME": home, "TMPDIR": temp, "GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1"}
	maps.Copy(env, spec.Env)
	spec.Env = env
	return box.Command(context.Background(), spec) // it ends with this process
}

// environment is all that a command gets of the environment. Its home is a new
// folder that no tool writes: settings of git and others that an agent left in
// the workspace would make an approved command run something else.
func (s *supervisor) environment() []string {
	env := []string{"HOME=" + filepath.Join(s.dir, homeDir), "TMPDIR=" + filepath.Join(s.dir, tempDir),
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_CONFIG_NOSYSTEM=1"}
	for _, name := range []string{"PATH", "LANG"} {
		if v, is := os.LookupEnv(name); is {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// copyOutput copies output into a file as long as there is room, and drops the rest:
// a command that is being ended must not block.
func (s *supervisor) copyOutput(from, to *os.File) {
	defer func() { _ = to.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		fits := s.roomFor(n)
		if _, failed := to.Write(buffer[:fits]); failed != nil {
			s.stopFor("its output cannot be kept: " + failed.Error())
		}
		if fits < n {
			s.stopFor(fmt.Sprintf("it put out more than %d bytes; send large output into a file", s.order.Output))
		}
		if err != nil {
			return
		}
	}
}

func (s *supervisor) roomFor(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	fits := int(min(int64(n), s.room))
	s.room -= int64(fits)
	return fits
}

func (s *supervisor) stopFor(why string) {
	select {
	case s.full <- why:
	default: // the first reason counts
	}
}

// reap waits for the command and for all that it left to this process.
func (s *supervisor) reap() {
	defer close(s.gone)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil: // ECHILD: nobody is left
			return
		case pid == s.pid:
			s.status = status
			close(s.exited)
		}
	}
}

// killRequest reports whether somebody wants the command to end, and why.
func (s *supervisor) killRequest() (why string, is bool) {
	err := readJSON(filepath.Join(s.dir, killFile), &why)
	return why, err == nil
}

// noteEnd writes down how the job ended, and tries it again where the disk is full.
func (s *supervisor) noteEnd(e end, complaints io.Writer) int {
	_ = os.RemoveAll(filepath.Join(s.dir, tempDir)) // the rest goes with the job's folder
	_ = os.RemoveAll(filepath.Join(s.dir, homeDir))
	e.At = time.Now()
	pause := time.NewTicker(time.Second)
	defer pause.Stop()
	for range noteRetries {
		err := writeJSON(s.dir, endFile, e)
		if err == nil {
			return 0
		}
		fmt.Fprintln(complaints, "the end cannot be noted:", err)
		<-pause.C
	}
	return 1
}
