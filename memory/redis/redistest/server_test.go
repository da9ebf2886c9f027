package redistest_test

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ask(t *testing.T, s *redistest.Server, command, want string) {
	t.Helper()
	if got, err := s.Ask(command); err != nil || got != want {
		t.Fatalf("%s: %q, %v; want %q", command, got, err, want)
	}
}

func TestKilledServerComesBackWithItsData(t *testing.T) {
	s := redistest.Start(t)
	ask(t, s, "SET k v", "+OK")
	s.Kill()
	if _, err := s.Ask("PING"); err == nil {
		t.Fatal("a killed server answers")
	}
	s.Restart()
	ask(t, s, "EXISTS k", ":1")
	s.Stop()
	s.Restart()
	ask(t, s, "EXISTS k", ":1")
}

func TestReplicaFollows(t *testing.T) {
	s := redistest.Start(t)
	r := s.Replica()
	ask(t, s, "SET k v", "+OK")
	for deadline := time.Now().Add(time.Minute); ; {
		if reply, err := r.Ask("EXISTS k"); err == nil && reply == ":1" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the replica does not get what its master was told")
		}
	}
}

func TestClusterRefusesKeysOfTwoSlots(t *testing.T) {
	s := redistest.StartOneNodeCluster(t)
	ask(t, s, "MSET {a}1 x {a}2 y", "+OK")
	ask(t, s, "MSET a x b y", "-CROSSSLOT Keys in request don't hash to the same slot")
}
