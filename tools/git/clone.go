package git

// The tool clone_repository.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

type clone struct{ git }

// Spec describes clone_repository.
func (clone) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "clone_repository",
		Description: "Clones a git repository from an https address into a new folder of the workspace. Hooks and submodules are left out.",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["url","path"],"properties":{
			"url":{"type":"string","minLength":1,"maxLength":2000,"description":"https://…"},
			"path":{"type":"string","minLength":1,"description":"New folder, relative to the workspace"},
			"branch":{"type":"string","maxLength":200,"description":"Branch or tag; default the repository's own"},
			"depth":{"type":"integer","minimum":1,"description":"So many commits of its history; default all"}}}`),
		Class: agent.ClassCreate, Repeat: agent.RepeatProbeable, Open: true, Trust: agent.Untrusted,
		Timeout: cloneTime + time.Minute, Example: json.RawMessage(`{"url":"https://github.com/golang/example","path":"example","depth":1}`),
	}
}

// source is what is cloned, and where to.
type source struct {
	URL    string      `json:"url"`
	Path   string      `json:"path"`
	Branch string      `json:"branch"`
	Depth  tools.Whole `json:"depth"`

	address *url.URL
}

// source reads and checks a call.
func (t clone) source(c agent.Call) (s source, err error) {
	if err := read(c, &s); err != nil {
		return s, err
	}
	if s.address, err = url.Parse(strings.TrimSpace(s.URL)); err != nil || s.address.Host == "" {
		return s, fmt.Errorf("%q is no address such as https://github.com/golang/example", s.URL)
	}
	if err := t.c.Guard.Check(s.address); err != nil {
		return s, fmt.Errorf("%s cannot be cloned from: %w", s.address.Host, err)
	}
	if err := checkRevision(s.Branch); err != nil {
		return s, err
	}
	s.Path, err = workspace.Clean(s.Path)
	return s, err
}

func (s source) port() string {
	if p := s.address.Port(); p != "" {
		return p
	}
	return map[string]string{"http": "80", "https": "443"}[s.address.Scheme]
}

// Prepare says where the repository goes.
func (t clone) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	s, err := t.source(c)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("clone_repository: %w", err)
	}
	if there, err := t.there(c, s); err != nil || there {
		return agent.Prepared{}, errors.Join(err, fmt.Errorf("clone_repository: %s is there already: choose a new folder", s.Path))
	}
	if _, err := t.c.Guard.Resolve(ctx, s.address.Hostname(), s.port()); err != nil {
		return agent.Prepared{}, fmt.Errorf("clone_repository: %w", err)
	}
	return agent.Prepared{
		Changes: []string{s.Path}, New: true, Hosts: []string{s.address.Hostname()},
		Preview: fmt.Sprintf("Clones `%s` into the new folder `%s`.", s.address, s.Path),
	}, nil
}

// there reports whether something is at the path.
func (t clone) there(c agent.Call, s source) (bool, error) {
	if _, err := t.at(c, ""); err != nil {
		return false, err
	}
	root, err := os.OpenRoot(t.folder(c))
	if err != nil {
		return false, fmt.Errorf("the folder cannot be opened: %w", err)
	}
	defer func() { _ = root.Close() }()
	_, err = root.Lstat(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Probe reports whether the repository is there: it comes as a whole or not at all.
func (t clone) Probe(ctx context.Context, c agent.Call) (bool, agent.Result, error) {
	s, err := t.source(c)
	if err != nil {
		return true, agent.Failed("clone_repository: " + err.Error()), nil //nolint:nilerr // it is told to the model
	}
	there, err := t.there(c, s)
	if err != nil || !there {
		return false, agent.Result{}, err
	}
	return true, t.told(ctx, c, s), nil
}

// Run clones the repository beside its place, and then puts it there.
func (t clone) Run(ctx context.Context, c agent.Call) agent.Result {
	s, err := t.source(c)
	if err == nil {
		err = t.clone(ctx, c, s)
	}
	if err != nil {
		return agent.Failed("clone_repository: " + err.Error())
	}
	return t.told(ctx, c, s)
}

func (t clone) clone(ctx context.Context, c agent.Call, s source) error {
	if there, err := t.there(c, s); err != nil || there {
		return errors.Join(err, fmt.Errorf("%s is there already: choose a new folder", s.Path))
	}
	root, err := os.OpenRoot(t.folder(c))
	if err != nil {
		return fmt.Errorf("the folder cannot be opened: %w", err)
	}
	defer func() { _ = root.Close() }()
	sum := sha256.Sum256([]byte(string(c.Run) + "\x00" + string(c.Effect)))
	draft := ".deckhand-clone-" + hex.EncodeToString(sum[:6]) // no tool shows it
	if err := root.RemoveAll(draft); err != nil {
		return fmt.Errorf("what an earlier try left cannot be removed: %w", err)
	}
	if err := root.Mkdir(draft, 0o755); err != nil {
		return fmt.Errorf("no folder could be made: %w", err)
	}
	defer func() { _ = root.RemoveAll(draft) }()
	args := []string{"clone", "--quiet", "--template=", "--no-recurse-submodules", "--no-hardlinks", "-c", "core.symlinks=false"}
	if s.Branch != "" {
		args = append(args, "--branch="+s.Branch)
	}
	if s.Depth > 0 {
		args = append(args, "--depth="+strconv.Itoa(int(s.Depth)))
	}
	_, err = t.run(ctx, sandbox.Spec{
		Dir: filepath.Join(t.folder(c), draft), Wall: cloneTime, Processes: 64, Network: []string{net.JoinHostPort(s.address.Hostname(), s.port())},
	}, append(args, "--", s.address.String(), ".")...)
	if err != nil {
		return err
	}
	if dir := path.Dir(s.Path); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("%s cannot be made: %w", dir, err)
		}
	}
	if err := root.Rename(draft, s.Path); err != nil {
		return fmt.Errorf("the repository cannot be put at %s: %w", s.Path, err)
	}
	return nil
}

// told says what was cloned.
func (t clone) told(ctx context.Context, c agent.Call, s source) agent.Result {
	text := fmt.Sprintf("cloned %s into %s", s.address, s.Path)
	whole, err := t.at(c, s.Path)
	if err == nil {
		var newest string
		newest, err = t.run(ctx, sandbox.Spec{Dir: whole, ReadOnly: true, Wall: lookTime}, "log", "-1", "--format=%h %ad %an: %s", "--date=short")
		text += "\nnewest commit: " + strings.TrimSpace(newest)
	}
	if err != nil {
		text += fmt.Sprintf("\n(its newest commit cannot be shown: %v)", err)
	}
	return agent.Result{State: agent.OutcomeOK, Trust: agent.Untrusted, Text: text}
}
