package job

// The tool start_job: from a call to a supervisor that has begun.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// longestCommand keeps a command short enough to be shown in full to whoever
// approves it.
const longestCommand = 2000

// beginWait bounds the wait for a supervisor to begin.
const beginWait = 20 * time.Second

// start is the tool start_job.
type start struct{ j *Jobs }

type startArgs struct{ Command, Name string }

// Spec describes the tool.
func (t start) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: "start_job",
		Description: "Starts a shell command (" + Shell + " -c) on the host, in the folder of this run, and returns its job's id at once; a person is asked each time. " +
			"For what takes long, such as builds and tests: look with job_status, end it with kill_job. It goes on without you, for " + t.j.c.Wall.String() + " at most, " +
			"and is ended with the run. There is no standard input; the environment is PATH, HOME (that folder), LANG and TMPDIR. " +
			"Processes in the background are ended with the command. More than " + byteSize(t.j.c.Output) + " of output end it: send large output into a file.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["command"],"properties":{
			"command":{"type":"string","minLength":1,"maxLength":` + strconv.Itoa(longestCommand) + `,"description":"For example: make test. Put longer scripts into a file"},
			"name":{"type":"string","maxLength":60,"description":"A short name for lists"}}}`),
		Class: agent.ClassCommand, Repeat: agent.RepeatProbeable, Timeout: beginWait + 10*time.Second,
	}
}

// Prepare shows the command to a person. It changes nothing.
func (t start) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	var args startArgs
	if err := readArguments(c, &args); err != nil {
		return agent.Prepared{}, err
	}
	if err := checkArgs(args); err != nil {
		return agent.Prepared{}, err
	}
	if _, err := t.j.runDir(c.Run); err != nil {
		return agent.Prepared{}, err
	}
	where := "the workspace"
	if c.Folder != "" {
		where = "the folder `" + strings.ReplaceAll(format.Visible(c.Folder), "`", "ˋ") + "`"
	}
	command := format.Visible(args.Command)
	fence := "```"
	for strings.Contains(command, fence) {
		fence += "`"
	}
	preview := fmt.Sprintf("Runs this %s, in %s, for %s at most:\n\n%ssh\n%s\n%s", t.rights(ctx), where, t.j.c.Wall, fence, command, fence)
	if command != args.Command {
		preview += "\n\nIt holds hidden characters, written as ⟨U+…⟩ above."
	}
	return agent.Prepared{Preview: preview}, nil
}

// rights says what a command may do, for whoever approves it.
func (t start) rights(ctx context.Context) string {
	const host = "on the host with the rights of Deckhand"
	if t.j.c.Sandbox == nil {
		return host
	}
	driver, err := t.j.c.Sandbox.Driver(ctx)
	if err != nil || driver == sandbox.Child {
		return host
	}
	network := "without network"
	if hosts := t.j.c.Sandbox.Network(); len(hosts) > 0 {
		network = "with the network of " + strings.Join(hosts, ", ") + " where the task says so"
	}
	return fmt.Sprintf("in the sandbox (%s, %s; it may change the files of its folder)", driver, network)
}

func checkArgs(args startArgs) error {
	switch {
	case strings.TrimSpace(args.Command) == "":
		return errors.New("the command is empty")
	case strings.ContainsRune(args.Command, 0):
		return errors.New("the command has a NUL character, which no shell takes")
	case len([]rune(args.Command)) > longestCommand:
		return fmt.Errorf("the command has more than %d characters; put it into a file", longestCommand)
	}
	return nil
}

// Run starts the command unless that was done already.
func (t start) Run(ctx context.Context, c agent.Call) agent.Result {
	done, r, err := t.Probe(ctx, c)
	if err == nil && !done {
		r, err = t.begin(ctx, c)
	}
	if err != nil {
		return agent.Failed("start_job: " + err.Error())
	}
	return r
}

// Probe reports whether the command was started.
func (t start) Probe(_ context.Context, c agent.Call) (bool, agent.Result, error) {
	dir, err := t.dir(c)
	if err != nil {
		return false, agent.Result{}, err
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return false, agent.Result{}, nil
	}
	r, err := readReport(dir)
	if err != nil {
		return false, agent.Result{}, err
	}
	return r.state() != Starting, startedResult(r), nil
}

// startedResult is what the model learns about a job that was started.
func startedResult(r report) agent.Result {
	if r.end != nil && r.end.State == Lost {
		return agent.Failed("start_job: " + r.summary() + ". It is not started again by itself: look what it did, then decide")
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Trusted, Text: r.summary()}
}

func (t start) dir(c agent.Call) (string, error) {
	parent, err := t.j.runDir(c.Run)
	if err != nil {
		return "", err
	}
	return filepath.Join(parent, jobID(c)[len(idPrefix):]), nil
}

