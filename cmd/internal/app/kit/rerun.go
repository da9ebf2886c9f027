package kit

// This file runs the programs of a task again in a sandbox of their own, on a
// clean folder: what a run did in its sandbox can be seen to follow from what
// its journal says.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Sandboxed are the tools whose calls can be run again: what they do depends on
// their arguments and the files that they read.
var Sandboxed = []string{"run_code", "run_python", "execute_python_file", "run_shell"}

// TaskSandbox is the sandbox that programs of a task have here: the driver, its
// empty name where none works, and their specification.
func TaskSandbox(ctx context.Context, c config.Config, env *agent.Env) (driver string, spec sandbox.Spec, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", spec, fmt.Errorf("find this program: %w", err)
	}
	s, err := newSandbox(c, self)
	if err != nil {
		return "", spec, err
	}
	space, err := workspace.New(workspace.Config{Dir: c.Workspace})
	if err != nil {
		return "", spec, err
	}
	if spec, err = newRunner(c, space, s).Needs(env); err != nil {
		return "", spec, err
	}
	if spec.Image == "" {
		spec.Image = c.Sandbox.Image
	}
	d, err := s.Driver(ctx)
	return string(d), spec, err
}

// Rerun runs calls again in the order given, in a new folder that holds the
// files alone, and hands each result out. Nothing else of this host is touched.
func Rerun(ctx context.Context, c config.Config, files []sandbox.File, calls []agent.Call, told func(agent.Call, agent.Result) error) error {
	dir, err := os.MkdirTemp("", "deckhand-again-")
	if err != nil {
		return fmt.Errorf("no folder could be made to run it again in: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	for _, f := range files {
		clean, err := workspace.Clean(f.Path)
		if err != nil {
			return err
		}
		p := filepath.Join(dir, "files", filepath.FromSlash(clean))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, f.Data, 0o600); err != nil {
			return err
		}
	}
	c.Workspace, c.DataDir, c.File, c.Tools.Jobs.Enabled = filepath.Join(dir, "files"), filepath.Join(dir, "data"), "", false
	box, err := NewTools(c)
	if err != nil {
		return err
	}
	defer box.Close()
	for _, call := range calls {
		tool, known := box.Tool(call.Tool)
		if !known {
			return fmt.Errorf("%s is not offered here: `deckhand doctor` says what the sandbox lacks", call.Tool)
		}
		call.Folder = ""
		if p, is := tool.(agent.Preparer); is {
			prepared, err := p.Prepare(ctx, call)
			if err != nil {
				return err
			}
			call.Mark = prepared.Mark
		}
		if err := told(call, tool.Run(ctx, call)); err != nil {
			return err
		}
	}
	return nil
}

// TaskFiles reads files of a run's folder; those that are missing are left out.
func TaskFiles(c config.Config, folder string, paths []string) ([]sandbox.File, error) {
	space, err := workspace.New(workspace.Config{Dir: c.Workspace})
	if err != nil {
		return nil, err
	}
	f, err := space.Open(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	list := make([]sandbox.File, 0, len(paths))
	for _, p := range paths {
		data, err := readWhole(f, p)
		if err != nil {
			continue // it is named without a content
		}
		list = append(list, sandbox.File{Path: p, Data: data})
	}
	return list, nil
}

// largestTaskFile bounds a file that goes along with a task, in bytes.
const largestTaskFile = 8 << 20

func readWhole(f *workspace.Folder, name string) ([]byte, error) {
	clean, err := workspace.Clean(name)
	if err != nil {
		return nil, err
	}
	file, info, err := f.Read(clean)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if info.Size() > largestTaskFile {
		return nil, fmt.Errorf("%s has more than %d bytes", name, largestTaskFile)
	}
	data := make([]byte, info.Size())
	n, err := file.ReadAt(data, 0)
	return data[:n], err
}
