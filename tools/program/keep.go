package program

// Files that come back into the workspace.

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// Prepare says which files of the workspace a call would make or replace.
func (t tool) Prepare(ctx context.Context, c agent.Call) (agent.Prepared, error) {
	a, err := t.read(c)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("%s: %w", t.k.name, err)
	}
	if len(a.Keep) == 0 {
		return agent.Prepared{}, nil
	}
	folder, err := t.r.c.Workspace.Open(c.Folder)
	if err != nil {
		return agent.Prepared{}, fmt.Errorf("%s: %w", t.k.name, err)
	}
	defer func() { _ = folder.Close() }()
	p := agent.Prepared{Class: agent.ClassCreate}
	var marks, lines []string
	for _, name := range a.Keep {
		target, err := folder.Target(name)
		if err != nil {
			return agent.Prepared{}, fmt.Errorf("%s: %w", t.k.name, err)
		}
		before, err := folder.State(ctx, target)
		if err != nil {
			return agent.Prepared{}, fmt.Errorf("%s: %w", t.k.name, err)
		}
		p.Changes, marks = append(p.Changes, target), append(marks, before.String())
		if before.Absent {
			lines = append(lines, fmt.Sprintf("- makes `%s`", target))
			continue
		}
		p.Class = agent.ClassWrite
		lines = append(lines, fmt.Sprintf("- replaces `%s` (%d bytes)", target, before.Size))
	}
	p.Target = strings.Join(marks, "\n")
	p.Mark = p.Target
	p.Preview = "Runs a program in the sandbox and brings back what it makes:\n" + strings.Join(lines, "\n")
	return p, nil
}

// keyOf names what a call does to a file, for the file's log.
func keyOf(c agent.Call) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", c.Run, c.Effect, c.Tool, c.Arguments)
}

// kept reports whether this very call brought its files back before.
func (t tool) kept(ctx context.Context, c agent.Call, a arguments) (done bool, files []string, err error) {
	if len(a.Keep) == 0 {
		return false, nil, nil
	}
	folder, err := t.r.c.Workspace.Open(c.Folder)
	if err != nil {
		return false, nil, err
	}
	defer func() { _ = folder.Close() }()
	for _, name := range a.Keep {
		target, err := folder.Target(name)
		if err != nil {
			return false, nil, err
		}
		l, err := folder.Lock(ctx, target)
		if err != nil {
			return false, nil, err
		}
		done, err = l.Done(keyOf(c))
		l.Release()
		if err != nil || !done {
			return false, nil, err
		}
		files = append(files, target)
	}
	return true, files, nil
}

// keep writes the files that came back, each whole or not at all.
func (t tool) keep(ctx context.Context, c agent.Call, a arguments, came []sandbox.File) ([]string, error) {
	folder, err := t.r.c.Workspace.Open(c.Folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }()
	marks := strings.Split(c.Mark, "\n")
	var written []string
	for i, name := range a.Keep {
		data, there := contentOf(came, name)
		if !there {
			return written, fmt.Errorf("the program made no file %s in $OUT; it made %s", name, namesOf(came))
		}
		mark := ""
		if len(marks) == len(a.Keep) {
			mark = marks[i]
		}
		target, err := putBack(ctx, folder, c, name, mark, data)
		if err != nil {
			return written, err
		}
		written = append(written, target)
	}
	return written, nil
}

func contentOf(came []sandbox.File, name string) ([]byte, bool) {
	for _, f := range came {
		if f.Path == path.Clean(name) {
			return f.Data, true
		}
	}
	return nil, false
}

func namesOf(came []sandbox.File) string {
	var names []string
	for _, f := range came {
		names = append(names, f.Path)
	}
	if len(names) == 0 {
		return "none that keep names"
	}
	return strings.Join(names, ", ")
}

// putBack writes one file, unless it changed since the call was prepared.
func putBack(ctx context.Context, folder *workspace.Folder, c agent.Call, name, mark string, data []byte) (string, error) {
	target, err := folder.Target(name)
	if err != nil {
		return "", err
	}
	l, err := folder.Lock(ctx, target)
	if err != nil {
		return "", err
	}
	defer l.Release()
	if done, err := l.Done(keyOf(c)); err != nil || done {
		return target, err
	}
	now, err := folder.State(ctx, target)
	after := workspace.StateOf(data)
	switch {
	case err != nil:
		return "", err
	case mark != "" && now.String() != mark && now != after:
		return "", fmt.Errorf("%w: %s is %s, it was %s when this was prepared; it was not changed, look at it and decide anew", workspace.ErrChanged, target, now, mark)
	}
	if err := folder.Replace(ctx, target, bytes.NewReader(data), after); err != nil {
		return "", err
	}
	return target, l.Record(keyOf(c))
}
