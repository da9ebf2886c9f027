package workspace

// One worker at a time for a file, and the record of effects that were done.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/wait"
)

// ErrBusy is returned where another worker held the lock for too long.
var ErrBusy = errors.New("another worker is busy with this file")

// The record of effects in a lock file is cut down to keepDone lines
// when it has grown beyond maxDone.
const (
	maxDone  = 512
	keepDone = 256
)

// Lock is held by one worker at a time. It dies with the process that holds
// it, and a frozen process keeps it. Its file also records which effects were
// begun and done under it.
type Lock struct {
	file *os.File
	path string // the entry of the locked path
}

// Lock takes the lock of the file at a clean path: one of 256, chosen by the
// path's hash, so that lock files do not pile up and a frozen process blocks
// few other files. It waits as long as the workspace's Wait and then returns
// ErrBusy.
func (f *Folder) Lock(ctx context.Context, p string) (*Lock, error) {
	// Folded, because some file systems take A and a for the same file.
	folded := strings.ToLower(filepath.ToSlash(filepath.Join(f.name, p)))
	sum := sha256.Sum256([]byte(folded))
	name := filepath.Join(f.w.locks, fmt.Sprintf("%02x", sum[0]))
	if err := os.MkdirAll(f.w.locks, 0o755); err != nil {
		return nil, fmt.Errorf("the folder of the lock files cannot be made: %w: nothing was changed", cause(err))
	}
	deadline := time.Now().Add(f.w.wait)
	backoff := wait.Backoff{First: time.Millisecond, Longest: 50 * time.Millisecond}
	for {
		file, err := take(name)
		if err != nil {
			return nil, fmt.Errorf("the lock file of %s cannot be used: %w: nothing was changed", p, cause(err))
		}
		if file != nil {
			return &Lock{file, entry(folded)}, nil
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%w: %s was not free within %s; nothing was changed, try again later", ErrBusy, p, f.w.wait)
		}
		if !backoff.Sleep(ctx) {
			return nil, fmt.Errorf("%w: stopped waiting for %s, nothing was changed: %w", ErrBusy, p, ctx.Err())
		}
	}
}

// take opens and locks a lock file; nil where somebody else holds it or has
// just replaced it.
func take(name string) (*os.File, error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	held, err := flock(file)
	if held && err == nil {
		// Somebody may have removed the file since it was opened: then others
		// would lock another one.
		opened, e1 := file.Stat()
		named, e2 := os.Stat(name)
		if e1 == nil && e2 == nil && os.SameFile(opened, named) {
			return file, nil
		}
	}
	_ = file.Close()
	return nil, err
}

// Release gives the lock back.
func (l *Lock) Release() { _ = l.file.Close() }

// Done reports whether the effect with the key was recorded as done.
func (l *Lock) Done(key string) (bool, error) {
	content, err := l.content()
	if err != nil {
		return false, err
	}
	return bytes.Contains(content, []byte("\n"+entry(key)+"\n")), nil
}

// begun starts the line of an effect that was begun: its key, its path and
// what it makes of the file.
const begun = "> "

// Begin notes that the effect with the key is about to make the file what
// after says. Whoever holds the lock next can tell by Settle whether it did.
func (l *Lock) Begin(key string, after State) error {
	return l.note(begun + entry(key) + " " + l.path + " " + after.String())
}

// Settle records an effect as done whose worker died right after it: the last
// one that was begun on this path, if the file is what it makes of it. Call it
// before anything else is changed, since later it could not be told any more.
func (l *Lock) Settle(now State) error {
	content, err := l.content()
	if err != nil {
		return err
	}
	key := ""
	for row := range strings.Lines(string(content)) {
		note, is := strings.CutPrefix(strings.TrimSpace(row), begun)
		if words := strings.Fields(note); is && len(words) == 3 && words[1] == l.path {
			key = ""
			if words[2] == now.String() {
				key = words[0]
			}
		}
	}
	if key == "" || bytes.Contains(content, []byte("\n"+key+"\n")) {
		return nil
	}
	return l.note(key)
}

// Record notes that the effect with the key was done. Without the record a
// worker that slept since before the effect could do it again after somebody
// restored the file to what it was.
func (l *Lock) Record(key string) error { return l.note(entry(key)) }

func (l *Lock) note(line string) error {
	content, err := l.content()
	if err != nil {
		return err
	}
	if lines := bytes.Split(bytes.TrimSpace(content), []byte("\n")); len(lines) > maxDone {
		content = append([]byte("\n"), bytes.Join(lines[len(lines)-keepDone:], []byte("\n"))...)
		if err := l.file.Truncate(0); err != nil {
			return fmt.Errorf("recording an effect: %w", cause(err))
		}
		if _, err := l.file.WriteAt(append(content, '\n'), 0); err != nil {
			return fmt.Errorf("recording an effect: %w", cause(err))
		}
	}
	if _, err := l.file.Seek(0, io.SeekEnd); err != nil {
		return fmt.Errorf("recording an effect: %w", cause(err))
	}
	// Starting with a line feed ends whatever a crash left half-written.
	if _, err := l.file.WriteString("\n" + line + "\n"); err != nil {
		return fmt.Errorf("recording an effect: %w", cause(err))
	}
	return nil
}

func (l *Lock) content() ([]byte, error) {
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("reading the done effects: %w", cause(err))
	}
	b, err := io.ReadAll(l.file)
	if err != nil {
		return nil, fmt.Errorf("reading the done effects: %w", cause(err))
	}
	return b, nil
}

// entry is a key in a form without line feeds and of one length.
func entry(key string) string {
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%x", sum[:16])
}
