package program

// The three tools, and what they have in common.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Config says where programs run, and the most that one may have. Zero bounds
// are the defaults.
type Config struct {
	Sandbox   *sandbox.Sandbox
	Workspace *workspace.Workspace
	Root      string // the workspace's folder, absolute
	// Hide are absolute paths that programs do not see: the data directory, the
	// configuration file.
	Hide []string
	// Images reports whether the driver runs images: then programs are theirs,
	// not this host's.
	Images bool
	// Cache is a folder for packages that tasks need, and Index where pip finds
	// them; default https://pypi.org/simple. Without a Cache there are none.
	Cache, Index string
	Memory       int64         // bytes; default 2 GiB
	Wall         time.Duration // default 10 min
	Disk         int64         // bytes; default 1 GiB
	Processes    int           // default 128
	Output       int64         // bytes; default 64 KiB
	Parallel     int           // at once; default 2, others wait
}

// Runner runs programs. It may be used from many goroutines.
type Runner struct {
	c     Config
	slots chan struct{}

	installing sync.Mutex
}

// New returns the programs' runner.
func New(c Config) *Runner {
	if c.Memory <= 0 {
		c.Memory = 2 << 30
	}
	if c.Wall <= 0 {
		c.Wall = 10 * time.Minute
	}
	if c.Disk <= 0 {
		c.Disk = 1 << 30
	}
	if c.Processes <= 0 {
		c.Processes = 128
	}
	if c.Output <= 0 {
		c.Output = 64 << 10
	}
	if c.Parallel <= 0 {
		c.Parallel = 2
	}
	if c.Index == "" {
		c.Index = "https://pypi.org/simple"
	}
	return &Runner{c: c, slots: make(chan struct{}, c.Parallel)}
}

// Tools are the tools whose language is here: in the image, or on this host.
func (r *Runner) Tools() []agent.Tool {
	var list []agent.Tool
	if r.c.Images || onHost("python3") {
		list = append(list, tool{r, runPython}, tool{r, pythonFile})
	}
	if r.c.Images || onHost("sh") {
		list = append(list, tool{r, runShell})
	}
	return list
}

