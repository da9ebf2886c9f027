package sqlite

// What is read without the writer.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Read returns the run's events after the seq; see agent.Store. A missing
// entry is a damaged one.
func (s *Store) Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	rows, err := s.readers.QueryContext(ctx,
		"SELECT seq, strand, at, kind, v, body FROM journal WHERE run = ? AND seq > ? ORDER BY seq", string(run), int64(min(after, math.MaxInt64)))
	if err != nil {
		return nil, s.explain("read run "+string(run), err)
	}
	events, err := collect(rows, func(e *agent.Event) error {
		after++
		e.Run, e.Seq = run, after
		return scanEvent(rows, e)
	})
	var entry *agent.EntryError
	if err != nil && !errors.As(err, &entry) {
		return nil, s.explain("read run "+string(run), err)
	}
	if err != nil || len(events) > 0 {
		return events, err
	}
	length, err := s.length(ctx, run)
	if err == nil && length == 0 {
		err = fmt.Errorf("run %s: %w", run, agent.ErrNoRun)
	}
	return nil, err
}

// scanEvent reads the event from the row, which should be the one with its seq.
// Errors are of type *agent.EntryError, but for the end of the context.
func scanEvent(rows *sql.Rows, e *agent.Event) error {
	damaged := func(err error) error {
		return &agent.EntryError{Run: e.Run, Seq: e.Seq, Err: fmt.Errorf("%w: %w", agent.ErrDamaged, err)}
	}
	var at, kind string
	var seq uint64
	var version int
	var body sql.RawBytes
	err := rows.Scan(&seq, &e.Strand, &at, &kind, &version, &body)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err // the reader is gone, the journal is well
	case err != nil:
		return damaged(err)
	case seq != e.Seq:
		return damaged(fmt.Errorf("it is missing, the next one is %d", seq))
	}
	if e.At, err = time.Parse(time.RFC3339Nano, at); err != nil {
		return damaged(err)
	}
	if e.Body, err = agent.DecodeBody(agent.Kind(kind), version, body); err != nil {
		return &agent.EntryError{Run: e.Run, Seq: e.Seq, Err: err}
	}
	return nil
}

// length is how many events the run has, 0 for an unknown run.
func (s *Store) length(ctx context.Context, run agent.RunID) (uint64, error) {
	var length uint64
	err := s.find(ctx, "SELECT length FROM runs WHERE run = ?", string(run), &length)
	return length, err
}

// find scans the one row that a query by key finds, and nothing without one.
func (s *Store) find(ctx context.Context, query, key string, into ...any) error {
	err := s.readers.QueryRowContext(ctx, query, key).Scan(into...)
	if err == nil || errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return s.explain("read "+key, err)
}

// listRuns lists runs. Its argument is the clock: what is leased is due now,
// or was at the end of the lease.
const listRuns = `SELECT r.run, r.length, r.started, coalesce(r.ended, 0), r.newest, coalesce((
		SELECT min(CASE WHEN s.leased THEN min(s.due, ?) ELSE s.due END) FROM strands s
		WHERE s.run = r.run AND s.strand <> 'voice'
	), 0)
	FROM runs r WHERE r.length > 0 ORDER BY r.started DESC, r.run`

// Runs lists the runs, the newest first.
func (s *Store) Runs(ctx context.Context) ([]agent.RunInfo, error) {
	rows, err := s.readers.QueryContext(ctx, listRuns, s.writer.clock.now())
	if err != nil {
		return nil, s.explain("list runs", err)
	}
	all, err := collect(rows, func(r *agent.RunInfo) error {
		var started, ended, last, due int64
		err := rows.Scan(&r.Run, &r.Length, &started, &ended, &last, &due)
		r.Started, r.Last = stamp(started), stamp(last)
		if ended != 0 {
			r.Ended = stamp(ended)
		}
		if due != 0 {
			r.Due = stamp(due)
		}
		return err
	})
	return all, s.explain("list runs", err)
}

// Now implements agent.Clock.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	return stamp(s.writer.clock.now()), ctx.Err()
}

// Snapshot returns the newest fold that was kept, and the seq it stands at.
func (s *Store) Snapshot(ctx context.Context, run agent.RunID) (seq uint64, data []byte, err error) {
	err = s.find(ctx, "SELECT seq, data FROM snapshots WHERE run = ?", string(run), &seq, &data)
	return seq, data, err
}

// Blob returns an artifact, or agent.ErrNoBlob.
func (s *Store) Blob(ctx context.Context, hash string) ([]byte, error) {
	var data []byte
	var size sql.NullInt64 // tells an empty artifact from none
	if err := s.find(ctx, "SELECT length(data), data FROM blobs WHERE hash = ?", hash, &size, &data); err != nil {
		return nil, err
	}
	if !size.Valid {
		return nil, fmt.Errorf("%w: %s", agent.ErrNoBlob, hash)
	}
	return data, nil
}

// Spent returns a counter's value, 0 for one that never was.
func (s *Store) Spent(ctx context.Context, counter string) (nano int64, err error) {
	err = s.find(ctx, "SELECT nano FROM counters WHERE name = ?", counter, &nano)
	return nano, err
}
