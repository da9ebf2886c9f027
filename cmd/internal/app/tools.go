package app

// This file gathers the tools and the workspace of runs, and says how this
// program is started as a child of itself, for run_code and for jobs.

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/redact"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/calc"
	"github.com/deckhand-bot/deckhand/tools/code"
	"github.com/deckhand-bot/deckhand/tools/file"
	"github.com/deckhand-bot/deckhand/tools/job"
	"github.com/deckhand-bot/deckhand/tools/plot"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
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
	case len(args) == 3 && args[1] == superviseCommand:
		return job.Supervise(args[2], os.Stderr), true
	}
	return 0, false
}

// kit is what runs work with: their files, tools and jobs.
type kit struct {
	space   *workspace.Workspace
	box     *source.Registry
	jobs    *job.Jobs // nil: they are off
	sandbox *sandbox.Sandbox
}

// NewTools are the tools that runs of a process have. Those of foreign sources
// are there once they were asked (Registry.Load); the caller closes them.
// Nothing is held against what they were before.
func NewTools(c config.Config) (*source.Registry, error) { return NewToolsIn(c, nil) }

// NewToolsIn is NewTools, held against what the store keeps of foreign tools.
func NewToolsIn(c config.Config, store Store) (*source.Registry, error) {
	k, err := newKit(Options{Config: c, Store: store})
	if err != nil {
		return nil, err
	}
	return k.box, nil
}

func newKit(o Options) (*kit, error) {
	c := o.Config
	at := workspace.Config{Dir: c.Workspace}
	at.Protected = policyFiles(c)
	if c.File != "" {
		at.Protected = append(at.Protected, c.File)
	}
	if c.DataDir != "" {
		at.Private = []string{c.DataDir}
	}
	if !c.Redis.URL.Present() && c.DataDir != "" {
		at.Locks = filepath.Join(c.DataDir, "locks") // replicas lock beside the files that they share
	}
	space, err := workspace.New(at)
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
	javascript, err := code.New(code.Config{
		Command: []string{self, sandboxCommand}, Sandbox: box,
		Memory: int64(c.Tools.RunCode.Memory), CPU: c.Tools.RunCode.CPU,
		Wall: c.Tools.RunCode.Wall, Output: int(c.Tools.RunCode.Output),
	})
	if err != nil {
		return nil, err
	}
	k := &kit{space: space, sandbox: box}
	list := append(file.New(file.Config{Workspace: space, Trust: o.Trust}), calc.Tool{}, wait.Tool{}, plot.New(space), javascript)
	list = append(list, newPrograms(c, space, box)...)
	if k.jobs, err = newJobs(c, space, box, self); err != nil {
		return nil, err
	}
	if k.jobs != nil {
		list = append(list, k.jobs.Tools()...)
	}
	list = append(list, o.Tools...)
	sources, err := foreign(o, space)
	if err != nil {
		return nil, err
	}
	rc := source.Config{Sources: append([]source.Source{source.BuiltIn(list...)}, sources...), Wrap: o.Wrap, Log: o.Log,
		Effects: source.Effects{}, Private: c.Tools.Private}
	for name, effect := range c.Tools.Effects {
		rc.Effects[name] = source.Effect(effect)
	}
	if err := rc.Effects.Check(); err != nil {
		return nil, err
	}
	if pins, keeps := o.Store.(source.Pins); keeps {
		rc.Pins = pins
	}
	k.box, err = source.New(rc)
	return k, err
}

// delivered is nil where a file is in the workspace, else it says why not.
func (k *kit) delivered(folder, path string) error {
	f, err := k.space.Open(folder)
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

// files is the workspace as posts use it.
type files struct{ space *workspace.Workspace }

// posted is the workspace with secrets taken out of what is read.
type posted struct {
	files
	secrets *redact.Redactor
}

// maxRedacted is how long a file may be, in bytes, from which secrets are taken
// when it is posted: longer ones are no texts that hold them.
const maxRedacted = 8 << 20

// Open opens a file of a run's folder.
func (s files) Open(folder, path string) (io.ReadCloser, int64, error) {
	f, err := s.space.Open(folder)
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
func (s posted) Open(folder, path string) (io.ReadCloser, int64, error) {
	file, size, err := s.files.Open(folder, path)
	if err != nil || size > maxRedacted {
		return file, size, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxRedacted))
	if err != nil {
		return nil, 0, fmt.Errorf("%s: reading: %w", path, err)
	}
	if text := string(data); utf8.ValidString(text) {
		data = []byte(s.secrets.Text(text))
	}
	return io.NopCloser(bytes.NewReader(data)), int64(len(data)), nil
}

// Create makes a file in a run's folder.
func (s files) Create(folder, path string, fill func(w io.Writer) error) error {
	f, err := s.space.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Create(path, fill)
}
