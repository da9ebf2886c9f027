package file

// The way through folders that list_files and search_files share.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// defaultSkip is the folders that are left out unless skip says otherwise. It is
// fresh every time, because decoding arguments writes into it.
func defaultSkip() []string { return []string{".git", "vendor", "node_modules"} }

const skipProperty = `"skip":{"type":"array","items":{"type":"string"},"description":"Names of folders to leave out; default .git, vendor, node_modules; [] leaves out nothing"}`

// foundFile is a regular file met on a walk.
type foundFile struct {
	path string // relative to the run's folder
	size int64
}

// startOf is the clean path of the file or folder that a walk starts at; where
// none is given, the whole folder of the run.
func startOf(f *workspace.Folder, given string) (string, error) {
	top, err := workspace.Clean(cmp.Or(given, "."))
	if err != nil {
		return "", err
	}
	_, err = f.Stat(top)
	return f.Existing(top), err
}

// walk visits the regular files below a file or folder in lexical order.
// Symbolic links are neither followed nor visited. depth counts folders, 1 is
// the folder alone, 0 is all. What cannot be read is an error: a listing with
// holes would be taken for the truth.
func walk(ctx context.Context, f *workspace.Folder, top string, skip []string, depth int, visit func(foundFile) error) error {
	globs, err := compileGlobs(skip)
	if err != nil {
		return err
	}
	return fs.WalkDir(f.FS(), top, func(p string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist) && p != top:
			return nil // it went away since its folder was read
		case err != nil:
			return fmt.Errorf("%s cannot be read: %w; name it in skip to go on without it", p, pathless(err))
		case p != top && f.Hides(p):
			return skipEntry(d)
		case d.IsDir() && p != top && (matchesAny(globs, p) || tooDeep(top, p, depth)):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s cannot be read: %w", p, pathless(err))
		}
		return visit(foundFile{p, info.Size()})
	})
}

func compileGlobs(skip []string) ([]glob, error) {
	globs := make([]glob, 0, len(skip))
	for _, s := range skip {
		g, err := compileGlob(strings.TrimSuffix(s, "/"))
		if err != nil {
			return nil, err
		}
		globs = append(globs, g)
	}
	return globs, nil
}

func skipEntry(d fs.DirEntry) error {
	if d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func matchesAny(globs []glob, p string) bool {
	for _, g := range globs {
		if g.re != nil && g.match(p) {
			return true
		}
	}
	return false
}

// tooDeep reports whether the folder p lies depth or more levels below top.
func tooDeep(top, p string, depth int) bool {
	if depth <= 0 {
		return false
	}
	levels := strings.Count(p, "/") + 1
	if top != "." {
		levels -= strings.Count(top, "/") + 1
	}
	return levels >= depth
}

func pathless(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// counter counts line feeds, as wc -l does, with one buffer for many files.
type counter struct{ buffer []byte }

func (c *counter) lines(ctx context.Context, f *workspace.Folder, p string) (int64, error) {
	file, _, err := f.Read(p)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	if c.buffer == nil {
		c.buffer = make([]byte, 64<<10)
	}
	var n int64
	for {
		k, err := file.Read(c.buffer)
		n += int64(bytes.Count(c.buffer[:k], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return 0, fmt.Errorf("%s cannot be read: %w", p, pathless(err))
		}
	}
}

// extension is the ending of a file's name with its dot; empty for names such
// as Makefile and .gitignore.
func extension(p string) string {
	base := path.Base(p)
	ext := path.Ext(base)
	if ext == base || ext == "." {
		return ""
	}
	return ext
}
