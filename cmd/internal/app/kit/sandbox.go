package kit

// This file makes the sandbox and the tools that run programs in it, and says
// which drivers work here.

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/program"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// newSandbox is the sandbox of the configuration. It starts nothing.
func newSandbox(c config.Config, self string) (*sandbox.Sandbox, error) {
	read := make([]string, 0, len(c.Sandbox.Read))
	for _, p := range c.Sandbox.Read {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, config.Refuse("sandbox.read (%s): %w", c.At("sandbox.read"), err)
		}
		read = append(read, abs)
	}
	s, err := sandbox.New(sandbox.Config{
		Self: []string{self, confineCommand}, Driver: sandbox.Driver(c.Sandbox.Driver), Image: c.Sandbox.Image, Network: c.Sandbox.Network, Read: read,
		Offline: !c.Tools.Internet,
	})
	if err != nil {
		return nil, config.Refuse("sandbox (%s): %w", c.At("sandbox.driver"), err)
	}
	return s, nil
}

// hidden are the host's paths that programs do not see in the workspace.
func hidden(c config.Config) []string {
	var list []string
	for _, p := range []string{c.File, c.DataDir, filepath.Join(c.Workspace, ".deckhand")} {
		if abs, err := filepath.Abs(p); err == nil && p != "" {
			list = append(list, abs)
		}
	}
	return list
}

// newRunner runs programs of tasks.
func newRunner(c config.Config, w *workspace.Workspace, s *sandbox.Sandbox) *program.Runner {
	root, err := filepath.Abs(c.Workspace)
	if err != nil {
		root = c.Workspace // the workspace itself would not have opened
	}
	p := c.Tools.Programs
	return program.New(program.Config{
		Sandbox: s, Workspace: w, Root: root, Hide: hidden(c),
		Images: c.Sandbox.Driver == string(sandbox.Docker) || c.Sandbox.Driver == string(sandbox.Podman),
		Memory: int64(p.Memory), Wall: p.Wall, Disk: int64(p.Disk), Processes: p.Processes, Output: int64(p.Output),
	})
}

// newPrograms are the tools that run programs, none where no sandbox can keep
// them from the host.
func newPrograms(c config.Config, w *workspace.Workspace, s *sandbox.Sandbox) []agent.Tool {
	if !c.Tools.Programs.Enabled || !s.CanIsolate() {
		return nil
	}
	return newRunner(c, w, s).Tools()
}

// CheckDrivers says which drivers of the sandbox work here.
func CheckDrivers(ctx context.Context, c config.Config, self string) (string, error) {
	s, err := newSandbox(c, self)
	if err != nil {
		return "", err
	}
	driver, err := s.Driver(ctx)
	if err != nil {
		return "", fmt.Errorf("sandbox.driver %s does not work here: %w", c.Sandbox.Driver, err)
	}
	words := []string{"driver " + string(driver)}
	if !s.Isolates(ctx) {
		words = append(words, "warning: programs would see this host's files, so Python and shell are not offered; install bubblewrap")
	}
	for _, f := range s.Probe(ctx) {
		if f.Err != nil {
			words = append(words, fmt.Sprintf("%s: %s", f.Driver, strings.ReplaceAll(f.Err.Error(), "\n", "; ")))
			continue
		}
		words = append(words, string(f.Driver)+" works")
	}
	return strings.Join(words, "; "), nil
}
