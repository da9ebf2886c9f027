package app

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// Store is what both stores are.
type Store interface {
	agent.Store
	agent.Archive
	agent.Records
	agent.Trail
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
	if len(c.Gate.Rules)+len(c.Gate.Off) > 0 {
		if _, err := newGate(c); err != nil {
			return nil, err
		}
	}
	if c.Redis.URL.Present() {
		s, err := redis.Open(ctx, redis.Config{URL: c.Redis.URL.Reveal(), Lease: c.Engine.Lease,
			Shards: c.Redis.Shards, WaitReplicas: c.Redis.WaitReplicas, Log: log})
		if err != nil {
			return nil, &config.RefusedError{Cause: err}
		}
		return s, nil
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: c.DataDir, Lease: c.Engine.Lease}, mode)
	if err != nil {
		return nil, &config.RefusedError{Cause: err}
	}
	return s, nil
}

// CheckWorkspace refuses a workspace that can never be one: it, or what it lies
// in, is a file. One that is not there yet is made when it is first used.
func CheckWorkspace(c config.Config) error {
	for at := filepath.Clean(c.Workspace); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && info.IsDir():
			return nil
		case err == nil:
			return config.Refuse("the workspace %s cannot be used: %s is a file; set workspace, DECKHAND_WORKSPACE or --workspace to a folder", c.Workspace, at)
		case at == filepath.Dir(at):
			return nil
		}
	}
}

// ExpireOld removes the runs that ended longer ago than that, by the store's
// clock: a process whose own is ahead removes none too early. The audit chain
// says so first.
func ExpireOld(ctx context.Context, s Store, age time.Duration) (int, error) {
	now, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	if err := audit.Expiring(ctx, s, now.Add(-age)); err != nil {
		return 0, err
	}
	return s.Expire(ctx, now.Add(-age))
}

// NewClient is the way in for people and commands, with the rights that the
// configuration gives.
func NewClient(c config.Config, s Store) *runs.Client {
	return &runs.Client{Journals: s, Authority: authorityOf(c), Refuse: refusing(c), RequesterRaise: c.Budget.RequesterRaise}
}
