package job

// Processes and their descendants, as Linux tells of them.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// findsDescendants: what descends from a supervisor stays below it, also what
// makes itself a daemon.
const findsDescendants = true

// newSession gives a supervisor a session of its own, so that it outlives this process.
func newSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// newGroup gives a command a process group, and makes it die with its supervisor.
func newGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// adoptOrphans makes this process the parent of whatever its descendants leave
// behind, and keeps them from gaining rights that it does not have.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("daemons could not be kept track of: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("privileges could not be given up: %w", err)
	}
	return nil
}

// Conceal keeps other processes of the same user, commands among them, from
// reading this one's memory and environment.
func Conceal() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }

func thisMachine() machine {
	host, _ := os.Hostname() // empty is a name as well
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return machine{Host: host, Boot: strings.TrimSpace(string(boot))}
}

// stat is what /proc/PID/stat says of a process.
type stat struct {
	pid, parent, group, session int
	state, start                string
}

var errStat = errors.New("its line in /proc has another form")

func statOf(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return stat{}, err
	}
	// The name in parentheses may hold anything.
	_, rest, _ := strings.Cut(string(text[max(0, bytes.LastIndexByte(text, ')')):]), " ")
	f := strings.Fields(rest)
	if len(f) < 20 {
		return stat{}, errStat
	}
	var n [3]int
	for i := range n {
		if n[i], err = strconv.Atoi(f[1+i]); err != nil {
			return stat{}, fmt.Errorf("%w: %w", errStat, err)
		}
	}
	return stat{pid: pid, parent: n[0], group: n[1], session: n[2], state: f[0], start: f[19]}, nil
}

// identify is a process with the time of its start, in ticks since the boot.
func identify(pid int) (process, error) {
	s, err := statOf(pid)
	return process{PID: pid, Start: s.start}, err
}

// processes lists all that can be seen.
func processes() []stat {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var list []stat
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if s, err := statOf(pid); err == nil {
			list = append(list, s)
		}
	}
	return list
}

// descendants lists what descends from this process and lives.
func descendants() []int {
	children := map[int][]stat{}
	for _, s := range processes() {
		children[s.parent] = append(children[s.parent], s)
	}
	var found []int
	for todo := []int{os.Getpid()}; len(todo) > 0; {
		next := children[todo[0]]
		todo = todo[1:]
		for _, s := range next {
			todo = append(todo, s.pid)
			if s.state != "Z" {
				found = append(found, s.pid)
			}
		}
	}
	return found
}

// killRemains ends what is left of a command, and counts it: what has the
// job's own TMPDIR, and what is in the command's group in the session of its
// supervisor. Neither number can be another's as long as a member lives.
func killRemains(temp string, p, supervisor process) (n int) {
	since, err := strconv.ParseUint(p.Start, 10, 64)
	grouped := func(s stat) bool {
		start, e := strconv.ParseUint(s.start, 10, 64)
		return err == nil && e == nil && s.session == supervisor.PID && s.group == p.PID && start >= since
	}
	for range 10 { // what forked meanwhile is found by the next look
		before := n
		for _, s := range processes() {
			if s.state != "Z" && (grouped(s) || hasTemp(s.pid, temp)) && syscall.Kill(s.pid, syscall.SIGKILL) == nil {
				n++
			}
		}
		if n == before {
			break
		}
	}
	return n
}

// hasTemp reports whether a process was started with the folder as TMPDIR.
func hasTemp(pid int, temp string) bool {
	env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00TMPDIR="+temp+"\x00"))
}
