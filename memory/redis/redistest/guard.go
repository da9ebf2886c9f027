package redistest

// Servers do not outlive the test's process, however that ends.

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// guard is a shell that reads, line by line, which process groups belong to
// this process. When its input ends, because this process has ended or was
// killed, it kills the groups of the last line.
type guard struct {
	mu     sync.Mutex
	input  *os.File // nil: no shell yet
	groups map[int]bool
}

var guarded = guard{groups: map[int]bool{}}

const guardScript = `while read -r line; do groups=$line; done; for g in $groups; do kill -9 "-$g" 2>/dev/null; done`

// add puts a process group under guard.
func (g *guard) add(group int) error { return g.change(func() { g.groups[group] = true }) }

// remove takes it away again.
func (g *guard) remove(group int) error { return g.change(func() { delete(g.groups, group) }) }

func (g *guard) change(do func()) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.start(); err != nil {
		return err
	}
	do()
	var line strings.Builder
	for group := range g.groups {
		line.WriteString(strconv.Itoa(group) + " ")
	}
	_, err := g.input.WriteString(line.String() + "\n")
	return err
}

// start starts the shell with a group of its own, so that what interrupts the
// test does not end it first.
func (g *guard) start() error {
	if g.input != nil {
		return nil
	}
	output, input, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = output.Close() }()
	cmd := exec.Command("/bin/sh", "-c", guardScript)
	cmd.Stdin, cmd.SysProcAttr = output, &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		_ = input.Close()
		return err
	}
	g.input = input
	return cmd.Process.Release()
}