// begin makes the job's folder, starts a supervisor and waits until the
// command has begun. While it does, no other start of the run counts the jobs.
func (t start) begin(ctx context.Context, c agent.Call) (agent.Result, error) {
	var args startArgs
	if err := errors.Join(readArguments(c, &args), checkArgs(args)); err != nil {
		return agent.Result{}, err
	}
	dir, err := t.dir(c)
	if err != nil {
		return agent.Result{}, err
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return agent.Result{}, fmt.Errorf("the folder of the jobs cannot be made: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, beginWait)
	defer cancel()
	one, err := waitLock(ctx, filepath.Join(filepath.Dir(dir), lockFile))
	if err != nil {
		return agent.Result{}, fmt.Errorf("another start of this run takes too long, nothing was started: %w", err)
	}
	defer func() { _ = one.Close() }()
	if err := t.checkLimit(c.Run, dir); err != nil {
		return agent.Result{}, err
	}
	if err := t.makeFolder(ctx, dir, c, args); err != nil {
		return agent.Result{}, fmt.Errorf("the job's folder cannot be made, nothing was started: %w", err)
	}
	return t.startSupervisor(ctx, dir)
}

// checkLimit refuses where as many jobs of the run go on as may.
func (t start) checkLimit(run agent.RunID, own string) error {
	dirs, err := t.j.all(run)
	if err != nil {
		return err
	}
	var running []string
	for _, dir := range dirs {
		if dir == own {
			continue
		}
		r, err := readReport(dir)
		if err != nil {
			return err
		}
		if !r.over() && (r.begun != nil || time.Since(r.Made) < beginWait) {
			running = append(running, r.ID)
		}
	}
	if len(running) >= t.j.c.Max {
		return fmt.Errorf("%d jobs of this run are running, more may not: wait for one with job_status or end one with kill_job (%s)",
			len(running), strings.Join(running, ", "))
	}
	return nil
}

// makeFolder makes the job's folder, whole or not at all; it may be there already.
func (t start) makeFolder(ctx context.Context, dir string, c agent.Call, args startArgs) error {
	folder, err := t.j.c.Workspace.Open(c.Folder) // makes it where it is missing
	if err != nil {
		return err
	}
	if err := folder.Close(); err != nil {
		return err
	}
	if exists(dir, orderFile) {
		return nil
	}
	temp, err := os.MkdirTemp(filepath.Dir(dir), ".draft-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	o := order{
		ID: jobID(c), Name: strings.TrimSpace(args.Name), Command: args.Command, Folder: filepath.Join(t.j.c.Root, filepath.FromSlash(c.Folder)),
		Made: time.Now(), Wall: t.j.c.Wall, Output: t.j.c.Output, Grace: t.j.c.Grace,
	}
	if o.Sandbox, err = t.confine(ctx, o, c.Env); err != nil {
		return err
	}
	if err := writeJSON(temp, orderFile, o); err != nil {
		return err
	}
	if err := os.Rename(temp, dir); err != nil && !exists(dir, orderFile) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// confine is the sandbox of a job, nil: the command runs on the host.
func (t start) confine(ctx context.Context, o order, env *agent.Env) (*confinement, error) {
	if t.j.c.Sandbox == nil {
		return nil, nil //nolint:nilnil // none is no error
	}
	driver, err := t.j.c.Sandbox.Driver(ctx)
	if err != nil {
		return nil, fmt.Errorf("no sandbox works here: %w", err)
	}
	if driver == sandbox.Child {
		return nil, nil //nolint:nilnil // none is no error
	}
	s := sandbox.Spec{
		Command: []string{Shell, "-c", o.Command}, Dir: o.Folder, Hide: t.j.c.Hide,
		Memory: t.j.c.Memory, Disk: t.j.c.Disk, Processes: 1024, Processor: float64(runtime.NumCPU()), Wall: -1, // the supervisor bounds it
	}
	if env != nil {
		s.Image, s.Env, s.Network = env.Image, env.Environment, env.Network
	}
	c := t.j.c.Sandbox.Config()
	c.Driver = driver
	return &confinement{Config: c, Spec: s}, nil
}

// startSupervisor starts a supervisor and waits until some supervisor has begun.
func (t start) startSupervisor(ctx context.Context, dir string) (agent.Result, error) {
	words, err := os.OpenFile(filepath.Join(dir, logFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return agent.Result{}, err
	}
	defer func() { _ = words.Close() }()
	args := append(append([]string{}, t.j.c.Command[1:]...), dir)
	cmd := exec.Command(t.j.c.Command[0], args...) //nolint:gosec,noctx // the command is the operator's: this program itself, and it is to outlive this process
	cmd.Dir, cmd.Stderr, cmd.SysProcAttr = dir, words, newSession()
	cmd.Env = []string{}
	for _, name := range []string{"PATH", "LANG"} {
		if v, is := os.LookupEnv(name); is {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	if err := cmd.Start(); err != nil {
		return agent.Result{}, abandon(ctx, dir, fmt.Sprintf("the supervisor %s cannot be started: %v", t.j.c.Command[0], err))
	}
	gone := make(chan struct{})
	go func() { _ = cmd.Wait(); close(gone) }() // how it ended stands in the folder
	over := false
	err = until(ctx, func() bool {
		select {
		case <-gone:
			over = true
		default:
		}
		return over || exists(dir, begunFile)
	})
	if err != nil && errors.Is(context.Cause(ctx), context.Canceled) {
		return agent.Result{}, fmt.Errorf("stopped while the job began: %w", err)
	}
	if !exists(dir, begunFile) {
		said, _ := os.ReadFile(filepath.Join(dir, logFile)) // it is only to explain
		if err := abandon(ctx, dir, "its supervisor did not begin: "+strings.TrimSpace(string(said))); err != nil {
			return agent.Result{}, err
		}
	}
	r, err := readReport(dir)
	return startedResult(r), err
}

// abandon notes that a job is not going to be started by anybody any more; the
// error says so. Nil: somebody has begun it.
func abandon(ctx context.Context, dir, why string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockWait)
	defer cancel()
	lock, err := lockUnbegun(ctx, dir)
	if err != nil {
		return fmt.Errorf("%s; it cannot be noted that it was not: %w", why, err)
	}
	if lock == nil {
		return nil
	}
	defer func() { _ = lock.Close() }()
	err = createJSON(dir, begunFile, begun{At: time.Now(), Machine: thisMachine()})
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		err = writeJSON(dir, endFile, end{State: Lost, Reason: why, At: time.Now()})
	}
	return errors.Join(errors.New(why), err)
}
