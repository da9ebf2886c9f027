package job_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/job"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// The words that make this binary something else than the tests. The killing
// ones end their parent first, as kill -9 would at that moment.
const (
	supervise = "supervise" // a supervisor
	confine   = "confine-of-test"
	killFirst = "kill-first"
	killOnly  = "kill-only"  // and nothing is supervised
	killBegun = "kill-begun" // when the command has begun
	worker    = "worker"     // starts a job, and dies before it can say so
	sitting   = "sit"        // has a secret
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == confine {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	if len(os.Args) > 2 {
		switch dir := os.Args[len(os.Args)-1]; os.Args[1] {
		case supervise:
			os.Exit(job.Supervise(dir, os.Stderr))
		case killFirst:
			killParent()
			os.Exit(job.Supervise(dir, os.Stderr))
		case killOnly:
			killParent()
			os.Exit(0)
		case killBegun:
			parent := os.Getppid()
			go func() {
				for !there(dir, "begun.json") {
					<-time.After(time.Millisecond)
				}
				if parent > 1 {
					_ = syscall.Kill(parent, syscall.SIGKILL)
				}
			}()
			os.Exit(job.Supervise(dir, os.Stderr))
		case worker:
			work(os.Args[2])
		case sitting:
			sit(dir)
		}
	}
	goleak.VerifyTestMain(settling{m})
}

// settling lets supervisors that have done their work end; under the race
// detector each takes a second for that.
type settling struct{ m *testing.M }

func (s settling) Run() int {
	code := s.m.Run()
	for range 10 {
		if goleak.Find() == nil {
			break
		}
	}
	return code
}

func killParent() {
	parent := os.Getppid()
	if parent <= 1 {
		return // it is gone already
	}
	_ = syscall.Kill(parent, syscall.SIGKILL)
	for os.Getppid() == parent { // it is gone when this is somebody else's child
		<-time.After(time.Millisecond)
	}
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// orders are a worker's.
type orders struct {
	Root, Mode string
	Call       agent.Call
	Wall       time.Duration
}

// work is a Deckhand that starts a job and is killed before it can tell.
func work(text string) {
	var o orders
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	jobs, err := open(o.Root, job.Config{Wall: o.Wall}, o.Mode)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	r := jobs.Tools()[0].Run(context.Background(), o.Call)
	if r.State != agent.OutcomeOK {
		fmt.Fprintln(os.Stderr, r.Text)
		os.Exit(1)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
}

// open opens the jobs below a folder.
func open(root string, c job.Config, mode string) (*job.Jobs, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c.Dir, c.Root = filepath.Join(root, "jobs"), filepath.Join(root, "files")
	if c.Workspace, err = workspace.New(workspace.Config{Dir: c.Root}); err != nil {
		return nil, err
	}
	if c.Command == nil {
		c.Command = []string{self, mode}
	}
	return job.New(c)
}

// rig is a Deckhand with jobs.
type rig struct {
	*testing.T
	root string
	jobs *job.Jobs
	box  *tools.Box
	next int
	wall time.Duration // of jobs that a killed Deckhand starts
}

const run agent.RunID = "run1"

// patience bounds waits, on a machine that is busy.
const patience = 30 * time.Second

func newRig(t *testing.T, c job.Config) *rig {
	t.Helper()
	return rigIn(t, t.TempDir(), c)
}

func rigIn(t *testing.T, root string, c job.Config) *rig {
	t.Helper()
	r := &rig{T: t, root: root}
	var err error
	if r.jobs, err = open(root, c, supervise); err != nil {
		t.Fatal(err)
	}
	if r.box, err = tools.New(r.jobs.Tools()...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // nothing of a test is left
		entries, _ := os.ReadDir(filepath.Join(root, "jobs"))
		for _, e := range entries {
			if err := r.jobs.End(agent.RunID(e.Name())); err != nil {
				t.Error(err)
			}
		}
		for _, dir := range r.dirs() {
			r.until("the end of "+dir, func() bool { return there(dir, "end.json") && !locked(dir) })
		}
		// What comes late finds nothing, not even half of something.
		if err := os.Rename(filepath.Join(root, "jobs"), filepath.Join(root, "gone")); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Error(err)
		}
	})
	return r
}

// locked reports whether a supervisor still lives.
func locked(dir string) bool {
	f, err := os.Open(filepath.Join(dir, "lock"))
	if err != nil {
		return false
	}
	defer f.Close()
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil
}

func (r *rig) dirs() []string {
	dirs, err := filepath.Glob(filepath.Join(r.root, "jobs", "*", strings.Repeat("[0-9a-f]", 16)))
	if err != nil {
		r.Fatal(err)
	}
	return dirs
}

// until waits for a condition.
func (r *rig) until(what string, holds func() bool) {
	r.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	over := time.After(patience)
	for !holds() {
		select {
		case <-tick.C:
		case <-over:
			r.Fatalf("waited in vain for %s", what)
		}
	}
}

func (r *rig) call(tool string, arguments any) agent.Call {
	r.Helper()
	text, err := json.Marshal(arguments)
	if err != nil {
		r.Fatal(err)
	}
	r.next++
	return agent.Call{Run: run, Strand: "task/t", Effect: agent.EffectID(fmt.Sprintf("task/t.%d.0", r.next)), Tool: tool, Arguments: text}
}

// do runs a tool as the loop does: again and again while it puts itself off,
// but without the rests.
func (r *rig) do(c agent.Call) agent.Result {
	r.Helper()
	if err := r.box.Check(c.Tool, c.Arguments); err != nil {
		r.Fatal(err)
	}
	tool, _ := r.box.Tool(c.Tool)
	for {
		result := tool.Run(r.Context(), c)
		if result.Again == 0 {
			return result
		}
		c.Deferred++
	}
}

type object map[string]any

// start starts a command and returns its job's id and folder.
func (r *rig) start(command string) (id, dir string) {
	r.Helper()
	result := r.do(r.call("start_job", object{"command": command}))
	if result.State != agent.OutcomeOK {
		r.Fatal(result.Text)
	}
	id = strings.TrimSuffix(strings.Fields(result.Text)[1], ":")
	return id, filepath.Join(r.root, "jobs", string(run), strings.TrimPrefix(id, "job_"))
}

// status is the job's status now.
func (r *rig) status(id string) string {
	r.Helper()
	result := r.do(r.call("job_status", object{"id": id}))
	if result.State != agent.OutcomeOK {
		r.Fatal(result.Text)
	}
	return result.Text
}

// ended is the job's status when it has ended.
func (r *rig) ended(id, dir string) string {
	r.Helper()
	r.until("the end of "+id, func() bool { return there(dir, "end.json") })
	return r.status(id)
}

// file waits for a file of the workspace that is not empty.
func (r *rig) file(name string) string {
	r.Helper()
	var text []byte
	r.until("the file "+name, func() bool {
		text, _ = os.ReadFile(filepath.Join(r.root, "files", name))
		return strings.HasSuffix(string(text), "\n")
	})
	return strings.TrimSpace(string(text))
}

func (r *rig) has(text string, parts ...string) {
	r.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			r.Errorf("%q is missing in:\n%s", p, text)
		}
	}
}
