//go:build unix && !linux

package job

// Processes where there is no /proc: what daemonises gets away.

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// findsDescendants: only the command's group can be found; a daemon that
// leaves it gets away.
const findsDescendants = false

// newSession gives a supervisor a session of its own, so that it outlives this process.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// newGroup gives a command a process group.
func newGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func adoptOrphans() error { return nil }

// Conceal does nothing: this system has no such thing for one process.
func Conceal() error { return nil }

func thisMachine() machine {
	host, _ := os.Hostname() // empty is a name as well
	return machine{Host: host}
}

func descendants() []int { return nil }

// identify is a process with the time of its start.
func identify(pid int) (process, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "/bin/ps", "-o", "lstart=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return process{}, fmt.Errorf("ps does not know the process %d: %w", pid, err)
	}
	return process{PID: pid, Start: strings.TrimSpace(string(out))}, nil
}

// killRemains ends the group of a command that still lives, and says so.
func killRemains(_ string, p, _ process) int {
	now, err := identify(p.PID)
	if err != nil || now.Start == "" || now != p {
		return 0
	}
	if syscall.Kill(-p.PID, syscall.SIGKILL) != nil {
		return 0
	}
	return 1
}
