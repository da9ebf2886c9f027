package sandbox

// Control groups, where this user may make some: hard walls around all that a
// command starts. Where there are none, the watch alone bounds it.

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// group is a command's control group: one folder, or one for each controller
// in the kernel's first version of them.
type group struct {
	dirs  []string
	homes []string // where this process came from, and goes back to
}

// hierarchies is where the kernel's control groups are mounted.
const hierarchies = "/sys/fs/cgroup"

// tasksFor is the wall for processes and threads together: the watch counts
// processes alone, and ends the command long before.
func tasksFor(s Spec) int64 { return int64(4*s.Processes + 64) }

// joinGroup puts this process, and so all that it starts, into a new control
// group. Nil: this user can make none.
func joinGroup(s Spec) *group {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	g := &group{}
	for line := range strings.Lines(string(own)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		switch f[1] {
		case "": // the second version: one folder for all
			g.joinUnified(f[2], s)
		case "pids":
			g.join(filepath.Join(hierarchies, "pids", f[2]), map[string]int64{"pids.max": tasksFor(s)})
		case "memory":
			g.join(filepath.Join(hierarchies, "memory", f[2]), map[string]int64{"memory.limit_in_bytes": s.Memory + headroom})
		}
	}
	if len(g.dirs) == 0 {
		return nil
	}
	return g
}

// joinUnified makes a group beside this process's own: one that has processes
// can hand no controllers down, unless it is the root.
func (g *group) joinUnified(own string, s Spec) {
	at := filepath.Join(hierarchies, own)
	parent := filepath.Dir(at)
	if own == "/" {
		parent = at
	}
	handed, err := os.ReadFile(filepath.Join(parent, "cgroup.subtree_control"))
	if err != nil {
		return
	}
	limits := map[string]int64{}
	for controller := range strings.FieldsSeq(string(handed)) {
		switch controller {
		case "memory":
			limits["memory.max"] = s.Memory + headroom
			limits["memory.swap.max"] = 0
		case "pids":
			limits["pids.max"] = tasksFor(s)
		}
	}
	if len(limits) > 0 {
		g.joinBeside(parent, at, limits)
	}
}

func (g *group) join(at string, limits map[string]int64) { g.joinBeside(at, at, limits) }

// joinBeside makes a group, bounds it, and moves this process into it. What
// cannot be done leaves no trace.
func (g *group) joinBeside(parent, home string, limits map[string]int64) {
	sweepGroups(parent)
	dir := filepath.Join(parent, groupPrefix+strconv.Itoa(os.Getpid()))
	if os.Mkdir(dir, 0o755) != nil {
		return
	}
	var failures []error
	for name, value := range limits {
		err := os.WriteFile(filepath.Join(dir, name), strconv.AppendInt(nil, value, 10), 0)
		if !errors.Is(err, os.ErrNotExist) { // swap may be off
			failures = append(failures, err)
		}
	}
	failures = append(failures, enter(dir))
	if errors.Join(failures...) != nil {
		_ = os.Remove(dir)
		return
	}
	g.dirs, g.homes = append(g.dirs, dir), append(g.homes, home)
}

// groupPrefix begins the names of groups; their supervisor's number follows.
const groupPrefix = "deckhand-"

// sweepGroups removes the groups of supervisors that were killed.
func sweepGroups(parent string) {
	dirs, err := filepath.Glob(filepath.Join(parent, groupPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(dir), groupPrefix))
		if err == nil && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			_ = os.Remove(dir) // one that still has processes stays
		}
	}
}

func enter(dir string) error {
	return os.WriteFile(filepath.Join(dir, "cgroup.procs"), strconv.AppendInt(nil, int64(os.Getpid()), 10), 0)
}

// leave moves this process back and removes the group: nothing else is in it.
func (g *group) leave() {
	if g == nil {
		return
	}
	for i, dir := range g.dirs {
		if err := enter(g.homes[i]); err == nil {
			_ = os.Remove(dir) // a process that is being reaped keeps it: it is empty then
		}
	}
}

// passed is the wall that was hit, in words.
func (g *group) passed(s Spec) string {
	if g == nil {
		return ""
	}
	for _, dir := range g.dirs {
		switch {
		case counted(filepath.Join(dir, "pids.events"), "max") > 0:
			return tooManyProcesses(s)
		case counted(filepath.Join(dir, "memory.events"), "oom_kill")+counted(filepath.Join(dir, "memory.oom_control"), "oom_kill") > 0:
			return tooMuchMemory(s)
		}
	}
	return ""
}

// counted is a number in a file of names and numbers, 0 where it is not there.
func counted(file, name string) (n int64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		var is string
		var value int64
		if _, err := fmt.Sscan(line, &is, &value); err == nil && is == name {
			return value
		}
	}
	return 0
}
