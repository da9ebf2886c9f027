package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// Store is what both stores are.
type Store interface {
	agent.Store
	agent.Archive
}

// OpenedStore is a Store that has to be closed.
type OpenedStore interface {
	Store
	Close() error
}

// OpenStore opens the configured store. For SQLite the mode says whether this
// process works the runs or looks on; Redis has no such difference. What the
// store notices and gets by without goes to the log (nil: nowhere).
func OpenStore(ctx context.Context, c config.Config, mode sqlite.Mode, log *slog.Logger) (OpenedStore, error) {
	if c.Redis.URL.Present() {
		s, err := redis.Open(ctx, redis.Config{URL: c.Redis.URL.Reveal(), Lease: c.Engine.Lease,
			Shards: c.Redis.Shards, WaitReplicas: c.Redis.WaitReplicas, Log: log})
		if err != nil {
			return nil, &RefusedError{err}
		}
		return s, nil
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: c.DataDir, Lease: c.Engine.Lease}, mode)
	if err != nil {
		return nil, &RefusedError{err}
	}
	return s, nil
}

// ExpireOld removes the runs that ended longer ago than that, by the store's
// clock: a process whose own is ahead removes none too early.
func ExpireOld(ctx context.Context, s Store, age time.Duration) (int, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	return s.Expire(ctx, now.Add(-age))
}

// NewClient is the way in for people and commands, with the rights that the
// configuration gives.
func NewClient(c config.Config, s Store) *runs.Client {
	return &runs.Client{Journals: s, Authority: authorityOf(c)}
}
