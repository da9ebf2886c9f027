package lease

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// brokenStore is a store whose first extension of leases panics.
type brokenStore struct {
	agent.Store

	calls    int
	extended chan []agent.Lease // after that
}

func (s *brokenStore) Extend(ctx context.Context, list []agent.Lease) ([]agent.Lease, error) {
	if s.calls++; s.calls == 1 {
		panic("a heartbeat")
	}
	select {
	case s.extended <- list:
	case <-ctx.Done():
	}
	return nil, nil
}

// A panic in one heartbeat costs that one: the next keeps the leases.
func TestHeartbeatOutlivesAPanic(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	store := &brokenStore{extended: make(chan []agent.Lease)}
	l := New(store, 30*time.Millisecond, slog.New(slog.NewTextHandler(t.Output(), nil)))
	lease := agent.Lease{Run: "r", Strand: agent.Main, Epoch: 1}
	l.Take(lease, time.Now(), func() {})
	ended := make(chan struct{})
	go func() { l.Keep(ctx); close(ended) }()
	for range 2 {
		select {
		case list := <-store.extended:
			if len(list) != 1 || list[0].Run != lease.Run {
				t.Errorf("extended %+v, want %+v", list, lease)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("no heartbeat came after the panic")
		}
	}
	stop()
	<-ended
	if store.calls < 3 {
		t.Errorf("%d heartbeats, want those after the panic", store.calls)
	}
}
