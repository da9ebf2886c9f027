package sqlite

// What the store refuses, and what SQLite's errors mean.

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	sqlite3 "modernc.org/sqlite"

	"github.com/deckhand-bot/deckhand/agent"
)

// ErrGuest is what a guest is told that tries to work.
var ErrGuest = errors.New("opened beside a worker: only the holder of the data directory claims and extends leases and takes turns")

// ErrClosed is returned by a store that was closed.
var ErrClosed = errors.New("the store is closed")

// ErrHeld is wrapped by HeldError.
var ErrHeld = errors.New("held by another process")

// HeldError says which process works a data directory. PID is 0 where the
// holder has not written it yet.
type HeldError struct {
	Dir string
	PID int
}

func (e *HeldError) Error() string {
	holder := "another process"
	if e.PID != 0 {
		holder = "process " + strconv.Itoa(e.PID)
	}
	return "data directory " + e.Dir + " is held by " + holder + ": stop it, or use another directory (--data-dir)"
}

// Unwrap makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Unwrap() error { return ErrHeld }

// OlderError is what a guest is told that would write into a file which a worker
// of an older build has open: the guest leaves the file as that worker knows it.
type OlderError struct {
	Dir     string
	PID     int // of the worker, 0 where that cannot be told
	Version int // of the file's schema
}

func (e *OlderError) Error() string {
	worker := "a process"
	if e.PID != 0 {
		worker = "process " + strconv.Itoa(e.PID)
	}
	return "data directory " + e.Dir + " is worked by " + worker + " of an older deckhand (schema version " + strconv.Itoa(e.Version) +
		"), so that this one only reads: restart it with this build, or use the older one here"
}

// Unwrap makes errors.Is(err, agent.ErrPermanent) true.
func (e *OlderError) Unwrap() error { return agent.ErrPermanent }

// DamagedError says what a look through the file found first.
type DamagedError struct{ File, Found string }

func (e *DamagedError) Error() string {
	return e.File + " is damaged (" + e.Found + "): put a backup in its place, or move it away"
}

// Primary result codes of SQLite (https://sqlite.org/rescode.html) that a
// person can do something about.
const (
	codeError    = 1
	codeBusy     = 5
	codeReadOnly = 8
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeTooBig   = 18
	codeLimit    = 19 // a constraint
	codeMismatch = 20
	codeMisuse   = 21
	codeRange    = 25
	codeNotADB   = 26
)

// lasting are the codes that sending the same again does not mend. The others
// are of the disk, of memory, or of other processes: they may pass.
var lasting = []int{codeError, codeCorrupt, codeTooBig, codeLimit, codeMismatch, codeMisuse, codeRange, codeNotADB}

// code is the primary result code in err, 0 where there is none.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite3.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// explain says what happened to which file, and what to do about it.
func explain(dir, doing string, err error) error {
	if err == nil {
		return nil
	}
	file := filepath.Join(dir, fileName)
	if slices.Contains(lasting, code(err)) {
		err = fmt.Errorf("%w: %w", agent.ErrPermanent, err)
	}
	switch code(err) {
	case codeCorrupt, codeNotADB:
		return fmt.Errorf("%s: %s is damaged: move it away or put a copy in its place: %w", doing, file, err)
	case codeFull:
		return fmt.Errorf("%s: no space left for %s: nothing was written; free some and try again: %w", doing, file, err)
	case codeReadOnly, codeCantOpen:
		return fmt.Errorf("%s: cannot write %s: make the directory and its files writable, or choose another (--data-dir): %w", doing, file, err)
	case codeBusy:
		return fmt.Errorf("%s: %s was locked by another process for %v: end the deckhand command that was stopped (Ctrl-Z) or hangs, then try again: %w", doing, file, busyTimeout, err)
	}
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s: cannot write into data directory %s: make it writable, or choose another (--data-dir): %w", doing, dir, err)
	}
	return fmt.Errorf("%s (%s): %w", doing, file, err)
}
