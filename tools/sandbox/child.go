package sandbox

// This file is the driver child: this program again, which gives up what it can
// for good and becomes the command. It needs nothing to be installed.

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// prepareChild makes the command that confines itself.
func prepareChild(o order) (*running, error) {
	r := &running{}
	s := o.Spec
	temp, err := os.MkdirTemp("", "deckhand-command-")
	if err != nil {
		return nil, fmt.Errorf("no folder could be made for the command: %w", err)
	}
	r.clean = append(r.clean, func() { _ = os.RemoveAll(temp) })
	if s.Scratch == "" {
		s.Scratch = filepath.Join(temp, "work")
		if err := os.Mkdir(s.Scratch, 0o700); err != nil {
			return nil, fmt.Errorf("no folder could be made for the command: %w", err)
		}
	}
	r.scratch = []string{temp}
	if s.Scratch != "" && !strings.HasPrefix(s.Scratch, temp) {
		r.scratch = append(r.scratch, s.Scratch)
	}
	s.Env = environment(s, temp, temp, s.Scratch)
	s.Write = append(slices.Clone(s.Write), temp)
	o.Spec = s
	if err := childCommand(r, o); err != nil {
		return nil, err
	}
	return r, nil
}

// childCommand is this program, about to become the command.
func childCommand(r *running, o order) error {
	text, err := json.Marshal(o)
	if err != nil {
		return fmt.Errorf("the order cannot be written: %w", err)
	}
	args := append(slices.Clone(o.Self[1:]), confineWord)
	r.cmd = exec.Command(o.Self[0], args...) //nolint:gosec,noctx // this program itself; its supervisor ends it
	r.cmd.Env = []string{orderVariable + "=" + string(text)}
	r.cmd.Dir = o.Spec.Dir
	if o.Spec.Dir == "" {
		r.cmd.Dir = o.Spec.Scratch
	}
	r.cmd.SysProcAttr = commandAttributes()
	if !o.Bare {
		addNamespaces(r.cmd.SysProcAttr)
	}
	return nil
}

// dropNamespaces makes the command anew without namespaces, where this user may
// have none. It reports whether there were any.
func dropNamespaces(r *running, o order) bool {
	var now order
	text := strings.TrimPrefix(r.cmd.Env[0], orderVariable+"=")
	if o.Bare || json.Unmarshal([]byte(text), &now) != nil {
		return false
	}
	now.Bare = true
	in, out, complaints := r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr
	if childCommand(r, now) != nil {
		return false
	}
	r.cmd.Stdin, r.cmd.Stdout, r.cmd.Stderr = in, out, complaints
	return true
}

// becomeCommand gives up rights and becomes the command. It returns only where
// that fails.
func becomeCommand() int {
	o, err := readOrder()
	if err != nil {
		fmt.Fprintln(os.Stderr, "the order cannot be read:", err)
		return codeUnavailable
	}
	CloseInherited()
	program, err := lookUp(o.Spec)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 127
	}
	var env []string
	for _, name := range slices.Sorted(maps.Keys(o.Spec.Env)) {
		env = append(env, name+"="+o.Spec.Env[name])
	}
	if err := confine(o.Spec); err != nil {
		fmt.Fprintln(os.Stderr, "the command could not be confined:", err)
		return codeUnavailable
	}
	err = syscall.Exec(program, o.Spec.Command, env) //nolint:gosec // what it runs is what it is for
	fmt.Fprintf(os.Stderr, "%s could not be started: %v\n", o.Spec.Command[0], err)
	return 126
}

// lookUp finds the command's program in the command's own PATH.
func lookUp(s Spec) (string, error) {
	name := s.Command[0]
	if strings.Contains(name, "/") {
		return name, nil
	}
	for dir := range strings.SplitSeq(s.Env["PATH"], ":") {
		p := filepath.Join(dir, name)
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: there is no such program in %s", name, s.Env["PATH"])
}
