package sandbox

// The processes below a command, and what they use.

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// supervisorAttributes: a supervisor ends its command and itself where this process dies.
func supervisorAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: endNow}
}

// commandAttributes: a command dies with its supervisor.
func commandAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of whatever its descendants leave behind.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("daemons could not be kept track of: %w", err)
	}
	return nil
}

// CloseInherited keeps descriptors that this process has from whoever started
// it away from all that it starts.
func CloseInherited() {
	if unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, e := range entries {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// openDescriptors are the descriptors above stderr that this process was given.
func openDescriptors() []string {
	var found []string
	for fd := 3; fd < 256; fd++ {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err == nil && flags&unix.FD_CLOEXEC == 0 {
			found = append(found, strconv.Itoa(fd))
		}
	}
	return found
}

// children are the processes that a process started and that are not reaped.
func children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var found []int
	for _, name := range lists {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				found = append(found, child)
			}
		}
	}
	return found
}

// tree are the processes below this one, at least so many where there are more
// than most.
func tree(most int) []int {
	var found []int
	for todo := []int{os.Getpid()}; len(todo) > 0 && len(found) <= most; todo = todo[1:] {
		below := children(todo[0])
		found, todo = append(found, below...), append(todo, below...)
	}
	return found
}

// treeUsage is how many processes there are below this one, and how many bytes
// of memory they have: what they share counts once where it matters. Above most
// processes nothing is measured any more.
func treeUsage(most int) (processes int, memory int64) {
	all := tree(most)
	if len(all) > most {
		return len(all), 0
	}
	for _, pid := range all {
		memory += anonymous(pid)
	}
	if memory < 64<<20 { // nobody bounds so little
		return len(all), memory
	}
	var exact int64
	for _, pid := range all {
		exact += proportional(pid)
	}
	if exact > 0 {
		memory = exact
	}
	return len(all), memory
}

// anonymous is a process's memory that is no file's, in bytes.
func anonymous(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	f := strings.Fields(string(text))
	if len(f) < 3 {
		return 0
	}
	resident, e1 := strconv.ParseInt(f[1], 10, 64)
	shared, e2 := strconv.ParseInt(f[2], 10, 64)
	if errors.Join(e1, e2) != nil {
		return 0
	}
	return (resident - shared) * int64(os.Getpagesize())
}

// proportional is a process's part of the memory that it shares with others,
// and all of its own, without files, in bytes; 0 where it cannot be seen.
func proportional(pid int) (sum int64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return anonymous(pid)
	}
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch string(f[0]) {
		case "Pss_Anon:", "Pss_Shmem:":
			kib, err := strconv.ParseInt(string(f[1]), 10, 64)
			if err == nil {
				sum += kib << 10
			}
		}
	}
	return sum
}

// killTree ends the command and all below it: the first process takes those in
// its namespace with it.
func killTree(r *running) {
	_ = r.cmd.Process.Kill() // it may be gone
	for _, pid := range tree(math.MaxInt) {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// peakMemory is the most memory that one process of the command had that has
// ended, in bytes.
func peakMemory() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return u.Maxrss << 10
}

// lowerPriority lets the watch run before what it watches.
func lowerPriority(pid int) {
	if now, err := unix.Getpriority(unix.PRIO_PROCESS, pid); err == nil {
		_ = unix.Setpriority(unix.PRIO_PROCESS, pid, min(19, 20-now+5)) // the call gives 20 minus the value
	}
}

// signalCommand sends a signal to what the command itself is, without the
// processes of the driver.
func signalCommand(sig syscall.Signal) {
	for _, pid := range tree(math.MaxInt) {
		name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
		if err == nil && strings.TrimSpace(string(name)) != "bwrap" {
			_ = syscall.Kill(pid, sig)
		}
	}
}

// endRemains ends what the command left behind, and waits for that.
func endRemains() {
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); {
		for _, pid := range tree(math.MaxInt) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			return
		}
	}
}
