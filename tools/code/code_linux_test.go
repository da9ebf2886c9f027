package code_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/code"
)

// children are the processes that a process started and that still run.
func children(pid int) []string {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	var out []string
	for _, f := range files {
		b, _ := os.ReadFile(f)
		out = append(out, strings.Fields(string(b))...)
	}
	return out
}

// alive reports whether a process runs; one that only waits to be reaped does not.
func alive(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(b), ") ")
	return !strings.HasPrefix(state, "Z")
}

// within polls until ok or the deadline.
func within(t *testing.T, d time.Duration, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(d)
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within %s: %s", d, what)
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	tool := newTool(t, code.Config{CPU: 200 * time.Millisecond})
	for _, source := range []string{"1", "for(;;);", "throw 1", "new Uint8Array(2e9).fill(1)"} {
		run(t, tool, source, nil)
		if left := children(os.Getpid()); len(left) != 0 {
			t.Errorf("%s left the processes %v", source, left)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v %v", left, err)
	}
}

func TestChildDiesWithItsParent(t *testing.T) {
	p := exec.Command(os.Args[0], parentWord)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	var started []string
	within(t, patient, "a child runs", func() bool {
		started = children(p.Process.Pid)
		return len(started) > 0
	})
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	within(t, patient, "the child is gone", func() bool { return !alive(started[0]) })
}

// What the kernel says of a running child: its limits, its privileges, its
// environment and its folder.
func TestConfinement(t *testing.T) {
	tool := newTool(t, code.Config{})
	done := make(chan agent.Result, 1)
	go func() { done <- run(t, tool, "const end = Date.now() + 1500; while (Date.now() < end);", nil) }()
	read := func(name string) string {
		for _, pid := range children(os.Getpid()) {
			b, err := os.ReadFile("/proc/" + pid + "/" + name)
			if err == nil {
				return string(b)
			}
		}
		return ""
	}
	within(t, patient, "the limits are set", func() bool {
		for line := range strings.Lines(read("limits")) {
			if strings.HasPrefix(line, "Max open files") && strings.Fields(line)[3] == "0" {
				return true
			}
		}
		return false
	})
	limits, status, environ := read("limits"), read("status"), read("environ")
	for _, want := range []string{"Max file size 0 0", "Max core file size 0 0", "Max cpu time 7 7", "Max open files 0 0"} {
		if !strings.Contains(strings.Join(strings.Fields(limits), " "), want) {
			t.Errorf("the limits have no %q:\n%s", want, limits)
		}
	}
	if strings.Contains(limits, "Max data size             unlimited") {
		t.Errorf("memory is not limited:\n%s", limits)
	}
	if !strings.Contains(status, "NoNewPrivs:\t") {
		t.Errorf("the status has no privileges:\n%s", status)
	}
	if environ != "" {
		t.Errorf("the child has the environment %q", environ)
	}
	if r := <-done; r.State != agent.OutcomeOK {
		t.Errorf("%+v", r)
	}
}