// onHost reports whether commands find a program: in the folders of the system,
// whatever this process's own PATH is.
func onHost(name string) bool {
	for _, dir := range []string{"/usr/local/bin", "/usr/bin", "/bin"} {
		if info, err := os.Stat(dir + "/" + name); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// kind is one of the tools.
type kind struct {
	name, description, parameters string
	command                       func(a arguments) []string
	// own: the program sees nothing but what is in the call.
	own bool
}

// arguments are those of all three tools.
type arguments struct {
	Code      string          `json:"code"`
	Path      string          `json:"path"`
	Command   string          `json:"command"`
	Arguments []string        `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	Keep      []string        `json:"keep"`
}

// Bounds of the arguments, in bytes and files.
const (
	longestProgram = 256 << 10
	largestInput   = 16 << 20
	mostKept       = 10
)

const keepSchema = `"keep":{"type":"array","maxItems":10,"items":{"type":"string","minLength":1},"description":"Paths of files that the program wrote below the folder $OUT; they come back to the same paths of the workspace"}`

// programFile is a program of run_python, in the sandbox's own folder.
const programFile = "program.py"

var runPython = kind{
	name: "run_python",
	description: "Runs Python 3 in a sandbox without network and without the workspace's files, and returns what it printed and its exit code. " +
		"input is what it reads from standard input, a JSON value other than a text as JSON.",
	parameters: `{"type":"object","additionalProperties":false,"required":["code"],"properties":{
		"code":{"type":"string","minLength":1,"maxLength":262144,"description":"For example: import sys, json; print(sum(json.load(sys.stdin)))"},
		"input":{"description":"Standard input"},` + keepSchema + `}}`,
	command: func(arguments) []string { return []string{"python3", programFile} },
	own:     true,
}

var pythonFile = kind{
	name: "execute_python_file",
	description: "Runs a Python 3 file of the workspace in a sandbox without network, and returns what it printed and its exit code. " +
		"It may read the workspace's files and not change them; what it writes below the folder $OUT comes back where keep names it.",
	parameters: `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
		"path":{"type":"string","minLength":1,"description":"Relative to the workspace, for example scripts/count.py"},
		"arguments":{"type":"array","maxItems":100,"items":{"type":"string","maxLength":2000}},
		"input":{"description":"Standard input"},` + keepSchema + `}}`,
	command: func(a arguments) []string { return append([]string{"python3", a.Path}, a.Arguments...) },
}

var runShell = kind{
	name: "run_shell",
	description: "Runs a shell command (/bin/sh -c) in a sandbox without network, and returns what it printed and its exit code. " +
		"It starts in the workspace, whose files it may read and not change; what it writes below the folder $OUT comes back where keep names it.",
	parameters: `{"type":"object","additionalProperties":false,"required":["command"],"properties":{
		"command":{"type":"string","minLength":1,"maxLength":16000,"description":"For example: grep -rc TODO src | sort -t: -k2 -n | tail"},
		"input":{"description":"Standard input"},` + keepSchema + `}}`,
	command: func(a arguments) []string { return []string{"/bin/sh", "-c", a.Command} },
}

// tool is one of the tools.
type tool struct {
	r *Runner
	k kind
}

// Spec describes the tool. In a plan it counts as a read: what a call brings
// back is said when its paths are known.
func (t tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: t.k.name, Description: t.k.description, Parameters: json.RawMessage(t.k.parameters),
		Class: agent.ClassRead, Repeat: agent.RepeatIdempotent,
		Timeout: time.Duration(1+t.r.c.Parallel)*t.r.c.Wall + 15*time.Second,
	}
}

// read decodes and checks a call's arguments.
func (t tool) read(c agent.Call) (a arguments, err error) {
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return a, fmt.Errorf("the arguments do not fit: %w", err)
	}
	switch {
	case len(a.Code) > longestProgram || len(a.Input) > largestInput:
		return a, fmt.Errorf("code may have %d bytes and input %d; it is %d and %d", longestProgram, largestInput, len(a.Code), len(a.Input))
	case len(a.Keep) > mostKept:
		return a, fmt.Errorf("keep may name %d files; put more into an archive", mostKept)
	case strings.ContainsRune(a.Command+strings.Join(a.Arguments, ""), 0):
		return a, errors.New("no command takes a NUL character")
	}
	if t.k.name == pythonFile.name {
		if a.Path, err = workspace.Clean(a.Path); err != nil {
			return a, err
		}
	}
	return a, nil
}

// Run runs the program.
func (t tool) Run(ctx context.Context, c agent.Call) agent.Result {
	r, err := t.run(ctx, c)
	if err != nil {
		return agent.Failed(t.k.name + ": " + err.Error())
	}
	return r
}

func (t tool) run(ctx context.Context, c agent.Call) (agent.Result, error) {
	a, err := t.read(c)
	if err != nil {
		return agent.Result{}, err
	}
	if done, files, err := t.kept(ctx, c, a); err != nil || done {
		return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Files: files, Text: "the files were written before"}, err
	}
	spec, err := t.spec(c, a)
	if err != nil {
		return agent.Result{}, err
	}
	select {
	case t.r.slots <- struct{}{}:
		defer func() { <-t.r.slots }()
	case <-ctx.Done():
		return agent.Result{}, fmt.Errorf("stopped before it began: %w", ctx.Err())
	}
	if _, err := t.r.c.Sandbox.Driver(ctx); err != nil {
		return agent.Result{}, fmt.Errorf("no sandbox works here: %w", err)
	}
	if !t.r.c.Sandbox.Isolates(ctx) {
		return agent.Result{}, errors.New("no sandbox here keeps programs from the host's files and network; install bubblewrap, or set sandbox.driver")
	}
	if err := t.r.provide(ctx, c.Env, &spec); err != nil {
		return agent.Result{}, err
	}
	result, err := t.r.c.Sandbox.Run(ctx, spec)
	if err != nil {
		return agent.Result{}, err
	}
	answer := told(result, t.k.own)
	if answer.State == agent.OutcomeOK && len(a.Keep) > 0 {
		answer.Files, err = t.keep(ctx, c, a, result.Files)
		answer.Text = strings.TrimSpace(answer.Text + "\nwrote " + strings.Join(answer.Files, ", "))
	}
	return answer, err
}

// told is a program's result as the model reads it.
func told(r sandbox.Result, own bool) agent.Result {
	var parts []string
	state := agent.OutcomeOK
	switch {
	case r.Limit != "":
		state = agent.OutcomeError
		parts = append(parts, "error: the program was stopped: "+r.Limit)
	case r.Code != 0:
		state = agent.OutcomeError
		parts = append(parts, fmt.Sprintf("error: the program ended with exit code %d", r.Code))
	}
	if out := text(r.Stdout); out != "" {
		parts = append(parts, out)
	}
	if complaints := text(r.Stderr); complaints != "" {
		parts = append(parts, "stderr:\n"+complaints)
	}
	if len(parts) == 0 {
		parts = []string{"no output, exit code 0"}
	}
	trust := agent.Untrusted
	if own {
		trust = agent.Trusted // as far as the arguments are
	}
	return agent.Result{State: state, Trust: trust, Text: strings.Join(parts, "\n")}
}

// text is output without the bytes that are none.
func text(b []byte) string {
	s := string(b)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "�")
	}
	return strings.TrimRight(strings.ReplaceAll(s, "\x00", "�"), "\n")
}
