package sqlite

// The store: opened, as worker or as guest, and closed.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Mode says what a process wants with a data directory.
type Mode int

// A Worker claims strands; there is one at a time. A Guest reads and appends
// facts, beside a worker or without one.
const (
	Worker Mode = iota
	Guest
)

// DefaultLease is the lease time where Config has none.
const DefaultLease = 3 * time.Second

// Config says where the store is and how long its leases last.
type Config struct {
	// Dir is the data directory. It is created, for its owner alone, where it
	// does not exist.
	Dir string
	// Lease is how long a strand stays with a worker that gives no sign of
	// life; 0 is DefaultLease.
	Lease time.Duration
}

// Store is an open data directory. It implements agent.Store and agent.Archive.
type Store struct {
	dir     string
	lock    *lock // nil for a guest
	writer  *writer
	readers *sql.DB
	watches *watches
	paces   paces
	closing sync.Once
	closed  error
}

var (
	_ agent.Store   = (*Store)(nil)
	_ agent.Archive = (*Store)(nil)
)

// Open opens the directory's file, and makes it where there is none. A second
// worker gets a *HeldError that names the first. A worker voids the leases of
// the one before it: its strands are due at once.
func Open(ctx context.Context, c Config, mode Mode) (*Store, error) {
	s, err := open(ctx, c, mode)
	var held *HeldError
	if err == nil || errors.As(err, &held) {
		return s, err
	}
	return nil, explain(c.Dir, "open the store", err)
}

func open(ctx context.Context, c Config, mode Mode) (_ *Store, err error) {
	if c.Dir == "" {
		return nil, errors.New("no data directory: set data_dir or --data-dir")
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, err
	}
	if c.Lease == 0 {
		c.Lease = DefaultLease
	}
	s := &Store{dir: c.Dir, watches: newWatches()}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.unlock())
		}
	}()
	if mode == Worker {
		if s.lock, err = hold(c.Dir); err != nil {
			return nil, err
		}
	}
	session, err := openSession(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	s.writer = &writer{
		session: session, clock: &clock{}, lease: c.Lease, watches: s.watches, next: never,
		requests: make(chan *request, batchSize), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if mode == Worker {
		err = s.writer.void(ctx)
	}
	if err == nil {
		s.readers, err = connect(c.Dir, 3, "query_only(1)", "cache_size(-1000)")
	}
	if err != nil {
		return nil, errors.Join(err, session.close())
	}
	go s.writer.work(context.WithoutCancel(ctx))
	return s, nil
}

// void makes strands due whose worker died with its lock.
func (w *writer) void(ctx context.Context) error {
	_, err := w.session.conn.ExecContext(ctx, "UPDATE strands SET leased = 0, due = ? WHERE due IS NOT NULL AND leased", w.clock.now())
	if err != nil {
		return fmt.Errorf("void the leases of an earlier process: %w", err)
	}
	return nil
}

// Close ends what is under way with ErrClosed and gives the lock back. A second
// call returns what the first did.
func (s *Store) Close() error {
	s.closing.Do(func() {
		close(s.writer.stop)
		<-s.writer.stopped
		s.closed = errors.Join(s.readers.Close(), s.writer.session.close(), s.unlock())
	})
	return s.closed
}

func (s *Store) guest() bool { return s.lock == nil }

func (s *Store) unlock() error {
	if s.lock == nil {
		return nil
	}
	return s.lock.release()
}

// explain leaves what callers compare alone, and says of the rest what
// happened to which file.
func (s *Store) explain(doing string, err error) error {
	for _, plain := range []error{nil, ErrClosed, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, plain) {
			return err
		}
	}
	return explain(s.dir, doing, err)
}
