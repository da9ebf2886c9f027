package lease

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// generous is a store that extends every lease.
type generous struct{ agent.Store }

func (generous) Extend(context.Context, []agent.Lease) ([]agent.Lease, error) { return nil, nil }

// While a machine sleeps the monotonic clock stands still: what it held when it
// fell asleep may be somebody else's by now, and is given up.
func TestLeasesOfAMachineThatSleptAreGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(generous{}, 3*time.Second, slog.New(slog.DiscardHandler))
		slept := time.Duration(0)
		l.asleep = func(_, _ time.Time) time.Duration { return slept }
		lost := false
		h := l.Take(agent.Lease{Run: "r", Strand: agent.Main, Epoch: 1}, time.Now(), func() { lost = true })
		l.extend(t.Context())
		if !l.Valid(h) || lost {
			t.Error("the lease is gone although nobody slept")
		}
		slept = 2 * time.Second // a clock that was set, or a short nap
		if l.extend(t.Context()); !l.Valid(h) || lost {
			t.Error("a nap that is shorter than the lease counts")
		}
		slept = 4 * time.Second
		if l.Valid(h) {
			t.Error("an effect may begin after the machine slept")
		}
		if l.extend(t.Context()); !lost {
			t.Error("the work goes on after the machine slept")
		}
		if got := asleep(time.Now(), time.Now().Add(time.Minute)); got != 0 {
			t.Errorf("awake it counts %s", got)
		}
	})
}
