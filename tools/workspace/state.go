package workspace

// How a file is at one moment, and reading it.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// State is what is known of a file at one moment: that it is absent, or its
// size in bytes and the SHA-256 of its content in hex.
type State struct {
	Absent bool   `json:"absent,omitempty"`
	Size   int64  `json:"size,omitempty"`
	SHA256 string `json:"sha256,omitempty"`
}

// String is "absent" or "sha256:" and the hash.
func (s State) String() string {
	if s.Absent {
		return "absent"
	}
	return "sha256:" + s.SHA256
}

// StateOf is the state of a file with the content.
func StateOf(content []byte) State {
	sum := sha256.Sum256(content)
	return State{Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:])}
}

// State reads the state of the file at a clean path.
func (f *Folder) State(ctx context.Context, p string) (State, error) {
	file, _, err := f.Read(p)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Absent: true}, nil
	}
	if err != nil {
		return State{}, err
	}
	defer func() { _ = file.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, Bound(ctx, file))
	if err != nil {
		return State{}, explain(p, err)
	}
	return State{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// Read opens the regular file at a clean path. Links inside of the folder are
// followed; folders, devices, pipes and sockets are refused without waiting
// for their other end.
func (f *Folder) Read(p string) (*os.File, fs.FileInfo, error) {
	p = f.Existing(p)
	if err := f.visible(p); err != nil {
		return nil, nil, err
	}
	info, err := f.root.Stat(p)
	if err != nil {
		return nil, nil, explain(p, err)
	}
	if err := regular(p, info); err != nil {
		return nil, nil, err
	}
	// Between Stat and here a pipe may have taken the name; opening one would
	// block for ever without O_NONBLOCK.
	file, err := f.root.OpenFile(p, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, explain(p, err)
	}
	if info, err = file.Stat(); err == nil {
		err = regular(p, info)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, explain(p, err)
	}
	return file, info, nil
}

// Stat describes the file or folder at a clean path, following links inside
// of the folder.
func (f *Folder) Stat(p string) (fs.FileInfo, error) {
	p = f.Existing(p)
	if err := f.visible(p); err != nil {
		return nil, err
	}
	info, err := f.root.Stat(p)
	if err != nil {
		return nil, explain(p, err)
	}
	return info, nil
}

func regular(p string, info fs.FileInfo) error {
	if info.IsDir() {
		return &folderError{p}
	}
	if !info.Mode().IsRegular() {
		return special(p, info)
	}
	return nil
}

type folderError struct{ path string }

func (e *folderError) Error() string {
	return e.path + " is a folder: list_files shows what is in it"
}

// Unwrap returns ErrPath.
func (e *folderError) Unwrap() error { return ErrPath }

// Bound is r until ctx ends; then reading fails with the context's error.
func Bound(ctx context.Context, r io.Reader) io.Reader { return &bounded{ctx.Err, r} }

type bounded struct {
	ended func() error
	r     io.Reader
}

func (b *bounded) Read(p []byte) (int, error) {
	if err := b.ended(); err != nil {
		return 0, err
	}
	return b.r.Read(p)
}
