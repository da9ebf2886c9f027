//go:build unix && !linux

package code

// The limits of a child where there is no Linux: none besides those of confine_unix.go.

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

// attributes of a child: a process group of its own, so that all of it can be
// killed. That this process ended, it notices by the end of its stdin.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// noNewPrivileges has nothing to do here: there is no such setting, and the
// interpreter cannot start programs.
func noNewPrivileges() error { return nil }

// dataLimit is 0: macOS does not enforce RLIMIT_DATA, the parent's watch does.
func dataLimit(int64) uint64 { return 0 }

// resident is the resident memory of a process in bytes, 0 when it is gone.
func resident(pid int) int64 {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output() //nolint:gosec // a fixed program and a number
	if err != nil {
		return 0
	}
	kib, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
