package workspace

// New files, whole or not at all.

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"path"
)

// Create makes a new file of what fill writes: whole, synced, or not at all.
// The path is cleaned first. A file that is there already is fs.ErrExist and
// stays as it is.
func (f *Folder) Create(p string, fill func(w io.Writer) error) error {
	p, err := Clean(p)
	if err != nil {
		return err
	}
	undo, err := f.parents(p)
	if err != nil {
		return explain(p, err)
	}
	temp := path.Join(path.Dir(p), hiddenDir+"-"+rand.Text())
	if err := f.draft(temp, fill); err != nil {
		_ = f.root.Remove(temp)
		undo()
		return fmt.Errorf("%s: %w", p, err)
	}
	err = f.root.Link(temp, p) // unlike a rename, it never replaces a file
	if e := f.root.Remove(temp); err == nil {
		err = e
	}
	if err != nil {
		undo()
		return fmt.Errorf("%s: %w", p, cause(err))
	}
	return f.syncDir(path.Dir(p))
}

// draft writes a file that nobody else sees yet.
func (f *Folder) draft(temp string, fill func(w io.Writer) error) error {
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return cause(err)
	}
	err = fill(file)
	if err == nil {
		err = file.Sync()
	}
	if e := file.Close(); err == nil {
		err = e
	}
	return err
}
