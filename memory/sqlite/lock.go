package sqlite

// The right to be the one worker of a directory.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

const lockName = "deckhand.lock"

// lock is the right to be the one worker of a directory. The kernel takes it
// back when the process ends, however it ends.
type lock struct{ file *os.File }

// hold takes the directory's lock and writes this process's id into the file,
// or returns a *HeldError.
func hold(dir string) (*lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		held := &HeldError{Dir: dir, PID: pid(f.Name())}
		return nil, errors.Join(held, f.Close())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
	}
	l := &lock{file: f}
	if err := l.write(strconv.Itoa(os.Getpid()) + "\n"); err != nil {
		return nil, errors.Join(fmt.Errorf("write %s: %w", f.Name(), err), f.Close())
	}
	return l, nil
}

// free returns a *HeldError where a worker holds the directory, and takes no
// lock.
func free(dir string) error {
	f, err := os.Open(filepath.Join(dir, lockName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = &HeldError{Dir: dir, PID: pid(f.Name())}
	}
	return errors.Join(err, f.Close()) // which ends the lock
}

func (l *lock) write(s string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(s), 0)
	return err
}

// release ends the hold. The file stays: removing it would let two processes
// lock two files of one name.
func (l *lock) release() error {
	return errors.Join(l.write(""), l.file.Close())
}

// pid reads who holds the lock, 0 if that cannot be told.
func pid(name string) int {
	data, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	return n
}
