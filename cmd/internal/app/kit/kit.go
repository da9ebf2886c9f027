// Package kit makes what runs work with by the configuration: their workspace,
// the tools and the sources that give them, the sandbox and the jobs. It says how
// this program is started as a child of itself, for run_code and for jobs.
//
//	kit.go      the workspace and the tools; the process's own children
//	families.go families of tools that reach out
//	source.go   MCP servers and OpenAPI documents as sources of tools
//	pack.go     packs, and the datasets of runs
//	sandbox.go  the sandbox, and the tools that run programs in it
//	playbooks.go  roles and playbooks of the installation
//	jobs.go     commands on the host, which end with their run
//	rerun.go    programs of a task, run again on a clean folder
//
// What does not live here: the rest of a process (cmd/internal/app), the rules
// about what tools may do (tools/policy).
package kit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/records"
	"github.com/deckhand-bot/deckhand/agent/redact"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/calc"
	"github.com/deckhand-bot/deckhand/tools/code"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/job"
	"github.com/deckhand-bot/deckhand/tools/memory"
	"github.com/deckhand-bot/deckhand/tools/page"
	"github.com/deckhand-bot/deckhand/tools/plot"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/skill"
	"github.com/deckhand-bot/deckhand/tools/source"
	"github.com/deckhand-bot/deckhand/tools/wait"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// How this program is started as a child of itself.
const (
	sandboxCommand   = "sandbox-js"    // the sandbox of run_code
	superviseCommand = "supervise-job" // the supervisor of a job
	confineCommand   = "sandbox-exec"  // the supervisor of a command in a sandbox
)

// Child does the work of a child process where the arguments ask for it, and
// returns its exit code.
func Child(args []string) (exitCode int, is bool) {
	switch {
	case len(args) >= 2 && args[1] == confineCommand:
		return sandbox.Main(args[2:]), true
	case len(args) == 2 && args[1] == sandboxCommand:
		return code.Child(os.Stdin, os.Stdout), true
	case len(args) == 2 && args[1] == readCommand:
		return page.Main(os.Stdin, os.Stdout), true
	case len(args) == 3 && args[1] == superviseCommand:
		return job.Supervise(args[2], os.Stderr), true
	}
	return 0, false
}

// Kit is what runs work with: their files, tools and jobs.
type Kit struct {
	Space *workspace.Workspace
	Box   *source.Registry
	jobs  *job.Jobs // nil: they are off
}

// Options are what a kit is made from. All but Config may be left out.
type Options struct {
	Config  config.Config
	Version string // of the program, for servers
	Log     *slog.Logger
	// Store keeps what foreign tools were, where it is a source.Pins.
	Store any
	// Changed, when set, hears of foreign tools that wait for a person.
	Changed func(ctx context.Context, source string, changes []source.Change)
	// Memory is what the tools remember in; nil: they can only be described.
	Memory records.Memory
	// Tools are beside those of the product. Wrap is put around every tool. Trust
	// is the trust in what tools read from files.
	Tools []agent.Tool
	Wrap  func(agent.Tool) agent.Tool
	Trust agent.Trust
}

// NewTools are the tools that runs of a process have. Those of foreign sources
// are there once they were asked (Registry.Load); the caller closes them.
// Nothing is held against what they were before.
func NewTools(c config.Config) (*source.Registry, error) { return NewToolsIn(c, nil) }

// NewToolsIn is NewTools, held against what the store keeps of foreign tools.
func NewToolsIn(c config.Config, store any) (*source.Registry, error) {
	k, err := New(Options{Config: c, Store: store})
	if err != nil {
		return nil, err
	}
	return k.Box, nil
}

// New makes the kit of a process. Foreign sources are not started yet.
func New(o Options) (*Kit, error) {
	c := o.Config
	space, err := workspace.New(workspaceOf(c))
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program for the sandbox of run_code: %w", err)
	}
	box, err := newSandbox(c, self)
	if err != nil {
		return nil, err
	}
	javascript, err := newScripts(c, box, self)
	if err != nil {
		return nil, err
	}
	k := &Kit{Space: space}
	list := append(file.New(file.Config{Workspace: space, Trust: o.Trust}), calc.Tool{}, wait.Tool{}, plot.New(space), javascript)
	programs := newPrograms(c, space, box)
	list = append(list, programs...)
	list = append(list, newCheck(space, programs))
	out, err := family{o, space, box, self}.tools()
	if err != nil {
		return nil, err
	}
	list = append(list, out...)
	if k.jobs, err = newJobs(c, space, box, self); err != nil {
		return nil, err
	}
	if k.jobs != nil {
		list = append(list, k.jobs.Tools()...)
	}
	list = append(list, memory.New(o.Memory)...)
	list = append(list, skills(c)...)
	list = append(list, o.Tools...)
	sources, err := foreign(o, space)
	if err != nil {
		return nil, err
	}
	packed, more, effects, err := packed(o, space, box, javascript)
	if err != nil {
		return nil, err
	}
	list = append(list, more...)
	k.Box, err = registry(o, slices.Concat([]source.Source{source.BuiltIn(list...)}, sources, packed), effects)
	return k, err
}

