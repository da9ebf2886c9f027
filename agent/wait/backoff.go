package wait

import (
	"context"
	"math/rand/v2"
	"time"
)

// Backoff is the pauses between attempts: each is twice as long as the last,
// give or take a quarter, so that many processes do not try again at once. It
// starts over where an attempt went well. One goroutine uses it at a time.
type Backoff struct {
	First, Longest time.Duration

	next time.Duration
}

// Next is the next pause.
func (b *Backoff) Next() time.Duration {
	b.next = min(max(2*b.next, b.First), b.Longest)
	return b.next - b.next/4 + rand.N(max(b.next/2, 1))
}

// Sleep waits for the next pause; false: ctx ended.
func (b *Backoff) Sleep(ctx context.Context) bool { return Sleep(ctx, b.Next()) }

// Reset begins with the first pause again.
func (b *Backoff) Reset() { b.next = 0 }
