package sandbox

// A command run to its end: output bounded, files back.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Run runs a command to its end. An error means that it could not be run, or
// that nobody knows how it went; how a command that ran failed is in the result.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (Result, error) {
	driver, err := s.Driver(ctx)
	if err != nil {
		return Result{}, err
	}
	return s.run(ctx, driver, spec)
}

func (s *Sandbox) run(ctx context.Context, driver Driver, spec Spec) (Result, error) {
	if err := spec.check(); err != nil {
		return Result{}, err
	}
	spec = spec.withDefaults()
	if driver == Kubernetes {
		return s.runInCluster(ctx, spec)
	}
	if spec.Scratch == "" && len(spec.Files)+len(spec.Keep) > 0 {
		dir, err := os.MkdirTemp("", "deckhand-sandbox-")
		if err != nil {
			return Result{}, fmt.Errorf("no folder could be made for the command: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := putFiles(dir, spec.Files); err != nil {
			return Result{}, err
		}
		spec.Scratch = dir
	}
	cmd, err := s.command(ctx, driver, spec, true)
	if err != nil {
		return Result{}, err
	}
	r, err := execute(ctx, cmd, spec)
	if err == nil && len(spec.Keep) > 0 {
		r.Files, err = takeFiles(spec.Scratch, spec.Keep)
	}
	return r, err
}

// note is what a supervisor says at its end.
type note struct {
	Limit string `json:"limit,omitempty"` // what ended the command
	Error string `json:"error,omitempty"` // why it could not be started
}

func execute(ctx context.Context, cmd *exec.Cmd, spec Spec) (Result, error) {
	said, theirs, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("the command could not be started: %w", err)
	}
	defer func() { _ = said.Close() }()
	room := &room{left: spec.Output, over: func() { _ = cmd.Process.Signal(endNow) }}
	stdout, stderr := &bounded{room: room}, &bounded{room: room}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(spec.Stdin), stdout, stderr
	cmd.ExtraFiles = []*os.File{theirs}
	err = cmd.Start()
	_ = theirs.Close()
	if err != nil {
		return Result{}, fmt.Errorf("the command could not be started: %w", err)
	}
	text, _ := io.ReadAll(io.LimitReader(said, 64<<10)) // ends with the supervisor
	err = cmd.Wait()
	r := Result{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.b.Bytes(), Stderr: stderr.b.Bytes()}
	if ctx.Err() != nil {
		return r, fmt.Errorf("stopped: %w", ctx.Err())
	}
	var n note
	if json.Unmarshal(text, &n) != nil {
		return r, fmt.Errorf("%w: it ended without saying how the command went (%w): %s", ErrUnavailable, errors.Join(err), firstLine(r.Stderr))
	}
	if n.Error != "" {
		return r, fmt.Errorf("%w: %s", ErrUnavailable, n.Error)
	}
	r.Limit = n.Limit
	if room.passed() {
		r.Limit = tooMuchOutput(spec)
	}
	return r, nil
}

// room is how many bytes of output are still kept.
type room struct {
	mu   sync.Mutex
	left int64
	full bool
	over func() // called once, when more comes than fits
}

func (r *room) take(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	fits := int(min(int64(n), r.left))
	r.left -= int64(fits)
	if fits < n && !r.full {
		r.full = true
		r.over()
	}
	return fits
}

func (r *room) passed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.full
}

// bounded keeps what fits.
type bounded struct {
	room *room
	b    bytes.Buffer
}

// Write keeps what fits and never fails.
func (w *bounded) Write(p []byte) (int, error) {
	w.b.Write(p[:w.room.take(len(p))])
	return len(p), nil
}

// putFiles makes files in a folder.
func putFiles(dir string, files []File) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("the command's files could not be made: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, f := range files {
		if err := root.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return fmt.Errorf("the command's file %s could not be made: %w", f.Path, err)
		}
		if err := root.WriteFile(f.Path, f.Data, 0o644); err != nil {
			return fmt.Errorf("the command's file %s could not be made: %w", f.Path, err)
		}
	}
	return nil
}

// takeFiles reads files back: regular ones that lie in the folder itself, also
// where the command put links there. One that is missing is none.
func takeFiles(dir string, paths []string) ([]File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the command's files could not be read: %w", err)
	}
	defer func() { _ = root.Close() }()
	var files []File
	left := int64(mostBytes)
	for _, p := range paths {
		err := fs.WalkDir(root.FS(), filepath.ToSlash(filepath.Clean(p)), func(name string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			if len(files) == mostFiles {
				return fmt.Errorf("the command made more than %d files to bring back; put them into an archive", mostFiles)
			}
			data, err := readFile(root, name, left)
			left -= int64(len(data))
			files = append(files, File{Path: name, Data: data})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func readFile(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("the command's file could not be read: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, fmt.Errorf("the command's file %s could not be read: %w", name, err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("the command's files have more than %s together, so many are not brought back", size(mostBytes))
	}
	return data, nil
}
