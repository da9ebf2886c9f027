package sqlite

// The store: opened, as worker or as guest, and closed.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
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
	trail
	dir     string
	lock    *lock // nil for a guest
	writer  *writer
	readers *sql.DB
	watches *watches
	paces   paces
	lines   memory.Lines
	closing sync.Once
	closed  error
}

var (
	_ agent.Store   = (*Store)(nil)
	_ agent.Archive = (*Store)(nil)
	_ agent.Records = (*Store)(nil)
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
	if err := makeDir(c.Dir); err != nil {
		return nil, err
	}
	if err := makePrivate(filepath.Join(c.Dir, fileName)); err != nil {
		return nil, err
	}
	if c.Lease == 0 {
		c.Lease = DefaultLease
	}
	s := &Store{dir: c.Dir, watches: newWatches()}
	s.trail = trail{s}
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
	if err := s.openFile(ctx, c.Lease, mode); err != nil {
		return nil, err
	}
	go s.writer.work(context.WithoutCancel(ctx))
	return s, nil
}

// openFile opens the connections; a worker's file is looked through, if that
// takes no time, and gets over the end of the process before.
func (s *Store) openFile(ctx context.Context, lease time.Duration, mode Mode) (err error) {
	session, err := openSession(ctx, s.dir, func() error {
		if mode == Worker {
			return nil
		}
		return free(s.dir)
	})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.closeReaders(), session.close())
		}
	}()
	s.writer = &writer{
		session: session, clock: &clock{}, lease: lease, watches: s.watches, next: never,
		requests: make(chan *request, batchSize), stop: make(chan struct{}), stopped: make(chan struct{}),
	}
	if session.older > 0 {
		s.writer.refuses = &OlderError{Dir: s.dir, PID: pid(filepath.Join(s.dir, lockName)), Version: session.older}
	}
	if s.readers, err = connect(s.dir, 3, "query_only(1)", "cache_size(-1000)"); err != nil {
		return err
	}
	if mode == Worker {
		if err := s.checkSmall(ctx); err != nil {
			return err
		}
	}
	if err := s.writer.resume(ctx); err != nil || mode == Guest {
		return err
	}
	return s.writer.void(ctx)
}

func (s *Store) closeReaders() error {
	if s.readers == nil {
		return nil
	}
	return s.readers.Close()
}

// makeDir makes the directory where there is none, so that it is there after a
// power failure, too.
func makeDir(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	var parents []string // of what does not exist
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		parents = append(parents, filepath.Dir(at))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for _, parent := range parents {
		if err := syncDir(parent); err != nil {
			return err
		}
	}
	return nil
}

// makePrivate makes a file that nobody else on the machine reads, where there is
// none; those that SQLite makes beside it have the same rights.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return f.Close()
}

func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// checkedAtStart is how large a file a worker reads through when it opens it.
const checkedAtStart = 16 << 20

// checkSmall looks through a file of a moderate size.
func (s *Store) checkSmall(ctx context.Context) error {
	info, err := os.Stat(filepath.Join(s.dir, fileName))
	if err != nil || info.Size() > checkedAtStart {
		return err
	}
	return s.quickCheck(ctx)
}

// Verify looks through the whole file for damage; a gigabyte takes seconds.
func (s *Store) Verify(ctx context.Context) error {
	return s.explain("look through the store", s.quickCheck(ctx))
}

func (s *Store) quickCheck(ctx context.Context) error {
	var found string
	if err := s.readers.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return &DamagedError{File: filepath.Join(s.dir, fileName), Found: found}
	}
	return nil
}

// resume begins the clock at the file's newest event, where the wall clock was
// set back since.
func (w *writer) resume(ctx context.Context) error {
	var at string
	err := w.session.conn.QueryRowContext(ctx, "SELECT at FROM journal ORDER BY rowid DESC LIMIT 1").Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the time of the newest event: %w", err)
	}
	if newest, err := time.Parse(stampLayout, at); err == nil { // else whoever reads that journal is told
		w.clock.last = newest.UnixNano()
	}
	return nil
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
