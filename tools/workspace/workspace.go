package workspace

// The workspace and the folders in it.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Config says where the workspace is.
type Config struct {
	// Dir is the workspace's folder; it is created when it is first used.
	Dir string
	// Locks is the folder of the lock files. Workers that share Dir must share
	// Locks. Empty is .deckhand/locks in Dir, which no tool shows.
	Locks string
	// Wait is how long to wait for another worker's lock; 0 is 10 s.
	Wait time.Duration
	// Private are folders that no tool sees, where they lie in the workspace: the
	// data directory.
	Private []string
	// Protected are files that no tool changes, under whatever name: the
	// configuration that is in force. One that is not there protects nothing.
	Protected []string
}

// Workspace is the agents' folder. It may be used from many goroutines, and
// from many processes at once.
type Workspace struct {
	dir, locks string
	wait       time.Duration
	protected  []string
	private    []string // folded paths relative to dir
}

// New returns the workspace. It touches no file.
func New(c Config) (*Workspace, error) {
	if c.Dir == "" {
		return nil, errors.New("workspace: no folder is configured: set workspace or DECKHAND_WORKSPACE")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: the folder %s has no absolute path: %w", c.Dir, err)
	}
	w := &Workspace{dir: dir, locks: filepath.Join(dir, hiddenDir, "locks"), wait: 10 * time.Second, protected: c.Protected}
	if c.Locks != "" {
		if w.locks, err = filepath.Abs(c.Locks); err != nil {
			return nil, fmt.Errorf("workspace: the lock folder %s has no absolute path: %w", c.Locks, err)
		}
	}
	if c.Wait > 0 {
		w.wait = c.Wait
	}
	for _, p := range c.Private {
		if rel, err := filepath.Rel(realPath(dir), realPath(p)); err == nil && rel != "." && filepath.IsLocal(rel) {
			w.private = append(w.private, foldPath(filepath.ToSlash(rel)))
		}
	}
	return w, nil
}

// realPath is a path of the machine without links, as far as it is there.
func realPath(p string) string {
	abs, err := filepath.Abs(p)
	if err != nil {
		return p
	}
	if resolved, err := filepath.EvalSymlinks(abs); err == nil {
		return resolved
	}
	return filepath.Join(realParent(abs), filepath.Base(abs))
}

func realParent(abs string) string {
	if parent := filepath.Dir(abs); parent != abs {
		return realPath(parent)
	}
	return abs
}

// protects reports whether the file is one that no tool changes.
func (w *Workspace) protects(info fs.FileInfo) bool {
	return slices.ContainsFunc(w.protected, func(p string) bool {
		own, err := os.Stat(p)
		return err == nil && os.SameFile(own, info)
	})
}

// Folder is an open folder of the workspace. Nothing reached through it lies
// outside of it, symbolic links included. Close it after use.
type Folder struct {
	w    *Workspace
	name string // relative to the workspace, "." for the workspace itself
	root *os.Root
}

// Open opens a run's folder, "" for the workspace itself, and creates it
// where it is missing.
func (w *Workspace) Open(folder string) (*Folder, error) {
	name := "."
	if folder != "" {
		var err error
		if name, err = Clean(folder); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(w.dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(w.dir, 0o755); err == nil {
			root, err = os.OpenRoot(w.dir)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the workspace cannot be opened: %w", cause(err))
	}
	if name == "." {
		return &Folder{w: w, name: name, root: root}, nil
	}
	defer func() { _ = root.Close() }()
	if _, err := root.Stat(name); errors.Is(err, fs.ErrNotExist) {
		if err := root.MkdirAll(name, 0o755); err != nil {
			return nil, explain(name, err)
		}
	}
	sub, err := root.OpenRoot(name)
	if err != nil {
		return nil, explain(name, err)
	}
	return &Folder{w: w, name: name, root: sub}, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Hides reports whether a path in the folder, without links, is Deckhand's own
// and not shown to anybody: by its name, or because it lies in a private folder.
func (f *Folder) Hides(p string) bool {
	whole := foldPath(path.Join(f.name, p))
	for part := range strings.SplitSeq(whole, "/") {
		if Hidden(part) {
			return true
		}
	}
	return slices.ContainsFunc(f.w.private, func(own string) bool {
		return whole == own || strings.HasPrefix(whole, own+"/")
	})
}

// FS is the folder for walking. It follows no link out of the folder.
func (f *Folder) FS() fs.FS { return f.root.FS() }
