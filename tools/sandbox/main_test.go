package sandbox_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// The test binary is also the supervisor.
const selfWord = "sandbox-of-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == selfWord {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

func newSandbox(t testing.TB, d sandbox.Driver) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], selfWord}, Driver: d})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// local are the drivers that need no image; engine_test.go has the others.
var local = []sandbox.Driver{sandbox.Bubblewrap, sandbox.Child}

// each runs a test with each driver that the machine has.
func each(t *testing.T, test func(t *testing.T, s *sandbox.Sandbox)) {
	for _, d := range local {
		t.Run(string(d), func(t *testing.T) {
			s := newSandbox(t, d)
			if _, err := s.Driver(t.Context()); err != nil {
				if d == sandbox.Child {
					t.Fatal(err)
				}
				t.Skip("this machine has no such driver: ", err)
			}
			test(t, s)
		})
	}
}

// shell is a specification of a shell script.
func shell(script string) sandbox.Spec {
	return sandbox.Spec{Command: []string{"/bin/sh", "-c", script}}
}

func run(t *testing.T, s *sandbox.Sandbox, spec sandbox.Spec) sandbox.Result {
	t.Helper()
	r, err := s.Run(t.Context(), spec)
	if err != nil {
		t.Fatalf("%v: %v", spec.Command, err)
	}
	return r
}

// marked lists the processes of this machine whose command line has a word.
func marked(word string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range lines {
		text, err := os.ReadFile(name)
		if err == nil && strings.Contains(string(text), word) && !strings.Contains(name, "/self/") {
			found = append(found, name)
		}
	}
	return found
}
