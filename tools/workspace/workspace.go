package workspace

// The workspace and the folders in it.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
}

// Workspace is the agents' folder. It may be used from many goroutines, and
// from many processes at once.
type Workspace struct {
	dir, locks string
	wait       time.Duration
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
	w := &Workspace{dir: dir, locks: filepath.Join(dir, hiddenDir, "locks"), wait: 10 * time.Second}
	if c.Locks != "" {
		if w.locks, err = filepath.Abs(c.Locks); err != nil {
			return nil, fmt.Errorf("workspace: the lock folder %s has no absolute path: %w", c.Locks, err)
		}
	}
	if c.Wait > 0 {
		w.wait = c.Wait
	}
	return w, nil
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

// FS is the folder for walking. It follows no link out of the folder.
func (f *Folder) FS() fs.FS { return f.root.FS() }
