package sqlite_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// childVar makes the test binary a process of its own that does what the
// variable says, in the directory and to the run of its two arguments.
const childVar = "DECKHAND_TEST_CHILD"

func TestMain(m *testing.M) {
	if does := os.Getenv(childVar); does != "" {
		if err := child(context.Background(), does, os.Args[1], agent.RunID(os.Args[2])); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

func child(ctx context.Context, does, dir string, run agent.RunID) error {
	mode := sqlite.Worker
	if does == "append" {
		mode = sqlite.Guest
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: dir, Lease: time.Hour}, mode)
	if err != nil {
		return err
	}
	switch does {
	case "append":
		_, err = s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "from a guest")}, Wake: wake{agent.Main: agent.AtOnce}})
		if err == nil {
			err = s.Close()
		}
	case "work":
		err = storetest.Work(ctx, s, os.Stdout)
	case "hold":
		leases, claimErr := s.Claim(ctx, 1, time.Minute, run)
		fmt.Println("holds", len(leases), claimErr)
		_, err = io.Copy(io.Discard, os.Stdin) // until it is killed
	}
	return err
}

// spawn starts the test binary as a child. Its standard input ends with the
// test's process, so that no child outlives it.
func spawn(t *testing.T, does, dir string, run agent.RunID) (cmd *exec.Cmd, out io.Reader) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), os.Args[0], dir, string(run))
	cmd.Env = append(os.Environ(), childVar+"="+does)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// signal sends SIGKILL.
func signal(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
}

// wait waits for the end of a process that was killed.
func wait(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Wait(); err == nil {
		t.Error("the killed process ended well")
	}
}
