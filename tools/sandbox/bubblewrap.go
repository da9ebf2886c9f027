package sandbox

// This file is the driver bubblewrap: bwrap makes namespaces of its own for
// users, files, processes, networks and names, and runs the command in them.

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// bwrapProcesses are bwrap's own: one outside, one that is the first inside.
const bwrapProcesses = 2

// prepareBubblewrap makes the command that runs bwrap.
func prepareBubblewrap(o order) (*running, error) {
	s := o.Spec
	bwrap, err := exec.LookPath("bwrap")
	if err != nil {
		return nil, errors.New("there is no bwrap: install the package bubblewrap")
	}
	r := &running{overhead: bwrapProcesses}
	if s.Scratch != "" {
		r.scratch = []string{s.Scratch}
	}
	if len(s.Network) > 0 {
		if s, err = addProxy(o, r); err != nil {
			r.cleanUp()
			return nil, err
		}
	}
	b := &bwrapCommand{}
	b.isolate()
	if err := b.files(s); err != nil {
		return nil, err
	}
	if r.proxyDir != "" {
		b.add("--ro-bind", r.proxyDir, proxyFolder)
	}
	b.add("--remount-ro", "/")
	env := environment(s, "/tmp", "/tmp", Work)
	for _, name := range slices.Sorted(maps.Keys(env)) {
		b.add("--setenv", name, env[name])
	}
	b.add("--chdir", s.folder(), "--")
	r.cmd = exec.Command(bwrap, append(b.args, s.Command...)...) //nolint:gosec,noctx // what it runs is what it is for; its supervisor ends it
	r.cmd.Env, r.cmd.ExtraFiles = []string{}, b.pass
	r.cmd.SysProcAttr = commandAttributes()
	return r, nil
}

// bwrapCommand collects arguments, and files that bwrap reads from descriptors.
type bwrapCommand struct {
	args []string
	pass []*os.File
}

func (b *bwrapCommand) add(args ...string) { b.args = append(b.args, args...) }

// isolate asks for everything that there is to be kept from.
func (b *bwrapCommand) isolate() {
	b.add("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
		"--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv",
		"--uid", strconv.Itoa(nobody), "--gid", strconv.Itoa(nobody))
}

// files lays out what the command sees of the host's files.
func (b *bwrapCommand) files(s Spec) error {
	for _, p := range system {
		b.add("--ro-bind-try", p, p)
	}
	for _, p := range linked {
		if to, err := os.Readlink(p); err == nil {
			b.add("--symlink", to, p)
			continue
		}
		b.add("--ro-bind-try", p, p)
	}
	room := strconv.FormatInt(s.Disk, 10)
	b.add("--proc", "/proc", "--dev", "/dev", "--size", room, "--tmpfs", "/tmp", "--size", room, "--tmpfs", "/dev/shm")
	err := errors.Join(b.data("/etc/passwd", accounts), b.data("/etc/group", groups), b.data("/etc/hosts", "127.0.0.1 localhost sandbox\n::1 localhost\n"))
	filter, filterErr := seccompFile(filterFor(false))
	if err := errors.Join(err, filterErr); err != nil {
		return err
	}
	if filter != nil {
		b.add("--seccomp", b.descriptor(filter))
	}
	b.place(s)
	return nil
}

// place lays out the command's own folders.
func (b *bwrapCommand) place(s Spec) {
	switch {
	case s.Dir != "" && s.ReadOnly:
		b.add("--ro-bind", s.Dir, s.Dir)
	case s.Dir != "":
		b.add("--bind", s.Dir, s.Dir)
	}
	var hidden []string
	for _, p := range s.Hide {
		if info, err := os.Lstat(p); err == nil && info.IsDir() {
			b.add("--tmpfs", p)
			hidden = append(hidden, p)
		} else if err == nil && info.Mode().IsRegular() {
			b.add("--ro-bind", os.DevNull, p)
		}
	}
	switch {
	case s.Scratch != "":
		b.add("--bind", s.Scratch, Work)
	default:
		b.add("--size", strconv.FormatInt(s.Disk, 10), "--tmpfs", Work)
	}
	for _, p := range s.Read {
		b.add("--ro-bind-try", p, p)
	}
	for _, p := range s.Write { // may lie in what is hidden
		b.add("--bind", p, p)
	}
	for _, p := range hidden {
		b.add("--remount-ro", p)
	}
}

// data makes a file with the text.
func (b *bwrapCommand) data(name, text string) error {
	r, w, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("%s could not be handed over: %w", filepath.Base(name), err)
	}
	_, err = w.WriteString(text) // fits into the pipe
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("%s could not be handed over: %w", filepath.Base(name), err)
	}
	b.add("--ro-bind-data", b.descriptor(r), name)
	return nil
}

// descriptor is the number that bwrap finds a file at.
func (b *bwrapCommand) descriptor(f *os.File) string {
	b.pass = append(b.pass, f)
	return strconv.Itoa(2 + len(b.pass))
}
