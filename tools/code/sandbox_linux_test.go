package code_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/code"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

func inBubblewrap(t testing.TB) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], confineWord}, Driver: sandbox.Bubblewrap})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Driver(t.Context()); err != nil {
		t.Skip("this machine has no bubblewrap that works: ", err)
	}
	return s
}

// The same programs, with a sandbox around their child.
func TestInBubblewrap(t *testing.T) {
	if raced {
		t.Skip("the race detector takes more memory than the sandbox gives")
	}
	tool := newTool(t, code.Config{Sandbox: inBubblewrap(t), CPU: 4 * time.Second, Memory: 96 << 20})
	for source, want := range map[string]string{
		"console.log('on'); 6*7": "on\n42",
		"for(;;);":               "processor time",
		"const a = []; for(;;) a.push(new Uint8Array(1<<20).fill(1))": "96 MiB of memory",
		"const f = () => f(); f()":                                    "deep",
	} {
		r := run(t, tool, source, nil)
		if !strings.Contains(r.Text, want) || (r.State == agent.OutcomeOK) != (want == "on\n42") {
			t.Errorf("%s: %s %q, want %q", source, r.State, r.Text, want)
		}
	}
	if left := children(os.Getpid()); len(left) != 0 {
		t.Errorf("the processes %v are left", left)
	}
}

// A sandbox that is not there refuses, and nothing runs without it.
func TestSandboxIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], confineWord}, Driver: sandbox.Bubblewrap})
	if err != nil {
		t.Fatal(err)
	}
	r := run(t, newTool(t, code.Config{Sandbox: s}), "6*7", nil)
	if r.State != agent.OutcomeError || !strings.Contains(r.Text, "install the package bubblewrap") {
		t.Errorf("%+v", r)
	}
}
