package source

// This file asks sources again: when they say that something changed, and when
// they could not be asked.

import (
	"context"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// How a source is asked.
const (
	firstPause   = time.Second
	longestPause = 5 * time.Minute
	// patience is how long work waits for sources at the start: what comes later
	// is offered later.
	patience = 10 * time.Second
	// calm is how long a source that changes again and again is left alone.
	calm = 250 * time.Millisecond
	// heldPause is how soon a source is looked at again of which tools wait for a
	// person: another process may take them over.
	heldPause = 5 * time.Second
)

// Run asks the foreign sources and keeps asking them until ctx ends.
func (r *Registry) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, m := range r.foreign {
		all.Go(func() {
			_ = guard.Keep(ctx, r.cfg.Log, "the source of tools "+m.source.Name(), func(ctx context.Context) error { r.watch(ctx, m); return nil })
		})
	}
	all.Wait()
}

// watch keeps up with one source.
func (r *Registry) watch(ctx context.Context, m *member) {
	pauses := wait.Backoff{First: firstPause, Longest: longestPause}
	for asked := m.asked() && !m.waits(); ctx.Err() == nil; asked = false {
		var again <-chan time.Time
		if !asked {
			if err := r.refresh(ctx, m); err != nil && ctx.Err() == nil {
				pause := pauses.Next()
				r.cfg.Log.Warn("a source of tools cannot be asked; trying again", "source", m.source.Name(), "pause", pause, "err", err)
				again = time.After(pause)
			} else {
				pauses.Reset()
				if m.waits() {
					again = time.After(heldPause)
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-m.source.Changed():
			wait.Sleep(ctx, calm)
		}
	}
}

// asked reports whether the source has said what it gives.
func (m *member) asked() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known && m.err == nil
}

// waits reports whether tools of the source wait for a person.
func (m *member) waits() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.held
}

// Settle returns once each foreign source has been asked or failed, or after
// some seconds: a server that hangs holds nobody up for long.
func (r *Registry) Settle(ctx context.Context) {
	if len(r.foreign) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r.Load(ctx)
}
