package workspace

// Files replaced and removed, if they are still as they were.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// ErrChanged is returned where a file is not what it was when the change was
// prepared.
var ErrChanged = errors.New("the file changed meanwhile")

// Replace makes the content read from r the content of the file at a clean
// path, whole or not at all: it is written beside the file, synced, and
// renamed over it. The mode of an existing file stays. Where the content is
// not what want says, nothing is changed and ErrChanged is returned. The
// caller holds the file's lock.
func (f *Folder) Replace(ctx context.Context, p string, r io.Reader, want State) (err error) {
	mode := fs.FileMode(0)
	if info, err := f.root.Lstat(p); err == nil {
		mode = info.Mode().Perm()
	}
	undo, err := f.parents(p)
	if err != nil {
		return explain(p, err)
	}
	sum := sha256.Sum256([]byte(path.Base(p)))
	temp := path.Join(path.Dir(p), hiddenDir+"-"+hex.EncodeToString(sum[:8]))
	// The lock is held: what has this name was left by a worker that died.
	if err := f.root.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		undo()
		return explain(p, err)
	}
	if err := f.fill(ctx, temp, p, r, mode, want); err != nil {
		_ = f.root.Remove(temp)
		undo()
		return err
	}
	if err := f.root.Rename(temp, p); err != nil {
		_ = f.root.Remove(temp)
		undo()
		return explain(p, err)
	}
	return f.syncDir(path.Dir(p))
}

func (f *Folder) fill(ctx context.Context, temp, p string, r io.Reader, mode fs.FileMode, want State) error {
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return explain(p, err)
	}
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, h), Bound(ctx, r))
	if err == nil && mode != 0 {
		err = file.Chmod(mode)
	}
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	if err != nil {
		return explain(p, err)
	}
	if got := (State{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}); got != want {
		return fmt.Errorf("%w: %s has other content than when the change was prepared; nothing was changed, read it again", ErrChanged, p)
	}
	return nil
}

// parents makes the missing folders above a file; undo removes them again
// while they are empty.
func (f *Folder) parents(p string) (undo func(), err error) {
	var made []string
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if _, err := f.root.Lstat(dir); err == nil {
			break
		}
		made = append(made, dir)
	}
	undo = func() {
		for _, dir := range made {
			if f.root.Remove(dir) != nil {
				return
			}
		}
	}
	if len(made) == 0 {
		return undo, nil
	}
	if err := f.root.MkdirAll(made[0], 0o755); err != nil {
		undo()
		return nil, err
	}
	return undo, nil
}

// Remove removes the file at a clean path. The caller holds its lock.
func (f *Folder) Remove(p string) error {
	if err := f.root.Remove(p); err != nil {
		return explain(p, err)
	}
	return f.syncDir(path.Dir(p))
}

// syncDir makes a rename or a removal survive a power cut.
func (f *Folder) syncDir(dir string) error {
	d, err := f.root.Open(dir)
	if err != nil {
		return explain(dir, err)
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("%s: the change was made but may not survive a power cut: %w", dir, cause(err))
	}
	return nil
}
