package job

// Locks between processes.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// tryLock locks a file, nil where somebody else holds it. The lock ends when
// the file is closed, at the latest with this process; children do not get it.
func tryLock(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, f.Close()
		default:
			return nil, errors.Join(err, f.Close())
		}
	}
}

// waitLock locks a file as soon as it is free.
func waitLock(ctx context.Context, name string) (f *os.File, err error) {
	if e := until(ctx, func() bool { f, err = tryLock(name); return f != nil || err != nil }); e != nil {
		return nil, e
	}
	return f, err
}

// lockUnbegun takes a job's lock as soon as it is free; nil without an error:
// somebody has begun the job.
func lockUnbegun(ctx context.Context, dir string) (f *os.File, err error) {
	if e := until(ctx, func() bool {
		if exists(dir, begunFile) {
			return true
		}
		f, err = tryLock(filepath.Join(dir, lockFile))
		return f != nil || err != nil
	}); e != nil {
		return nil, e
	}
	return f, err
}

func exists(dir, name string) bool {
	_, err := os.Lstat(filepath.Join(dir, name))
	return err == nil
}

// until looks again and again until it holds or ctx ends.
func until(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
	return nil
}
