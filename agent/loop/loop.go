package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/loop/checkins"
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

// clock calls the check-ins of the tasks at work.
func (l *Loop) clock() checkins.Clock {
	return checkins.Clock{Store: l.Store, Runs: l.Runs, Peek: l.folds.Peek, Every: l.CheckIns, Only: l.Only, Log: l.Log}
}

// Tick calls the check-ins of a tick at once, and returns how many it called.
func (l *Loop) Tick(ctx context.Context, tick time.Time) (called int, err error) {
	return l.clock().Tick(ctx, tick)
}

// claimWait is how long one claim waits for work. Stores wake it earlier.
const claimWait = 5 * time.Second

// Run claims and works strands until ctx ends; then it lets the steps under
// way finish for at most Config.Grace, hands the rest back and returns nil.
// An error is ErrStuck: a step did not end although it was cut off.
func (l *Loop) Run(ctx context.Context) error {
	hard, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	extend, stopExtending := context.WithCancel(hard)
	var keeper errgroup.Group
	keeper.Go(func() error { l.leases.Keep(extend); return nil })

	stopClock := l.clock().Start(ctx)
	defer stopClock()

	var turns sync.WaitGroup
	l.claim(ctx, hard, &turns)

	done := make(chan struct{})
	go func() { turns.Wait(); close(done) }()
	var err error
	select {
	case <-done:
	case <-time.After(l.Grace):
		l.Log.Warn("steps are cut off and handed back", "after", l.Grace)
		cut()
		err = l.afterCut(done)
	}
	stopExtending()
	_ = keeper.Wait()
	return err
}

// cutWait is how long steps have to end once they are cut off: the whole process
// promises to be gone in time.
const cutWait = 2 * time.Second

// afterCut waits for the steps that were cut off, but not for those that take no
// notice of it: whoever works the strands next asks what became of their effects.
func (l *Loop) afterCut(done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-time.After(cutWait):
	}
	var stuck []string
	for _, lease := range l.leases.List() {
		stuck = append(stuck, string(lease.Run)+"/"+string(lease.Strand))
	}
	return fmt.Errorf("%w after %s: %s. The process ends without them; whoever works these runs next looks what became of their effects",
		ErrStuck, l.Grace+cutWait, strings.Join(stuck, ", "))
}

// ErrStuck says that steps took no notice of the end of the process.
var ErrStuck = errors.New("steps did not end, for a tool ignores that it is cut off")

// claim hands due strands to goroutines, as many as there are workers.
func (l *Loop) claim(ctx, hard context.Context, turns *sync.WaitGroup) {
	slots := make(chan struct{}, l.Workers)
	pauses := wait.Backoff{First: 50 * time.Millisecond, Longest: time.Second}
	for ctx.Err() == nil {
		n := acquire(ctx, slots)
		var leases []agent.Lease
		err := guard.Do(l.Log, "a claim of work", func() (err error) {
			leases, err = l.Store.Claim(ctx, n, claimWait, l.Only)
			return err
		})
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
				guard.Run(l.Log, "a turn of a strand", func() { work(ctx, hard, l.engine, lease) }, "run", lease.Run, "strand", lease.Strand)
			})
		}
	}
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
