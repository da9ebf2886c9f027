package workspace

// Paths that cannot leave a folder.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// ErrPath is returned for a path that no tool may touch.
var ErrPath = errors.New("this path cannot be used")

// hiddenDir holds locks where no other folder is configured; names that
// start with it and a dash are files that are being written.
const hiddenDir = ".deckhand"

// Clean returns a path relative to the workspace in its shortest form. It
// refuses what is absolute, leads out or is reserved, with ErrPath.
func Clean(p string) (string, error) {
	switch {
	case p == "":
		return "", fmt.Errorf("%w: it is empty: name a file relative to the workspace, for example notes/today.md", ErrPath)
	case strings.ContainsRune(p, 0):
		return "", fmt.Errorf("%w: %q has a NUL character in it", ErrPath, p)
	case path.IsAbs(p) || filepath.IsAbs(p):
		return "", fmt.Errorf("%w: %q is absolute: use a path relative to the workspace", ErrPath, p)
	}
	c := path.Clean(p)
	if c == ".." || strings.HasPrefix(c, "../") || !filepath.IsLocal(c) {
		return "", fmt.Errorf("%w: %q leads out of the workspace: use a path inside of it", ErrPath, p)
	}
	for part := range strings.SplitSeq(c, "/") {
		if Hidden(part) {
			return "", reserved(part)
		}
	}
	return c, nil
}

func reserved(name string) error {
	return fmt.Errorf("%w: names like %q are reserved for Deckhand itself", ErrPath, name)
}

// maxLinks is how many symbolic links lie on the way to a file, at most.
const maxLinks = 40

// visible returns ErrPath for a clean path that leads, through links, to what is
// Deckhand's own. Whether the path exists, or leads out, is for who opens it.
func (f *Folder) visible(p string) error {
	at, rest := ".", strings.Split(p, "/")
	for links := 0; len(rest) > 0; {
		next := path.Join(at, rest[0])
		rest = rest[1:]
		to, err := f.root.Readlink(next)
		if err != nil { // no link, or nothing there
			at = next
			continue
		}
		if links++; links > maxLinks || path.IsAbs(to) {
			return nil // opening it says why not
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	if f.Hides(at) {
		return reserved(p)
	}
	return nil
}

// Hidden reports whether a file or folder name is Deckhand's own and not
// shown to anybody.
func Hidden(name string) bool {
	l := Fold(name)
	return l == hiddenDir || strings.HasPrefix(l, hiddenDir+"-")
}

// Fold is a file's name as the most forgiving file system compares it: in lower
// case, composed, without what is not seen. Two names that some system takes for
// one file have one folded form.
func Fold(name string) string {
	seen := strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			return -1
		}
		return r
	}, norm.NFKC.String(name))
	return strings.TrimRight(cases.Fold().String(seen), " .")
}

func foldPath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = Fold(part)
	}
	return strings.Join(parts, "/")
}

// configNames are Deckhand's own configuration: who writes it decides what the
// next start does, and with whose keys.
var configNames = []string{"deckhand.yaml", "deckhand.yml"}

