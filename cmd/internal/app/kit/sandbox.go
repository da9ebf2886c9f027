package kit

// This file makes the sandbox and the tools that run programs in it, and says
// which drivers work here.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/tools/check"
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
		Offline: !c.Tools.Internet, Cluster: cluster(c),
	})
	if err != nil {
		return nil, config.Refuse("sandbox (%s): %w", c.At("sandbox.driver"), err)
	}
	return s, nil
}

// cluster is where the driver kubernetes runs commands.
func cluster(c config.Config) sandbox.Cluster {
	k := c.Sandbox.Kubernetes
	root, err := filepath.Abs(c.Workspace)
	if err != nil {
		root = c.Workspace // the workspace itself would not have opened
	}
	return sandbox.Cluster{Context: k.Context, Namespace: k.Namespace, Runner: k.Runner, Program: k.Program, Claim: k.Claim, Root: root,
		RuntimeClass: k.RuntimeClass, PullSecrets: k.PullSecrets}
}

// serverSandbox starts a server's command in the sandbox, nil: on the host.
func serverSandbox(c config.Config, s config.MCPServer) (func(context.Context, *exec.Cmd) (*exec.Cmd, error), error) {
	if !s.Sandbox {
		return nil, nil //nolint:nilnil // none is no error
	}
	if s.Command == "" {
		return nil, errors.New("sandbox is for a server with a command: one at a url runs elsewhere")
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	box, err := newSandbox(c, self)
	if err != nil {
		return nil, err
	}
	p := c.Tools.Programs
	spec := sandbox.Spec{Env: config.Values(s.Env), Network: s.Network, Memory: int64(p.Memory), Disk: int64(p.Disk), Processes: p.Processes, Wall: -1, ReadOnly: true}
	var failures []error
	for list, paths := range map[*[]string][]string{&spec.Read: s.Read, &spec.Write: s.Write} {
		for _, name := range paths {
			abs, err := filepath.Abs(name)
			failures, *list = append(failures, err), append(*list, abs)
		}
	}
	if s.Cwd != "" {
		spec.Dir, err = filepath.Abs(s.Cwd)
		failures = append(failures, err)
	}
	if err := errors.Join(failures...); err != nil {
		return nil, err
	}
	return func(ctx context.Context, outside *exec.Cmd) (*exec.Cmd, error) {
		if _, err := box.Driver(ctx); err != nil {
			return nil, err
		}
		if !box.Isolates(ctx) {
			return nil, errors.New("no sandbox here keeps commands from the host's files and network; install bubblewrap, or set sandbox.driver")
		}
		inside := spec
		inside.Command = outside.Args
		return box.Command(context.WithoutCancel(ctx), inside) // it outlives the call that needs it first
	}, nil
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
	p, cache := c.Tools.Programs, ""
	if abs, err := filepath.Abs(c.DataDir); err == nil && c.DataDir != "" {
		cache = filepath.Join(abs, "packages")
	}
	return program.New(program.Config{
		Cache: cache, Index: c.Sandbox.Index,
		Sandbox: s, Workspace: w, Root: root, Hide: hidden(c),
		Images: slices.Contains([]sandbox.Driver{sandbox.Docker, sandbox.Podman, sandbox.Kubernetes}, sandbox.Driver(c.Sandbox.Driver)),
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

// newCheck makes the checks of tasks: commands run where programs do.
func newCheck(w *workspace.Workspace, programs []agent.Tool) agent.Tool {
	c := check.Config{Workspace: w}
	for _, t := range programs {
		if t.Spec().Name == "run_shell" {
			c.Shell = t
		}
	}
	return check.New(c)
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