// newScripts is the tool run_code.
func newScripts(c config.Config, box *sandbox.Sandbox, self string) (*code.Tool, error) {
	var around *sandbox.Sandbox // its child confines itself, in a quarter of the time; another driver is for whoever asks for it
	if d := sandbox.Driver(c.Sandbox.Driver); d != "" && d != sandbox.Auto {
		around = box
	}
	return code.New(code.Config{
		Command: []string{self, sandboxCommand}, Sandbox: around,
		Memory: int64(c.Tools.RunCode.Memory), CPU: c.Tools.RunCode.CPU,
		Wall: c.Tools.RunCode.Wall, Output: int(c.Tools.RunCode.Output),
	})
}

// skills is the tool that reads them, where there are any. What is wrong with a
// folder is told where they are put into memory.
func skills(c config.Config) []agent.Tool {
	dirs := c.SkillFolders()
	if len(dirs) == 0 {
		return nil
	}
	if shelf, _ := skill.Load(dirs); len(shelf.Skills()) > 0 {
		return []agent.Tool{skill.Tool{Shelf: shelf}}
	}
	return nil
}

// workspaceOf says where runs work, and what no tool changes or shows there.
func workspaceOf(c config.Config) workspace.Config {
	at := workspace.Config{Dir: c.Workspace}
	at.Protected = c.PolicyFiles()
	if c.File != "" {
		at.Protected = append(at.Protected, c.File)
	}
	at.Private = slices.Concat(c.Packs, ownFolders(c), c.Skills) // whoever changes a pack, a role, a playbook or a skill decides what runs may do
	if c.DataDir != "" {
		at.Private = append(at.Private, c.DataDir)
	}
	if !c.Redis.URL.Present() && c.DataDir != "" {
		at.Locks = filepath.Join(c.DataDir, "locks") // replicas lock beside the files that they share
	}
	return at
}

// registry holds the tools of all sources.
func registry(o Options, sources []source.Source, effects source.Effects) (*source.Registry, error) {
	c := source.Config{Sources: sources, Wrap: o.Wrap, Log: o.Log, Effects: effects, Private: o.Config.Tools.Private, Changed: o.Changed}
	for name, effect := range o.Config.Tools.Effects {
		c.Effects[name] = source.Effect(effect)
	}
	if err := c.Effects.Check(); err != nil {
		return nil, err
	}
	if pins, keeps := o.Store.(source.Pins); keeps {
		c.Pins = pins
	}
	return source.New(c)
}

// Delivered is nil where a file is in the workspace, else it says why not.
func (k *Kit) Delivered(folder, path string) error {
	f, err := k.Space.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	clean, err := workspace.Clean(path)
	if err != nil {
		return err
	}
	_, err = f.Stat(clean)
	return err
}

// Files is the workspace as posts use it.
type Files struct{ Space *workspace.Workspace }

// Posted is the workspace with secrets taken out of what is read.
type Posted struct {
	Files
	Secrets *redact.Redactor
}

// maxRedacted is how long a file may be, in bytes, from which secrets are taken
// when it is posted: longer ones are no texts that hold them.
const maxRedacted = 8 << 20

// Open opens a file of a run's folder.
func (s Files) Open(folder, path string) (io.ReadCloser, int64, error) {
	f, err := s.Space.Open(folder)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	clean, err := workspace.Clean(path)
	if err != nil {
		return nil, 0, err
	}
	if _, err := f.Stat(clean); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	file, info, err := f.Read(clean)
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// Open opens a file of a run's folder, without its secrets where it is a text.
func (s Posted) Open(folder, path string) (io.ReadCloser, int64, error) {
	file, size, err := s.Files.Open(folder, path)
	if err != nil || size > maxRedacted {
		return file, size, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxRedacted))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: reading: %w", path, err)
	}
	if text := string(data); utf8.ValidString(text) {
		data = []byte(s.Secrets.Text(text))
	}
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
}

// Create makes a file in a run's folder.
func (s Files) Create(folder, path string, fill func(w io.Writer) error) error {
	f, err := s.Space.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Create(path, fill)
}