// cleanTarget is Clean for a file that is to be written or removed.
func cleanTarget(p string) (string, error) {
	c, err := Clean(p)
	switch {
	case err != nil:
		return "", err
	case c == "." || strings.HasSuffix(p, "/"):
		return "", fmt.Errorf("%w: %q names a folder, name a file", ErrPath, p)
	case strings.ContainsFunc(c, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return "", fmt.Errorf("%w: %q has control characters in it", ErrPath, p)
	}
	for part := range strings.SplitSeq(c, "/") {
		// A hook or a config entry in there is a program that git runs later.
		if Fold(part) == ".git" {
			return "", fmt.Errorf("%w: %q lies in .git, which no tool changes", ErrPath, p)
		}
	}
	if slices.Contains(configNames, Fold(path.Base(c))) {
		return "", fmt.Errorf("%w: %q is Deckhand's own configuration, which no tool changes: tell people what should stand in it", ErrPath, p)
	}
	return c, nil
}

// Existing is the clean path under which the folder has the file or folder, and p
// itself where it has none. What looks the same may be written in two ways: é is
// one character or two, and some systems (macOS) name files by the second.
func (f *Folder) Existing(p string) string {
	if _, err := f.root.Lstat(p); err == nil || !strings.ContainsFunc(p, func(r rune) bool { return r > unicode.MaxASCII }) {
		return p
	}
	at := "."
	for part := range strings.SplitSeq(p, "/") {
		next := path.Join(at, part)
		if _, err := f.root.Lstat(next); err != nil {
			name := f.alike(at, part)
			if name == "" {
				return p
			}
			next = path.Join(at, name)
		}
		at = next
	}
	return at
}

// alike is the one name in a folder that looks like the other, empty: there is
// none, or more than one.
func (f *Folder) alike(dir, name string) (found string) {
	d, err := f.root.Open(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return ""
	}
	name = norm.NFC.String(name)
	for _, other := range names {
		if norm.NFC.String(other) != name {
			continue
		}
		if found != "" {
			return ""
		}
		found = other
	}
	return found
}

// Target checks the path of a file that is to be written or removed and
// returns it clean. Symbolic links on the way are refused: through them one
// file would have two names and so two locks.
func (f *Folder) Target(p string) (string, error) {
	c, err := cleanTarget(p)
	if err != nil {
		return "", err
	}
	c = f.Existing(c)
	if f.Hides(c) {
		return "", reserved(c)
	}
	parts := strings.Split(c, "/")
	for i := range parts {
		at := strings.Join(parts[:i+1], "/")
		info, err := f.root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return c, nil
		case err != nil:
			return "", explain(c, err)
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := f.root.Readlink(at)
			if err != nil {
				return "", explain(at, err)
			}
			return "", fmt.Errorf("%w: %s is a symbolic link to %q: name the file itself", ErrPath, at, to)
		case i == len(parts)-1:
			return c, f.changeable(c, info)
		case !info.IsDir():
			return "", fmt.Errorf("%w: %s is a file, so there cannot be a file %s", ErrPath, at, c)
		}
	}
	return c, nil
}

// changeable returns ErrPath for what is there and is no file that a tool changes.
func (f *Folder) changeable(p string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return fmt.Errorf("%w: %s is a folder, name a file", ErrPath, p)
	case !info.Mode().IsRegular():
		return special(p, info)
	case f.w.protects(info):
		return fmt.Errorf("%w: %s is the configuration that Deckhand was started with, which no tool changes", ErrPath, p)
	}
	return nil
}

func special(p string, info fs.FileInfo) error {
	what := "no regular file"
	switch {
	case info.Mode()&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case info.Mode()&fs.ModeSocket != 0:
		what = "a socket"
	case info.Mode()&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("%w: %s is %s, only regular files are read and written", ErrPath, p, what)
}

// explain says what an operation on a path failed for, in words that tell
// what to do next. The error of the system stays in the chain.
func explain(p string, err error) error {
	err = cause(err)
	hint := ""
	switch {
	case errors.Is(err, ErrPath):
		return err
	case strings.HasSuffix(err.Error(), "path escapes from parent"):
		return fmt.Errorf("%w: %q leads out of the workspace through a symbolic link", ErrPath, p)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s (list_files shows what there is): %w", p, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		hint = "free some space or write less; nothing was changed"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		hint = "the process may not do this here; nothing was changed"
	case errors.Is(err, syscall.ENAMETOOLONG):
		hint = "use a shorter name"
	case errors.Is(err, syscall.ELOOP):
		hint = "its symbolic links lead in a circle"
	}
	if hint == "" {
		return fmt.Errorf("%s: %w", p, err)
	}
	return fmt.Errorf("%s: %w: %s", p, err, hint)
}

// cause drops the operation and the path of the machine from a file error:
// neither a model nor a chat needs to see them.
func cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}
