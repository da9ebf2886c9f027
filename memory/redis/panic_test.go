package redis_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// A panic in a round trip is an error of those who were aboard; nobody waits for
// ever, and the next one goes well.
func TestAPanicCostsOneRoundTrip(t *testing.T) {
	s := open(t, redis.Config{URL: redistest.Start(t).URL})
	var left atomic.Int32
	redis.Mine(s, &left)
	run := agent.RunID(agent.NewID())
	begin := agent.Commit{ID: agent.NewID(), Run: run, Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce},
		Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "go on", Requester: "terminal"}}}}
	left.Store(1)
	if _, err := s.Commit(t.Context(), begin); !guard.Is(err) {
		t.Errorf("a commit: %v", err)
	}
	left.Store(0)
	if r, err := s.Commit(t.Context(), begin); err != nil || r.Seq != 1 {
		t.Errorf("the same once more: %+v, %v", r, err)
	}
	left.Store(1)
	if leases, err := s.Claim(t.Context(), 1, 0, ""); err == nil && len(leases) == 0 {
		t.Error("a claim that panicked found nothing, and says so")
	}
	left.Store(0)
	leases, err := s.Claim(t.Context(), 1, 10*time.Second, "")
	if err != nil || len(leases) != 1 {
		t.Fatalf("claimed %v, %v", leases, err)
	}
	left.Store(1)
	if _, err := s.Extend(t.Context(), leases); err == nil {
		t.Error("an extension that panicked went well")
	}
	left.Store(0)
	if lost, err := s.Extend(t.Context(), leases); err != nil || len(lost) > 0 {
		t.Errorf("extended: lost %v, %v", lost, err)
	}
}
