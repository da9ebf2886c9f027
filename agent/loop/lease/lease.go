// Package lease keeps this process's claims on strands alive: all leases are
// extended in one store call, and work whose lease is lost is cancelled, as
// another process may have it.
//
//	lease.go  Set: what is held, extended together
package lease

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// Set are the leases that this process holds. They are extended together.
type Set struct {
	store agent.Store
	lease time.Duration
	log   *slog.Logger

	mu   sync.Mutex
	held map[Key]*Held

	asleep func(since, now time.Time) time.Duration
}

// Key names a strand.
type Key struct {
	run    agent.RunID
	strand agent.StrandID
}

// KeyOf is the strand of a lease.
func KeyOf(l agent.Lease) Key { return Key{l.Run, l.Strand} }

// Held is one lease under work. Until is when it runs out if nothing
// extends it, by this process's monotonic clock.
type Held struct {
	lease agent.Lease
	until time.Time
	taken time.Time // or extended last
	lose  context.CancelFunc
}

// asleep is for how long the machine was suspended in between, or its wall clock
// set ahead: the monotonic clock, by which everything here is measured, stands
// still while a machine sleeps.
func asleep(since, now time.Time) time.Duration {
	return now.Round(0).Sub(since.Round(0)) - now.Sub(since)
}

// New is a set whose leases run out after the duration unless they are extended.
func New(store agent.Store, lease time.Duration, log *slog.Logger) *Set {
	return &Set{store: store, lease: lease, log: log, held: map[Key]*Held{}, asleep: asleep}
}

// Take registers a lease; lose is called when it is gone.
func (l *Set) Take(lease agent.Lease, since time.Time, lose context.CancelFunc) *Held {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := &Held{lease: lease, until: since.Add(l.lease), taken: since, lose: lose}
	l.held[KeyOf(lease)] = h
	return h
}

// Drop forgets a lease that was given back.
func (l *Set) Drop(h *Held) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if key := KeyOf(h.lease); l.held[key] == h {
		delete(l.held, key)
	}
}

// Valid reports whether the lease cannot have run out yet. A process that was
// frozen, or whose machine slept, finds out here, right before an effect.
func (l *Set) Valid(h *Held) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	return now.Before(h.until) && l.asleep(h.taken, now) < l.lease
}

// Keep extends all leases every third of the lease time until ctx ends.
func (l *Set) Keep(ctx context.Context) {
	tick := time.NewTicker(l.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			guard.Run(l.log, "the keeping of leases", func() { l.extend(ctx) })
		}
	}
}

// List is a copy of the leases that are held now.
func (l *Set) List() []agent.Lease {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]agent.Lease, 0, len(l.held))
	for _, h := range l.held {
		list = append(list, h.lease)
	}
	return list
}

func (l *Set) extend(ctx context.Context) {
	list := l.List()
	if len(list) == 0 {
		return
	}
	since := time.Now()
	lost, err := l.store.Extend(ctx, list)
	gone, unasked := epochs(lost), map[Key]uint64{}
	if err != nil {
		part, is := errors.AsType[*agent.ExtendError](err)
		if !is {
			part = &agent.ExtendError{Leases: list}
		}
		l.log.Warn("cannot extend leases; trying again", "leases", len(part.Leases), "err", err)
		unasked = epochs(part.Leases)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, lease := range list {
		key := KeyOf(lease)
		h := l.held[key]
		if h == nil || h.lease.Epoch != lease.Epoch {
			continue
		}
		if epoch, is := gone[key]; is && epoch == lease.Epoch || l.asleep(h.taken, since) >= l.lease {
			h.lose()
			continue
		}
		if epoch, is := unasked[key]; !is || epoch != lease.Epoch {
			h.until, h.taken = since.Add(l.lease), since
		}
	}
}

// epochs are those of leases, by their strands.
func epochs(list []agent.Lease) map[Key]uint64 {
	of := map[Key]uint64{}
	for _, lease := range list {
		of[KeyOf(lease)] = lease.Epoch
	}
	return of
}
