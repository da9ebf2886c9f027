package loop

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// held are the leases of this process. They are extended together.
type held struct {
	store agent.Store
	lease time.Duration
	log   *slog.Logger

	mu     sync.Mutex
	leases map[strandKey]*holding
}

type strandKey struct {
	run    agent.RunID
	strand agent.StrandID
}

// holding is one lease under work. Until is when it runs out if nothing
// extends it, by this process's monotonic clock.
type holding struct {
	lease agent.Lease
	until time.Time
	lose  context.CancelFunc
}

func newHeld(store agent.Store, lease time.Duration, log *slog.Logger) *held {
	return &held{store: store, lease: lease, log: log, leases: map[strandKey]*holding{}}
}

// take registers a lease; lose is called when it is gone.
func (h *held) take(l agent.Lease, since time.Time, lose context.CancelFunc) *holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := &holding{lease: l, until: since.Add(h.lease), lose: lose}
	h.leases[strandKey{l.Run, l.Strand}] = g
	return g
}

func (h *held) drop(g *holding) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := strandKey{g.lease.Run, g.lease.Strand}
	if h.leases[key] == g {
		delete(h.leases, key)
	}
}

// valid reports whether the lease cannot have run out yet. A process that was
// frozen finds out here, right before an effect.
func (h *held) valid(g *holding) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Before(g.until)
}

// keep extends all leases every third of the lease time until ctx ends.
func (h *held) keep(ctx context.Context) {
	tick := time.NewTicker(h.lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.extend(ctx)
		}
	}
}

func (h *held) extend(ctx context.Context) {
	h.mu.Lock()
	list := make([]agent.Lease, 0, len(h.leases))
	for _, g := range h.leases {
		list = append(list, g.lease)
	}
	h.mu.Unlock()
	if len(list) == 0 {
		return
	}
	since := time.Now()
	lost, err := h.store.Extend(ctx, list)
	if err != nil {
		h.log.Warn("cannot extend leases; trying again", "leases", len(list), "err", err)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	gone := map[strandKey]uint64{}
	for _, l := range lost {
		gone[strandKey{l.Run, l.Strand}] = l.Epoch
	}
	for _, l := range list {
		key := strandKey{l.Run, l.Strand}
		g := h.leases[key]
		if g == nil || g.lease.Epoch != l.Epoch {
			continue
		}
		if epoch, is := gone[key]; is && epoch == l.Epoch {
			g.lose()
			continue
		}
		g.until = since.Add(h.lease)
	}
}
