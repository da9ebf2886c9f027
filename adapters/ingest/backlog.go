package ingest

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// gateFor is how long new events wait for the old ones, of the second in which
// a platform wants its acknowledgement.
const gateFor = 700 * time.Millisecond

// Backlog is what a platform missed: what was said while it was away, and what
// could not be written down. It is read back before anything newer is heard,
// unless that takes too long.
type Backlog struct {
	marks    *Watermarks
	gaps     chan struct{}
	failures chan struct{}

	mu   sync.Mutex
	gate chan struct{} // closed while events pass
}

// CatchUp is how a platform reads its backlog.
type CatchUp struct {
	// Read reads everything since the marks until ctx ends, and has it heard in
	// late, which goes on a little longer.
	Read    func(ctx, late context.Context) error
	Backoff Backoff       // between attempts to read
	Failed  time.Duration // after an event could not be written down
	// Resent says that the platform sends again by itself what was not
	// acknowledged: within Failed, perhaps, and then nothing has to be read.
	Resent bool
	Saved  func() // called once everything is read, to save the marks
	Log    *slog.Logger
}

// NewBacklog is one that events wait for.
func NewBacklog(marks *Watermarks) *Backlog {
	return &Backlog{marks: marks, gaps: make(chan struct{}, 1), failures: make(chan struct{}, 1), gate: make(chan struct{})}
}

// NoteGap says that something was missed, perhaps.
func (b *Backlog) NoteGap() { Signal(b.gaps) }

// NoteFailure says that an event could not be written down.
func (b *Backlog) NoteFailure() { Signal(b.failures) }

// Hold makes events wait.
func (b *Backlog) Hold() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.gate:
		b.gate = make(chan struct{})
	default:
	}
}

// Release lets events pass.
func (b *Backlog) Release() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.gate:
	default:
		close(b.gate)
	}
}

// Wait lets what was missed go first, unless that takes too long.
func (b *Backlog) Wait(ctx context.Context) {
	b.mu.Lock()
	gate := b.gate
	b.mu.Unlock()
	t := time.NewTimer(gateFor)
	defer t.Stop()
	select {
	case <-gate:
	case <-t.C:
	case <-ctx.Done():
	}
}

// Run reads back what was missed, each time that a gap or a failure was noted,
// until ctx ends. What fails again and again is tried in growing pauses.
func (b *Backlog) Run(ctx, late context.Context, r CatchUp) {
	failures := 0
	for {
		select {
		case <-b.gaps:
		case <-b.failures:
			if !b.rest(ctx, pauseAfter(r.Failed, failures)) {
				return
			}
			if r.Resent && b.marks.AllHeard() {
				failures = 0
				continue
			}
		case <-ctx.Done():
			return
		}
		b.marks.SetCaughtUp(false)
		err := guard.Do(r.Log, "the reading of what was missed", func() error { return r.Read(ctx, late) })
		b.Release()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.Log.Warn("what was said while the bot was away could not be read back; trying again", "error", err)
			if !wait.Sleep(ctx, r.Backoff.After(err)) {
				return
			}
			b.NoteGap()
			continue
		}
		r.Backoff.Reset()
		b.marks.SetCaughtUp(true)
		if failures++; b.marks.AllHeard() {
			failures = 0
		} else {
			b.NoteFailure()
		}
		r.Saved()
	}
}

// longestFailed bounds the pause before what failed is read once more.
const longestFailed = time.Minute

// pauseAfter is the pause after so many attempts in vain.
func pauseAfter(first time.Duration, failures int) time.Duration {
	pause := first
	for range failures {
		pause = min(2*pause, max(first, longestFailed))
	}
	return pause
}

// rest waits, or until there is a gap to read; false: ctx ended.
func (b *Backlog) rest(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
	case <-b.gaps:
	case <-ctx.Done():
		return false
	}
	return true
}
