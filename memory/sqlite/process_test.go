package sqlite_test

import (
	"bufio"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// begin opens a run whose main strand is due.
func begin(t testing.TB, s *sqlite.Store) agent.RunID {
	t.Helper()
	run := agent.RunID(agent.NewID())
	c := agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{opens()}, Wake: wake{agent.Main: agent.AtOnce}}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestLockEndsWithItsProcess(t *testing.T) {
	dir := t.TempDir()
	guest := open(t, dir, time.Hour, sqlite.Guest)
	run := begin(t, guest)
	holder, out := spawn(t, "hold", dir, run)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "holds 1 <nil>\n" {
		t.Fatalf("the child says %q, %v", line, err)
	}

	_, err = sqlite.Open(t.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	var held *sqlite.HeldError
	if !errors.As(err, &held) || !errors.Is(err, sqlite.ErrHeld) || held.PID != holder.Process.Pid || held.Dir != dir {
		t.Fatalf("a second worker: %v, want a HeldError that names process %d", err, holder.Process.Pid)
	}

	signal(t, holder)
	wait(t, holder)
	began := time.Now()
	next := open(t, dir, time.Hour, sqlite.Worker)
	leases, err := next.Claim(t.Context(), 1, time.Minute, run)
	if err != nil || len(leases) != 1 || leases[0].Epoch != 2 || leases[0].Turn != 0 {
		t.Fatalf("the next holder claims %+v, %v; want the strand of the killed one", leases, err)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("going on took %v, want 1 s at most on an idle machine", took)
	}
}

func TestHolderSeesGuestsFact(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, time.Hour, sqlite.Worker)
	run := begin(t, s)
	first, err := s.Claim(t.Context(), 1, 0, run)
	if err != nil || len(first) != 1 {
		t.Fatalf("claimed %+v, %v", first, err)
	}
	if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Lease: &first[0], Seen: 1, Wake: wake{agent.Main: agent.Parked}}); err != nil {
		t.Fatal(err)
	}
	grown := make(chan error, 1)
	go func() { grown <- s.Await(t.Context(), run, 1) }()

	guest, _ := spawn(t, "append", dir, run)
	leases, err := s.Claim(t.Context(), 1, 20*time.Second, "")
	seen := time.Now()
	if err != nil || len(leases) != 1 || leases[0].Run != run {
		t.Fatalf("claimed %+v, %v", leases, err)
	}
	if err := <-grown; err != nil {
		t.Fatal(err)
	}
	if err := guest.Wait(); err != nil {
		t.Fatal(err)
	}
	events, err := s.Read(t.Context(), run, 1)
	if err != nil || len(events) != 1 {
		t.Fatalf("read %+v, %v", events, err)
	}
	if late := seen.Sub(events[0].At); late > time.Second {
		t.Errorf("the fact was seen after %v, want 1 s at most", late)
	}
}

func TestNothingAcknowledgedIsLost(t *testing.T) {
	dir := t.TempDir()
	storetest.Crash(t, func(t *testing.T) storetest.Worker {
		cmd, out := spawn(t, "work", dir, "all")
		return storetest.Worker{Out: out, Kill: func() { signal(t, cmd) }, Wait: func() { wait(t, cmd) }}
	}, func(t *testing.T) storetest.Store { return open(t, dir, time.Hour, sqlite.Worker) })
}

func TestGuestCannotWork(t *testing.T) {
	dir := t.TempDir()
	guest := open(t, dir, time.Hour, sqlite.Guest)
	if got, err := guest.Claim(t.Context(), 1, time.Hour, ""); !errors.Is(err, sqlite.ErrGuest) || !strings.Contains(err.Error(), dir) {
		t.Errorf("claim: %+v, %v; want ErrGuest and the directory", got, err)
	}
	if lost, err := guest.Extend(t.Context(), nil); !errors.Is(err, sqlite.ErrGuest) {
		t.Errorf("extend: %+v, %v; want ErrGuest", lost, err)
	}
	if wait, err := guest.Take(t.Context(), agent.Pace{Name: "edits", Every: time.Second}); !errors.Is(err, sqlite.ErrGuest) {
		t.Errorf("take: %v, %v; want ErrGuest", wait, err)
	}
}
