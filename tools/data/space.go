package data

// Datasets by their names: a run's own, and those that packs give.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// folder is where a run's datasets are, and ending what their files end with.
const (
	folder = "datasets"
	ending = ".db"
)

// setName is what a dataset may be called.
var setName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// Given is a dataset that is there before a run: a pack's.
type Given struct {
	// Image is the dataset as it begins.
	Image func(ctx context.Context) ([]byte, error)
	// Rows are conditions in SQL by table: of these, a person sees the rows for which
	// they hold (:person is "slack:U…"). A dataset that has any is only read.
	Rows  map[string]string
	Trust agent.Trust
}

// Space finds datasets. It may be used from many goroutines.
type Space struct {
	Workspace *workspace.Workspace
	// Given is the dataset that a pack has under the name, and Names are all of them.
	Given func(name string) (Given, bool)
	Names func() []string
	// Trust is the trust in what runs put into datasets; empty: none.
	Trust agent.Trust
}

func (s *Space) given(name string) (Given, bool) {
	if s.Given == nil {
		return Given{}, false
	}
	return s.Given(name)
}

// Path is the file of a run's dataset. A name with an ending is a file of the
// workspace itself.
func Path(name string) (string, error) {
	if ext := strings.ToLower(path.Ext(name)); ext == ending || ext == ".sqlite" || ext == ".sqlite3" {
		return workspace.Clean(name)
	}
	if !setName.MatchString(name) {
		return "", fmt.Errorf("a dataset may not be called %q: a letter, then letters, digits, _ and -", name)
	}
	return folder + "/" + name + ending, nil
}

// errRead is said of a change to a dataset of which people see only their rows.
var errRead = errors.New("is only read: people see rows of their own in it")

// Use opens a copy of a dataset for reading, with the rows that the person of the
// call may see, and closes it afterwards.
func (s *Space) Use(ctx context.Context, c agent.Call, name string, do func(set *Set) (string, error)) (string, agent.Trust, error) {
	trust := s.Trust
	g, is := s.given(name)
	if is {
		trust = g.Trust
	}
	image, err := s.image(ctx, c, name)
	if err != nil {
		return "", trust, err
	}
	set, err := Open(ctx, image)
	if err != nil {
		return "", trust, err
	}
	defer func() { _ = set.Close() }() // a copy
	if err := set.Keep(g.Rows, c.Person); err != nil {
		return "", trust, err
	}
	text, err := do(set)
	return text, trust, err
}

// image is the run's own dataset, or the one that is given.
func (s *Space) image(ctx context.Context, c agent.Call, name string) ([]byte, error) {
	g, is := s.given(name)
	if is && len(g.Rows) > 0 {
		return g.Image(ctx)
	}
	p, err := Path(name)
	if err != nil {
		return nil, err
	}
	f, err := s.Workspace.Open(c.Folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	image, err := read(f, p)
	if !errors.Is(err, fs.ErrNotExist) {
		return image, err
	}
	if is {
		return g.Image(ctx)
	}
	return nil, s.unknown(f, name)
}

func read(f *workspace.Folder, p string) ([]byte, error) {
	file, info, err := f.Read(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	if info.Size() > MaxBytes {
		return nil, fmt.Errorf("%w %s has %d MiB, at most %d MiB are opened", ErrDataset, p, info.Size()>>20, MaxBytes>>20)
	}
	return io.ReadAll(io.LimitReader(file, MaxBytes))
}

// all are the names of the datasets that there are.
func (s *Space) all(f *workspace.Folder) []string {
	var list []string
	entries, _ := fs.ReadDir(f.FS(), folder) // none: there is no such folder
	for _, e := range entries {
		if name, is := strings.CutSuffix(e.Name(), ending); is && e.Type().IsRegular() {
			list = append(list, name)
		}
	}
	if s.Names != nil {
		list = append(list, s.Names()...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// unknown says which datasets there are.
func (s *Space) unknown(f *workspace.Folder, name string) error {
	list := s.all(f)
	switch n := format.Nearest(name, list, 3); {
	case len(list) == 0:
		return fmt.Errorf("there is no dataset %q, and no other; make one with create_dataset or import_data", name)
	case n != "":
		return fmt.Errorf("there is no dataset %q: did you mean %q?", name, n)
	}
	return fmt.Errorf("there is no dataset %q; there are %s", name, strings.Join(list, ", "))
}
