package data

// A change of a dataset: the file is replaced, whole or not at all, and once for
// each call.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// repeated is the result of a call that was carried out before.
const repeated = "this was done before; query the dataset to see it"

// keyOf names a call's change over all runs.
func keyOf(c agent.Call) string {
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", c.Run, c.Effect, c.Tool, c.Arguments)
}

// Prepare says what a change of a dataset means for the workspace.
func (s *Space) Prepare(c agent.Call, name string) (p agent.Prepared, err error) {
	if g, is := s.given(name); is && len(g.Rows) > 0 {
		return p, fmt.Errorf("%w %s %w", ErrDataset, name, errRead)
	}
	at, err := Path(name)
	if err != nil {
		return p, err
	}
	f, err := s.Workspace.Open(c.Folder)
	if err != nil {
		return p, err
	}
	defer func() { _ = f.Close() }()
	if at, err = f.Target(at); err != nil {
		return p, err
	}
	_, err = f.Stat(at)
	p = agent.Prepared{Class: agent.ClassWrite, Changes: []string{at}}
	if errors.Is(err, fs.ErrNotExist) {
		p.Class, p.New, err = agent.ClassCreate, true, nil
	}
	return p, err
}

// Change changes a dataset, unless this very call did so before. One that is not
// there begins as the one that is given, or is made where the caller says so. An
// error of do changes nothing.
func (s *Space) Change(ctx context.Context, c agent.Call, name string, fresh bool, do func(set *Set) (string, error)) (text, file string, err error) {
	f, l, at, err := s.lock(ctx, c, name)
	if err != nil {
		return "", "", err
	}
	defer func() { l.Release(); _ = f.Close() }()
	if done, err := l.Done(keyOf(c)); err != nil || done {
		return repeated, at, err
	}
	image, err := s.begin(ctx, f, at, name, fresh)
	if err != nil {
		return "", at, err
	}
	set, err := Open(ctx, image)
	if err != nil {
		return "", at, err
	}
	defer func() { _ = set.Close() }() // its image is kept
	if text, err = do(set); err != nil {
		return "", at, err
	}
	if image, err = set.Image(); err != nil {
		return "", at, err
	}
	after := workspace.StateOf(image)
	if err := l.Begin(keyOf(c), after); err != nil {
		return "", at, err
	}
	if err := f.Replace(ctx, at, bytes.NewReader(image), after); err != nil {
		return "", at, err
	}
	return text, at, l.Record(keyOf(c))
}

// Done reports whether the call's change was made.
func (s *Space) Done(ctx context.Context, c agent.Call, name string) (bool, error) {
	f, l, _, err := s.lock(ctx, c, name)
	if err != nil {
		return false, err
	}
	defer func() { l.Release(); _ = f.Close() }()
	return l.Done(keyOf(c))
}

// lock takes a dataset for a change, and settles what a worker that died left.
func (s *Space) lock(ctx context.Context, c agent.Call, name string) (*workspace.Folder, *workspace.Lock, string, error) {
	at, err := Path(name)
	if err != nil {
		return nil, nil, "", err
	}
	f, err := s.Workspace.Open(c.Folder)
	if err != nil {
		return nil, nil, "", err
	}
	l, at, err := take(ctx, f, at)
	if err != nil {
		return nil, nil, "", errors.Join(err, f.Close())
	}
	return f, l, at, nil
}

func take(ctx context.Context, f *workspace.Folder, at string) (*workspace.Lock, string, error) {
	at, err := f.Target(at)
	if err != nil {
		return nil, "", err
	}
	l, err := f.Lock(ctx, at)
	if err != nil {
		return nil, "", err
	}
	now, err := f.State(ctx, at)
	if err == nil {
		err = l.Settle(now)
	}
	if err != nil {
		l.Release()
		return nil, "", err
	}
	return l, at, nil
}

// begin is what a dataset is before a change.
func (s *Space) begin(ctx context.Context, f *workspace.Folder, at, name string, fresh bool) ([]byte, error) {
	g, is := s.given(name)
	if is && len(g.Rows) > 0 {
		return nil, fmt.Errorf("%w %s %w", ErrDataset, name, errRead)
	}
	image, err := read(f, at)
	switch {
	case !errors.Is(err, fs.ErrNotExist):
		return image, err
	case is:
		return g.Image(ctx)
	case fresh:
		return nil, nil
	}
	return nil, s.unknown(f, name)
}
