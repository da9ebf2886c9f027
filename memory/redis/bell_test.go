package redis

import (
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// A panic over one ring costs that ring: the doorbell hears the next.
func TestDoorbellOutlivesAPanic(t *testing.T) {
	s, err := Open(t.Context(), Config{URL: redistest.Start(t).URL})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	s.bell.next("mined")
	s.bell.mu.Lock()
	close(s.bell.waiting["mined"].rung) // to close it once more panics
	s.bell.mu.Unlock()
	before := guard.Caught()
	ring := func(topic string) {
		if err := s.client.Publish(t.Context(), bell, topic).Err(); err != nil {
			t.Fatal(err)
		}
	}
	patience := time.After(20 * time.Second)
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for ring("mined"); guard.Caught() == before; {
		select {
		case <-again.C:
		case <-patience:
			t.Fatal("the ring did not panic")
		}
	}
	heard, leave := s.bell.next("later")
	defer leave()
	ring("later")
	select {
	case <-heard:
	case <-patience:
		t.Fatal("no ring was heard after the panic")
	}
}
