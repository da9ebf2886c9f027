package program

// Packages that a task's programs need: installed once into a folder of their own,
// by pip in the sandbox, and seen by programs from then on.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// unusedFor is how long a set of packages is kept that no program asks for.
const unusedFor = 30 * 24 * time.Hour

// provide puts the packages that a task needs where its programs find them.
func (r *Runner) provide(ctx context.Context, e *agent.Env, s *sandbox.Spec) error {
	if e == nil || len(e.Packages) == 0 {
		return nil
	}
	driver, err := r.c.Sandbox.Driver(ctx)
	if err != nil {
		return fmt.Errorf("no sandbox works here: %w", err)
	}
	if err := r.mayInstall(driver, *e); err != nil {
		return err
	}
	r.installing.Lock() // one at a time: they share what pip knows of the index
	defer r.installing.Unlock()
	dir, err := r.installed(ctx, driver, *e, *s)
	if err != nil {
		return err
	}
	s.Read = append(slices.Clone(s.Read), dir)
	env := map[string]string{}
	maps.Copy(env, s.Env)
	env["PYTHONPATH"] = strings.TrimSuffix(dir+":"+env["PYTHONPATH"], ":")
	s.Env = env
	return nil
}

// mayInstall refuses what cannot be had here, in words.
func (r *Runner) mayInstall(driver sandbox.Driver, e agent.Env) error {
	index, err := url.Parse(r.c.Index)
	if err != nil {
		return fmt.Errorf("sandbox.index is no address: %w", err)
	}
	listed := slices.ContainsFunc(r.c.Sandbox.Network(), func(allowed string) bool {
		return covers(allowed, index.Hostname()) || covers(allowed, index.Host)
	})
	switch {
	case e.Runtime != "" && e.Runtime != "python":
		return fmt.Errorf("the task's env asks for packages of %s; only Python's are installed: name an image that has them", e.Runtime)
	case r.c.Cache == "":
		return errors.New("the task's env asks for packages, and there is no data directory to keep them in")
	case driver == sandbox.Child || driver == sandbox.Kubernetes:
		return fmt.Errorf("the task's env asks for packages (%s); the driver %s has no network to install them by: bubblewrap, docker and podman have, or name an image that has them", strings.Join(e.Packages, ", "), driver)
	case !listed:
		return fmt.Errorf("the task's env asks for packages (%s); sandbox.network does not list %s, where they come from", strings.Join(e.Packages, ", "), index.Host)
	}
	return nil
}

// installed is the folder that holds the packages, for this image or host.
func (r *Runner) installed(ctx context.Context, driver sandbox.Driver, e agent.Env, s sandbox.Spec) (string, error) {
	names := slices.Clone(e.Packages)
	slices.Sort(names)
	names = slices.Compact(names)
	what := sha256.Sum256([]byte(strings.Join(append([]string{string(driver), s.Image, r.c.Sandbox.Config().Image, r.c.Index}, names...), "\n")))
	dir := filepath.Join(r.c.Cache, hex.EncodeToString(what[:16]))
	now := time.Now()
	if os.Chtimes(dir, now, now) == nil { // it is there, and was used now
		return dir, nil
	}
	if err := os.MkdirAll(r.c.Cache, 0o700); err != nil {
		return "", fmt.Errorf("packages cannot be kept: %w", err)
	}
	r.forget(now)
	made, err := os.MkdirTemp(r.c.Cache, "new-")
	if err != nil {
		return "", fmt.Errorf("packages cannot be kept: %w", err)
	}
	defer func() { _ = os.RemoveAll(made) }()
	if err := r.install(ctx, made, names, s); err != nil {
		return "", err
	}
	if err := os.Rename(made, dir); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("packages cannot be kept: %w", err)
	}
	return dir, nil
}

// install runs pip in the sandbox, with the network of the configuration.
func (r *Runner) install(ctx context.Context, into string, names []string, s sandbox.Spec) error {
	words := append([]string{"python3", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-cache-dir", "--no-compile",
		"--index-url", r.c.Index, "--target", sandbox.Work}, names...)
	result, err := r.c.Sandbox.Run(ctx, sandbox.Spec{
		Command: words, Image: s.Image, Scratch: into, Network: r.c.Sandbox.Network(),
		Env:    map[string]string{"no_proxy": "", "NO_PROXY": ""}, // an index on this host is reached by the proxy as well
		Memory: r.c.Memory, Disk: r.c.Disk, Wall: r.c.Wall, Processes: r.c.Processes,
	})
	switch {
	case err != nil:
		return fmt.Errorf("packages could not be installed: %w", err)
	case result.Limit != "":
		return fmt.Errorf("packages could not be installed (%s): %s", strings.Join(names, ", "), result.Limit)
	case result.Code != 0:
		return fmt.Errorf("packages could not be installed (%s): %s", strings.Join(names, ", "), strings.TrimSpace(text(append(result.Stdout, result.Stderr...))))
	}
	return nil
}

// forget removes what was not used for long. What cannot be removed stays.
func (r *Runner) forget(now time.Time) {
	entries, err := os.ReadDir(r.c.Cache)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > unusedFor {
			_ = os.RemoveAll(filepath.Join(r.c.Cache, e.Name()))
		}
	}
}
