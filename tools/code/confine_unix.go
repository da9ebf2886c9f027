//go:build unix

package code

// The limits of a child that every Unix can set.

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// confine gives up files, and bounds memory and processor time for good.
func confine(q request) error {
	seconds := uint64(q.CPU/time.Second) + 2 // Child ends the program itself before
	limits := []struct {
		name  string
		which int
		value uint64
	}{
		{"processor time", unix.RLIMIT_CPU, seconds},
		{"file size", unix.RLIMIT_FSIZE, 0},
		{"core dumps", unix.RLIMIT_CORE, 0},
		{"open files", unix.RLIMIT_NOFILE, 0},
	}
	if data := dataLimit(q.Memory); data > 0 {
		limits = append(limits, struct {
			name  string
			which int
			value uint64
		}{"memory", unix.RLIMIT_DATA, data})
	}
	if err := noNewPrivileges(); err != nil {
		return fmt.Errorf("privileges: %w", err)
	}
	for _, l := range limits {
		if err := limit(l.which, l.value); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// limit sets a limit, or leaves one that is lower: nobody can raise it here.
func limit(which int, value uint64) error {
	var now unix.Rlimit
	if err := unix.Getrlimit(which, &now); err != nil {
		return err
	}
	value = min(value, now.Max)
	return unix.Setrlimit(which, &unix.Rlimit{Cur: value, Max: value})
}

// processorTime is what this process used so far.
func processorTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0 // RLIMIT_CPU holds
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
