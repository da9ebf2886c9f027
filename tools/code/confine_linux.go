package code

// The limits of a child that only Linux can set.

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// headroom is what the Go runtime may need besides the program's memory.
const headroom = 64 << 20

// attributes of a child: a process group of its own, so that all of it can be
// killed, and its end with this process's.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func noNewPrivileges() error {
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// dataLimit is what RLIMIT_DATA is set to: what this process has mapped
// already (little, but much under the race detector) and what it may add.
// RLIMIT_AS cannot be used, Go reserves far more than it touches.
func dataLimit(memory int64) uint64 {
	fields := statm(os.Getpid())
	if len(fields) < 6 || memory <= 0 {
		return 0
	}
	return uint64(fields[5]) + uint64(memory) + headroom // both are positive
}

// resident is the resident memory of a process in bytes, 0 when it is gone.
func resident(pid int) int64 {
	if fields := statm(pid); len(fields) > 1 {
		return fields[1]
	}
	return 0
}

// statm reads /proc/PID/statm in bytes: size, resident, shared, text, lib, data.
func statm(pid int) []int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return nil
	}
	var out []int64
	for f := range strings.FieldsSeq(string(b)) {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil
		}
		out = append(out, n*int64(os.Getpagesize()))
	}
	return out
}
