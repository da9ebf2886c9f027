package ingest

import (
	"context"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// Backoff is what lies between the attempts of a platform: growing pauses, and
// longer ones where the platform asks for more.
type Backoff struct {
	wait.Backoff

	asked func(err error) time.Duration
}

// NewBackoff has pauses from first to longest; asked is how long the platform
// asks for with an error, zero where it asks for nothing.
func NewBackoff(first, longest time.Duration, asked func(err error) time.Duration) Backoff {
	return Backoff{Backoff: wait.Backoff{First: first, Longest: longest}, asked: asked}
}

// After is how long to wait after an error: what the platform asks for, if that
// is longer than the next pause.
func (b *Backoff) After(err error) time.Duration { return max(b.Next(), b.asked(err)) }

// Ahead is by how much a platform's clock may be ahead of the store's: marks
// further ahead were written by a clock that was wrong.
const Ahead = 24 * time.Hour

// Now is the time by a clock, nil: by that of the process.
func Now(ctx context.Context, clock agent.Clock) (time.Time, error) {
	if clock == nil {
		return time.Now(), nil
	}
	now, err := clock.Now(ctx)
	if err != nil {
		return now, fmt.Errorf("ask the store for its time: %w", err)
	}
	return now, nil
}

// Signal wakes whoever waits at a channel that holds one, now or later, once.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
