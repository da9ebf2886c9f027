package sqlite

// Turns at a pace, and lines in front of endpoints whose limits are shared.

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// paces are the turns that were taken in this process. One worker at a time
// holds the data directory and guests take none, so that nobody else has to
// know of them; a worker that was started again begins with all turns.
type paces struct {
	mu     sync.Mutex
	earned map[string]int64 // by name: see memory.Slack; readings of the clock
	full   int              // at so many names those are forgotten whose time has passed
}

// fewPaces is how many names are kept before the first is forgotten.
const fewPaces = 64

// Take takes one turn at a pace; see agent.Archive. A guest is refused with
// ErrGuest.
func (s *Store) Take(ctx context.Context, p agent.Pace) (time.Duration, error) {
	slack, err := memory.Slack(p)
	switch {
	case err != nil:
		return 0, fmt.Errorf("take a turn: %w", err)
	case s.guest():
		return 0, s.explain("take a turn of "+p.Name, ErrGuest)
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	return s.paces.take(p, slack, s.writer.clock.now), nil
}

func (l *paces) take(p agent.Pace, slack time.Duration, clock func() int64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := clock() // under the lock: who asked first and came second would wait too long
	earned := max(l.earned[p.Name], now)
	wait := max(time.Duration(earned-now)-slack, 0)
	if wait > 0 && !p.Book {
		return wait
	}
	if earned > math.MaxInt64-int64(p.Every) {
		earned = math.MaxInt64
	} else {
		earned += int64(p.Every)
	}
	l.forget(now)
	l.earned[p.Name] = earned
	return wait
}

// forget drops what says no more than a name that was never heard, once there
// are twice as many names as were left the last time.
func (l *paces) forget(now int64) {
	if l.earned == nil {
		l.earned, l.full = map[string]int64{}, fewPaces
	}
	if len(l.earned) < l.full {
		return
	}
	for name, earned := range l.earned {
		if earned <= now {
			delete(l.earned, name)
		}
	}
	l.full = max(fewPaces, 2*len(l.earned))
}

// Admit implements agent.Archive, within this process: one worker at a time
// holds the data directory. A guest is refused with ErrGuest.
func (s *Store) Admit(ctx context.Context, a agent.Admission) (time.Duration, error) {
	switch err := memory.CheckAdmission(a); {
	case err != nil:
		return 0, fmt.Errorf("admit a call: %w", err)
	case s.guest():
		return 0, s.explain("admit a call to "+a.Endpoint, ErrGuest)
	case ctx.Err() != nil:
		return 0, ctx.Err()
	}
	return s.lines.Admit(a, s.writer.clock.now), nil
}
