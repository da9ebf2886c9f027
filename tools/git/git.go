package git

// This file says what the tools are made from, and runs git in the sandbox.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/egress"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Config is what the tools need.
type Config struct {
	Sandbox   *sandbox.Sandbox
	Workspace *workspace.Workspace
	Root      string   // the workspace's folder, absolute
	Hide      []string // absolute paths that git does not see
	// Guard knows which hosts may be cloned from; nil: none, and there is no
	// clone_repository.
	Guard *egress.Guard
	// Name and Email are as whom the agent commits.
	Name, Email string
}

// Bounds of git.
const (
	cloneTime = 10 * time.Minute
	lookTime  = time.Minute
	maxDisk   = 2 << 30
	maxMemory = 1 << 30
	maxOutput = 256 << 10
)

// programs are where git usually is.
var programs = []string{"/usr/bin/git", "/usr/local/bin/git", "/bin/git"}

// Present reports whether git is installed where commands find it.
func Present() bool {
	for _, p := range programs {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// New returns the tools.
func New(c Config) []agent.Tool {
	g := git{c}
	list := []agent.Tool{look{g, logSpec, logArguments}, look{g, diffSpec, diffArguments}, commit{g}}
	if c.Guard != nil {
		list = append(list, clone{g})
	}
	return list
}

type git struct{ c Config }

// settings switch off all that a repository could have git start, and win over
// what stands in its own settings.
var settings = []string{
	"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "core.editor=false", "core.sshCommand=false", "core.symlinks=false",
	"core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "credential.helper=", "diff.external=", "submodule.recurse=false",
	"protocol.allow=never", "protocol.http.allow=always", "protocol.https.allow=always", "http.followRedirects=initial",
	"gc.auto=0", "maintenance.auto=false", "commit.gpgSign=false", "tag.gpgSign=false", "log.showSignature=false", "advice.detachedHead=false",
	"safe.directory=*", "init.defaultBranch=main",
}

// environment keeps git to these settings, and from asking anybody.
func (g git) environment() map[string]string {
	return map[string]string{
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_ATTR_NOSYSTEM": "1",
		"GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "/bin/false", "SSH_ASKPASS": "/bin/false", "GIT_SSH_COMMAND": "/bin/false",
		"GIT_ALLOW_PROTOCOL": "http:https", "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1",
		"GIT_AUTHOR_NAME": g.c.Name, "GIT_AUTHOR_EMAIL": g.c.Email, "GIT_COMMITTER_NAME": g.c.Name, "GIT_COMMITTER_EMAIL": g.c.Email,
	}
}

// run runs git in a folder of the host and returns what it put out.
func (g git) run(ctx context.Context, spec sandbox.Spec, args ...string) (string, error) {
	spec.Command = []string{"git"}
	for _, s := range settings {
		spec.Command = append(spec.Command, "-c", s)
	}
	spec.Command = append(spec.Command, args...)
	spec.Env = g.environment()
	spec.Env["GIT_CEILING_DIRECTORIES"] = filepath.Dir(spec.Dir)
	spec.Hide, spec.Memory, spec.Disk, spec.Output = g.c.Hide, maxMemory, maxDisk, maxOutput
	if _, err := g.c.Sandbox.Driver(ctx); err != nil {
		return "", fmt.Errorf("no sandbox works here: %w", err)
	}
	if !g.c.Sandbox.Isolates(ctx) {
		return "", errors.New("no sandbox here keeps git from the host's files and network; install bubblewrap, or set sandbox.driver")
	}
	r, err := g.c.Sandbox.Run(ctx, spec)
	out := strings.ToValidUTF8(string(r.Stdout), "�")
	switch {
	case err != nil:
		return "", err
	case r.Limit != "" && r.Code == 0, r.Limit != "" && len(out) >= maxOutput/2:
		return out + "\n[… more is left out: ask for less …]", nil
	case r.Limit != "":
		return "", fmt.Errorf("git was stopped: %s", r.Limit)
	case r.Code != 0:
		return "", fmt.Errorf("git ended with exit code %d: %s", r.Code, strings.TrimSpace(strings.ToValidUTF8(string(r.Stderr), "�")))
	}
	return out, nil
}

// at is the whole path on this host of a repository in the run's folder.
func (g git) at(c agent.Call, p string) (whole string, err error) {
	folder, err := g.c.Workspace.Open(c.Folder) // makes it where it is missing
	if err != nil {
		return "", err
	}
	defer func() { _ = folder.Close() }()
	clean := "."
	if p != "" && p != "." {
		if clean, err = workspace.Clean(p); err != nil {
			return "", err
		}
		root, err := os.OpenRoot(g.folder(c))
		if err != nil {
			return "", fmt.Errorf("the folder cannot be opened: %w", err)
		}
		defer func() { _ = root.Close() }()
		if info, err := root.Stat(clean); err != nil || !info.IsDir() {
			return "", fmt.Errorf("there is no folder %s", clean)
		}
	}
	return filepath.Join(g.folder(c), filepath.FromSlash(clean)), nil
}

// folder is the run's folder on this host.
func (g git) folder(c agent.Call) string {
	return filepath.Join(g.c.Root, filepath.FromSlash(c.Folder))
}

// revision is what a revision may look like: nothing that git takes for an option.
var revision = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._/~^@{}-]*$`)

// maxRevision is how long one may be, in bytes.
const maxRevision = 200

// checkRevision refuses what is no revision.
func checkRevision(list ...string) error {
	for _, r := range list {
		if r != "" && (len(r) > maxRevision || !revision.MatchString(r)) {
			return fmt.Errorf("%q is no revision such as main, v1.2 or HEAD~3", r)
		}
	}
	return nil
}

func read(c agent.Call, into any) error {
	if err := json.Unmarshal(c.Arguments, into); err != nil {
		return fmt.Errorf("the arguments do not fit: %w", err)
	}
	return nil
}
