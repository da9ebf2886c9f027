package job_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/tools/job"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
)

// newSandboxedRig is a Deckhand whose jobs run in bubblewrap.
func newSandboxedRig(t *testing.T, c job.Config) *rig {
	t.Helper()
	s, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], confine}, Driver: sandbox.Bubblewrap})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Driver(t.Context()); err != nil {
		t.Skip("this machine has no bubblewrap that works: ", err)
	}
	root := t.TempDir()
	c.Sandbox, c.Hide = s, []string{filepath.Join(root, "files", ".deckhand")}
	return rigIn(t, root, c)
}

func TestSandboxedJob(t *testing.T) {
	r := newSandboxedRig(t, job.Config{})
	secret := filepath.Join(r.root, "secret")
	if err := os.WriteFile(secret, []byte("top-secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	id, dir := r.start("echo made >here; touch \"$HOME/x\" \"$TMPDIR/y\"; cat " + secret + "; cat /proc/*/environ; setsid sleep 86398.5 & exit 3")
	text := r.ended(id, dir)
	r.has(text, "exited 3")
	if strings.Contains(text, "top-secret") {
		t.Errorf("it read the host's file: %s", text)
	}
	if got := readFile(t, filepath.Join(r.root, "files", "here")); got != "made\n" {
		t.Errorf("its own folder has %q", got)
	}
}

// kill_job ends it with grace, and nothing of it is left.
func TestSandboxedJobIsKilled(t *testing.T) {
	r := newSandboxedRig(t, job.Config{})
	id, dir := r.start("trap 'echo tidy >tidy; exit 0' TERM; touch ready; while :; do sleep 0.05; done")
	r.until("it is ready", func() bool { return there(filepath.Join(r.root, "files"), "ready") })
	if err := r.jobs.End(run); err != nil {
		t.Fatal(err)
	}
	r.has(r.ended(id, dir), "killed", "its run has ended")
	if !there(filepath.Join(r.root, "files"), "tidy") {
		t.Error("it was not let put things in order")
	}
}

// The sandbox's supervisor dies: the command goes with it, and the job says so.
func TestSandboxDies(t *testing.T) {
	r := newSandboxedRig(t, job.Config{Wall: time.Minute})
	id, dir := r.start("touch ready; sleep 86398.25")
	r.until("it is ready", func() bool { return there(filepath.Join(r.root, "files"), "ready") })
	found := processesWith("environ", dir+"/tmp\"")
	if len(found) != 1 {
		t.Fatalf("the sandbox's supervisor is one of %v", found)
	}
	if err := syscall.Kill(found[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	r.has(r.ended(id, dir), "exited 137")
	r.until("the command is gone", func() bool { return len(processesWith("cmdline", "86398.25")) == 0 })
}

// processesWith lists the processes of this machine whose file in /proc has a text.
func processesWith(file, text string) (found []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/" + file)
	for _, name := range names {
		if content, err := os.ReadFile(name); err == nil && strings.Contains(string(content), text) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				found = append(found, pid)
			}
		}
	}
	return found
}
