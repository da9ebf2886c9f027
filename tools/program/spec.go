package program

// From a call and its task's needs to a sandbox's specification.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// spec is the specification of a call.
func (t tool) spec(c agent.Call, a arguments) (sandbox.Spec, error) {
	s, err := t.r.Needs(c.Env)
	if err != nil {
		return s, err
	}
	s.Command, s.Stdin, s.Keep = t.k.command(a), standardInput(a.Input), a.Keep
	if t.k.own {
		s.Files = []sandbox.File{{Path: programFile, Data: []byte(a.Code)}}
		return s, nil
	}
	folder, err := t.r.c.Workspace.Open(c.Folder) // makes it where it is missing
	if err != nil {
		return s, err
	}
	if err := folder.Close(); err != nil {
		return s, err
	}
	s.Dir, s.ReadOnly, s.Hide = filepath.Join(t.r.c.Root, filepath.FromSlash(c.Folder)), true, t.r.c.Hide
	if c.Env != nil && len(c.Env.Files) > 0 {
		s.Need = slices.Clone(c.Env.Files)
		if a.Path != "" {
			s.Need = append(s.Need, a.Path)
		}
	}
	if len(a.Keep) == 0 {
		s.Keep = nil
	}
	return s, nil
}

// standardInput is a text as it is, and any other value as JSON.
func standardInput(raw json.RawMessage) []byte {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []byte(s)
	}
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return nil
	}
	return raw
}

// What a program has whose task asks for nothing.
const (
	usualMemory = 512 << 20
	usualWall   = time.Minute
	usualDisk   = 256 << 20
)

// Needs is the specification that a task's needs make, without a command. What
// the configuration does not let a program have is an error that names its key.
func (r *Runner) Needs(e *agent.Env) (sandbox.Spec, error) {
	s := sandbox.Spec{
		Memory: min(usualMemory, r.c.Memory), Wall: min(usualWall, r.c.Wall), Disk: min(usualDisk, r.c.Disk),
		Processes: min(64, r.c.Processes), Output: r.c.Output,
	}
	if e == nil {
		return s, nil
	}
	memory, e1 := e.Memory.Bytes()
	disk, e2 := e.Disk.Bytes()
	wall, e3 := e.Wall.Duration()
	failures := []error{e1, e2, e3}
	over := func(is bool, what, asked, key, most string) {
		if is {
			failures = append(failures, fmt.Errorf("the task's env asks for %s %s, %s allows %s", asked, what, key, most))
		}
	}
	over(memory > r.c.Memory, "of memory", string(e.Memory), "tools.programs.memory", fmt.Sprintf("%d MiB", r.c.Memory>>20))
	over(disk > r.c.Disk, "of disk", string(e.Disk), "tools.programs.disk", fmt.Sprintf("%d MiB", r.c.Disk>>20))
	over(wall > r.c.Wall, "on the clock", string(e.Wall), "tools.programs.wall", r.c.Wall.String())
	over(e.Processes > r.c.Processes, "processes", strconv.Itoa(e.Processes), "tools.programs.processes", strconv.Itoa(r.c.Processes))
	if err := errors.Join(failures...); err != nil {
		return s, err
	}
	s.Image, s.Env, s.Processor = e.Image, e.Environment, e.Processor
	s.Memory, s.Disk, s.Wall = or(memory, s.Memory), or(disk, s.Disk), or(wall, s.Wall)
	s.Processes = or(e.Processes, s.Processes)
	return s, r.network(e, &s)
}

// network is what of the task's hosts the configuration lets programs reach.
func (r *Runner) network(e *agent.Env, s *sandbox.Spec) error {
	for _, host := range e.Network {
		if !slices.ContainsFunc(r.c.Sandbox.Network(), func(allowed string) bool { return covers(allowed, host) }) {
			return fmt.Errorf("the task's env asks for the host %s, sandbox.network does not list it", host)
		}
		s.Network = append(s.Network, host)
	}
	return nil
}

// covers reports whether a pattern of hosts holds another one.
func covers(allowed, asked string) bool {
	below, wide := strings.CutPrefix(allowed, "*.")
	return allowed == asked || (wide && strings.HasSuffix(strings.TrimPrefix(asked, "*"), "."+below))
}

func or[T int | int64 | time.Duration](a, b T) T {
	if a != 0 {
		return a
	}
	return b
}
