package job_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/job"
)

// once notes each of its runs, and goes on until somebody makes the file go.
const once = "echo $$ >> ran; until [ -e go ]; do sleep 0.02; done; echo through"

// killed is a Deckhand that was killed with SIGKILL while it started a job.
func (r *rig) killed(mode string, c agent.Call) {
	r.Helper()
	text, err := json.Marshal(orders{Root: r.root, Mode: mode, Call: c, Wall: r.wall})
	if err != nil {
		r.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		r.Fatal(err)
	}
	cmd := exec.Command(self, worker, string(text))
	cmd.Stderr = os.Stderr
	exit, is := errors.AsType[*exec.ExitError](cmd.Run())
	if !is {
		r.Fatal("the worker was not killed")
	}
	if s, is := exit.Sys().(syscall.WaitStatus); !is || s.Signal() != syscall.SIGKILL {
		r.Fatalf("the worker ended otherwise: %v", exit)
	}
}

// A Deckhand is killed at each boundary of a start. The next one asks whether
// it happened, starts the job where it did not, and finds one that went on: at
// the end the command has run exactly once.
func TestKilledWhileStarting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, mode string
		done       bool // it is certain that the command was started
		undone     bool // and that it was not
	}{
		{"the folder is there, no supervisor", killOnly, false, true},
		{"the supervisor is there, it has not begun", killFirst, false, false},
		{"the command has begun", killBegun, true, false},
		{"before the outcome is journalled", supervise, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, job.Config{})
			call := r.call("start_job", object{"command": once})
			r.killed(c.mode, call)
			tool, _ := r.box.Tool("start_job")
			prober, _ := tool.(agent.Prober)
			done, found, err := prober.Probe(t.Context(), call)
			if err != nil || c.done && !done || c.undone && done {
				t.Fatalf("the probe says %v, %v", done, err)
			}
			if !done {
				found = r.do(call)
			}
			r.has(found.Text, "running")
			again := r.do(call)
			r.has(again.Text, "running")
			id := strings.TrimSuffix(strings.Fields(found.Text)[1], ":")
			r.file("ran")
			if err := os.WriteFile(filepath.Join(r.root, "files", "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			r.has(r.ended(id, r.dirs()[0]), "exited 0", "through")
			if ran := r.file("ran"); strings.Contains(ran, "\n") {
				t.Errorf("the command ran more than once, as the processes %q", ran)
			}
			r.has(r.do(call).Text, "exited 0")
		})
	}
}

// The bounds of a job hold while no Deckhand lives.
func TestBoundsWithoutDeckhand(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{})
	r.wall = 500 * time.Millisecond
	call := r.call("start_job", object{"command": "echo $$ > pid; exec sleep 300"})
	r.killed(supervise, call)
	pid, err := strconv.Atoi(r.file("pid"))
	if err != nil {
		t.Fatal(err)
	}
	r.until("its end", func() bool { return there(r.dirs()[0], "end.json") })
	if alive(pid) {
		t.Errorf("process %d is left", pid)
	}
	r.has(r.do(call).Text, "killed (terminated): it ran longer than 500ms")
}

// Many workers, in this and in other processes, start the same job.
func TestManyStartersOneJob(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{})
	call := r.call("start_job", object{"command": once})
	tool, _ := r.box.Tool("start_job")
	var all sync.WaitGroup
	for i := range 9 {
		all.Go(func() {
			if i%3 == 0 {
				r.killed([]string{supervise, killOnly, killFirst}[i/3], call)
				return
			}
			if result := tool.Run(t.Context(), call); result.State != agent.OutcomeOK {
				t.Error(result.Text)
			}
		})
	}
	all.Wait()
	if len(r.dirs()) != 1 {
		t.Fatalf("there are jobs in %q", r.dirs())
	}
	if err := os.WriteFile(filepath.Join(r.root, "files", "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r.until("the end", func() bool { return there(r.dirs()[0], "end.json") })
	if ran := r.file("ran"); strings.Contains(ran, "\n") {
		t.Errorf("the command ran more than once, as the processes %q", ran)
	}
}

// supervisorOf is the process that supervises a job.
func (r *rig) supervisorOf(dir string) int {
	r.Helper()
	var b struct{ Supervisor struct{ PID int } }
	text, err := os.ReadFile(filepath.Join(dir, "begun.json"))
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil || b.Supervisor.PID <= 1 {
		r.Fatalf("no supervisor in %q: %v", text, err)
	}
	return b.Supervisor.PID
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestSupervisorKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t, job.Config{})
	call := r.call("start_job", object{"command": "sh -c 'echo $$ > inner; exec sleep 300' & echo $$ > outer; wait"})
	r.do(call)
	dir := r.dirs()[0]
	var pids []int
	for _, name := range []string{"outer", "inner"} {
		pid, err := strconv.Atoi(r.file(name))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if err := syscall.Kill(r.supervisorOf(dir), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.until("the lock", func() bool { return !locked(dir) })
	id := "job_" + filepath.Base(dir)
	r.has(r.status(id), "lost: its supervisor is gone without a word")
	for _, pid := range pids {
		r.until("the end of a process without a supervisor", func() bool { return !alive(pid) })
	}
	// It is not started again, by a repetition or a late supervisor.
	if result := r.do(call); result.State != agent.OutcomeError || !strings.Contains(result.Text, "lost") {
		t.Errorf("started again: %+v", result)
	}
	if code := job.Supervise(dir, os.Stderr); code != 0 || locked(dir) {
		t.Errorf("a late supervisor ended with %d", code)
	}
	r.has(r.status(id), "lost: its supervisor is gone without a word")
}

func TestMachineRestarted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, from, to, want string }{
		{"this machine, another boot", `"boot":"`, `"boot":"0`, "lost: the machine was restarted"},
		{"another machine", `"host":"`, `"host":"0`, "running"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, job.Config{})
			id, dir := r.start("exec sleep 300")
			if err := syscall.Kill(r.supervisorOf(dir), syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			r.until("the lock", func() bool { return !locked(dir) })
			name := filepath.Join(dir, "begun.json")
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), c.from, c.to, 1)
			if c.want == "running" { // a machine is another one by both
				changed = strings.Replace(changed, `"boot":"`, `"boot":"0`, 1)
			}
			if err := os.WriteFile(name, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			r.has(r.status(id), c.want)
			// For the rest of the test it is this machine again.
			if err := os.WriteFile(name, text, 0o600); err != nil {
				t.Fatal(err)
			}
			r.has(r.status(id), "lost")
		})
	}
}
