package bot

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// gateFor is how long new events wait for the old ones, of the second in which
// a platform wants its acknowledgement.
const gateFor = 700 * time.Millisecond

// Backlog is what a platform missed: what was said while it was away, and what
// could not be written down. It is read back before anything newer is heard,
// unless that takes too long.
type Backlog struct {
	marks  *Watermarks
	owed   chan struct{}
	failed chan struct{}

	mu   sync.Mutex
	gate chan struct{} // closed while events pass
}

// Reading is how a platform reads its backlog.
type Reading struct {
	Read   func() error // everything since the marks
	Saved  func()       // called when all is read, to save the marks
	Pauses Pauses       // between attempts to read
	Failed time.Duration
	// Resent says that the platform sends again by itself what was not
	// acknowledged: within Failed, perhaps, and then nothing has to be read.
	Resent bool
	Log    *slog.Logger
}

// NewBacklog is one that events wait for.
func NewBacklog(marks *Watermarks) *Backlog {
	return &Backlog{marks: marks, owed: make(chan struct{}, 1), failed: make(chan struct{}, 1), gate: make(chan struct{})}
}

// Owe says that something was missed, perhaps.
func (b *Backlog) Owe() { Signal(b.owed) }

// Fail says that an event could not be written down.
func (b *Backlog) Fail() { Signal(b.failed) }

// Shut makes events wait.
func (b *Backlog) Shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-b.gate:
		b.gate = make(chan struct{})
	default:
	}
}

// Open lets events pass.
func (b *Backlog) Open() {
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

// Work reads back what was missed, each time that something is owed, until ctx
// ends.
func (b *Backlog) Work(ctx context.Context, r Reading) {
	for {
		select {
		case <-b.owed:
		case <-b.failed:
			if !Pause(ctx, r.Failed) {
				return
			}
			if r.Resent && b.marks.Sound() {
				continue
			}
		case <-ctx.Done():
			return
		}
		b.marks.SetWhole(false)
		err := r.Read()
		b.Open()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			r.Pauses.Reset()
			b.marks.SetWhole(true)
			r.Saved()
			continue
		}
		r.Log.Warn("what was said while the bot was away could not be read back; trying again", "error", err)
		if !Pause(ctx, r.Pauses.After(err)) {
			return
		}
		b.Owe()
	}
}
