package bot

import (
	"context"
	"math/rand/v2"
	"time"
)

// Pauses are what lies between the attempts of a platform: each is twice as
// long as the last, give or take a quarter, so that many processes do not try
// again at once.
type Pauses struct {
	First, Longest time.Duration
	// Asked is how long the platform asks for with an error, zero where it does not.
	Asked func(err error) time.Duration

	next time.Duration
}

// After is how long to wait after an error: what the platform asks for, if that
// is longer than the next pause.
func (p *Pauses) After(err error) time.Duration {
	p.next = min(max(2*p.next, p.First), p.Longest)
	if asked := p.Asked(err); asked > p.next {
		return asked
	}
	return p.next - p.next/4 + rand.N(max(p.next/2, 1))
}

// Reset begins with the first pause again: an attempt went well.
func (p *Pauses) Reset() { p.next = 0 }

// Pause waits; false: ctx ended.
func Pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Outlive is a context that goes on for a while after ctx: what is under way
// when the end comes is finished in it.
func Outlive(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
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
