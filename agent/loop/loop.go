package loop

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent/wait"
)

// Loop works strands until its context ends.
type Loop struct{ *engine }

// New checks the configuration and prepares the prompts.
func New(c Config) (*Loop, error) {
	e, err := newEngine(c)
	if err != nil {
		return nil, err
	}
	return &Loop{e}, nil
}

// claimWait is how long one claim waits for work. Stores wake it earlier.
const claimWait = 5 * time.Second

// Run claims and works strands until ctx ends; then it lets the steps under
// way finish for at most Config.Grace, hands the rest back and returns nil.
// An error means that the store refused to hand out work at all.
func (l *Loop) Run(ctx context.Context) error {
	hard, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	extend, stopExtending := context.WithCancel(hard)
	var keeper errgroup.Group
	keeper.Go(func() error { l.leases.keep(extend); return nil })

	stopClock := l.startClock(ctx)
	defer stopClock()

	var turns sync.WaitGroup
	err := l.claim(ctx, hard, &turns)

	done := make(chan struct{})
	go func() { turns.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(l.Grace):
		l.Log.Warn("steps are cut off and handed back", "after", l.Grace)
		cut()
		<-done
	}
	stopExtending()
	_ = keeper.Wait()
	return err
}

// claim hands due strands to goroutines, as many as there are workers.
func (l *Loop) claim(ctx, hard context.Context, turns *sync.WaitGroup) error {
	slots := make(chan struct{}, l.Workers)
	pauses := wait.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for ctx.Err() == nil {
		n := acquire(ctx, slots)
		leases, err := l.Store.Claim(ctx, n, claimWait, l.Only)
		for range n - len(leases) {
			<-slots
		}
		if err != nil && ctx.Err() == nil {
			pause := pauses.Next()
			l.Log.Error("cannot claim work; trying again", "pause", pause, "err", err)
			wait.Sleep(ctx, pause)
			continue
		}
		pauses.Reset()
		for _, lease := range leases {
			turns.Go(func() {
				defer func() { <-slots }()
				work(ctx, hard, l.engine, lease)
			})
		}
	}
	return nil
}

// maxClaim bounds one claim, so that replicas share a burst.
const maxClaim = 64

// acquire waits for one free slot and takes up to maxClaim.
func acquire(ctx context.Context, slots chan struct{}) int {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return 0
	}
	for n := 1; n < maxClaim; n++ {
		select {
		case slots <- struct{}{}:
		default:
			return n
		}
	}
	return maxClaim
}
