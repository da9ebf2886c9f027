package sqlite

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// TestPacesAreForgotten takes turns under ever new names, of which only a few
// are not over.
func TestPacesAreForgotten(t *testing.T) {
	var l paces
	now := time.Now().UnixNano()
	clock := func() int64 { return now }
	p := agent.Pace{Name: "long", Every: time.Hour, Burst: 1}
	l.take(p, 0, clock)
	for i := range 100 * fewPaces {
		now += int64(time.Second)
		l.take(agent.Pace{Name: fmt.Sprint("short ", i), Every: time.Millisecond, Burst: 1}, 0, clock)
		if len(l.earned) > fewPaces {
			t.Fatalf("%d names are kept after %d were heard", len(l.earned), i+1)
		}
		if i == 3*fewPaces {
			if wait := l.take(p, 0, clock); wait != time.Hour-time.Duration(i+1)*time.Second {
				t.Fatalf("the turn of an hour was forgotten: %v", wait)
			}
		}
	}
}

func TestManyPacesStay(t *testing.T) {
	var l paces
	now := time.Now().UnixNano()
	clock := func() int64 { return now }
	for range 2 {
		for i := range 10 * fewPaces {
			wait := l.take(agent.Pace{Name: strconv.Itoa(i), Every: time.Hour, Burst: 1}, 0, clock)
			if now++; wait != 0 && wait < time.Hour-time.Minute {
				t.Fatalf("name %d waits %v", i, wait)
			}
		}
	}
	if len(l.earned) != 10*fewPaces {
		t.Fatalf("%d names are kept, want %d", len(l.earned), 10*fewPaces)
	}
}
