package ingest

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff is what lies between the attempts of a platform: each pause is twice
// as long as the last, give or take a quarter, so that many processes try again
// at different times.
type Backoff struct {
	First, Longest time.Duration
	// Asked is how long the platform asks for with an error, zero where it asks
	// for nothing.
	Asked func(err error) time.Duration

	next time.Duration
}

// After is how long to wait after an error: what the platform asks for, if that
// is longer than the next pause.
func (b *Backoff) After(err error) time.Duration {
	b.next = min(max(2*b.next, b.First), b.Longest)
	if asked := b.Asked(err); asked > b.next {
		return asked
	}
	return b.next - b.next/4 + rand.N(max(b.next/2, 1))
}

// Reset begins with the first pause again: an attempt went well.
func (b *Backoff) Reset() { b.next = 0 }

// Sleep waits; false: ctx ended.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// WithGrace is a context that goes on for a while after ctx: what is under way
// when the end comes is finished in it.
func WithGrace(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		t := time.AfterFunc(d, cancel)
		context.AfterFunc(late, func() { t.Stop() })
	})
	return late, func() { stop(); cancel() }
}

// Signal wakes whoever waits at a channel that holds one, now or later, once.
func Signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
