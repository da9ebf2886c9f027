//go:build unix && !linux

package sandbox

// What of it there is where there is no Linux: a process group that is ended
// as a whole, bounds on files, and a scrubbed environment.

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func supervisorAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func commandAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

func addNamespaces(*syscall.SysProcAttr) {}

func adoptOrphans() error { return nil }

// CloseInherited keeps descriptors that this process has from whoever started
// it away from all that it starts.
func CloseInherited() {
	for fd := 3; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
}

func openDescriptors() []string { return nil }

func childIsolates() bool { return false }

func limitProcess(s Spec) error {
	for which, value := range map[int]uint64{unix.RLIMIT_FSIZE: uint64(s.Disk), unix.RLIMIT_CORE: 0} {
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return fmt.Errorf("a limit cannot be set: %w", err)
		}
	}
	return nil
}

func confine(Spec) error { return nil }

// filterFor is empty: there is no such filter here.
func filterFor(bool) []byte { return nil }

func seccompFile([]byte) (*os.File, error) {
	return nil, errors.New("namespaces are Linux's: use another driver")
}

// listed are the processes below this one: pid, parent and resident KiB.
func listed() (found []int, memory int64) {
	out, err := exec.Command("ps", "-axo", "pid=,ppid=,rss=").Output() //nolint:noctx // it ends by itself
	if err != nil {
		return nil, 0
	}
	below := map[string]bool{strconv.Itoa(os.Getpid()): true}
	for range 2 { // parents may stand behind their children
		found, memory = nil, 0
		for line := range strings.Lines(string(out)) {
			f := strings.Fields(line)
			if len(f) != 3 || !below[f[1]] {
				continue
			}
			below[f[0]] = true
			pid, e1 := strconv.Atoi(f[0])
			kib, e2 := strconv.ParseInt(f[2], 10, 64)
			if errors.Join(e1, e2) == nil {
				found, memory = append(found, pid), memory+kib<<10
			}
		}
	}
	return found, memory
}

func treeUsage(int) (processes int, memory int64) {
	found, memory := listed()
	return len(found), memory
}

func killTree(r *running) { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }

func peakMemory() int64 { return 0 }

func lowerPriority(int) {}

func signalCommand(sig syscall.Signal) {
	found, _ := listed()
	for _, pid := range found {
		_ = syscall.Kill(pid, sig)
	}
}

func endRemains() { signalCommand(syscall.SIGKILL) }

// group would be a control group: those are Linux's.
type group struct{}

func joinGroup(Spec) *group { return nil }

func (*group) leave() {}

func (*group) passed(Spec) string { return "" }
