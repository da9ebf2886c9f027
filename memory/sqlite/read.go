package sqlite

// What is read without the writer.

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
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

// runColumns is what is listed of a run. Its argument is the clock: what is
// leased is due now, or was at the end of the lease.
const runColumns = `SELECT r.run, r.length, r.started, coalesce(r.ended, 0), r.newest, coalesce((
		SELECT min(CASE WHEN s.leased THEN min(s.due, ?1) ELSE s.due END) FROM strands s
		WHERE s.run = r.run AND s.strand <> 'voice'
	), 0) FROM `

// The kinds of lists, each in the order of an index. ?2 is the bound (-1:
// none), ?3 the end or the ids that the filter names.
const (
	someRuns  = `runs r WHERE r.run IN (SELECT value FROM json_each(?3)) AND r.length > 0 ORDER BY r.started DESC, r.run LIMIT ?2`
	allRuns   = `runs r WHERE r.length > 0 ORDER BY r.started DESC, r.run LIMIT ?2`
	liveRuns  = `runs r WHERE r.ended IS NULL AND r.length > 0 ORDER BY r.started DESC, r.run LIMIT ?2`
	endedRuns = `runs r WHERE r.ended > ?3 AND r.length > 0 ORDER BY r.ended DESC, r.run LIMIT ?2`
)

// Runs lists runs; see agent.Archive.
func (s *Store) Runs(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error) {
	most := f.Most
	if most <= 0 {
		most = -1
	}
	var all []agent.RunInfo
	var err error
	switch {
	case f.Only != nil:
		var ids []byte
		if ids, err = json.Marshal(f.Only); err == nil {
			all, err = s.list(ctx, someRuns, most, string(ids))
			all = slices.DeleteFunc(all, func(r agent.RunInfo) bool { return !f.Holds(r) })
		}
	case f.Live:
		all, err = s.list(ctx, liveRuns, most, nil)
	case f.EndedAfter.IsZero():
		all, err = s.list(ctx, allRuns, most, nil)
	default:
		all, err = s.list(ctx, liveRuns, most, nil)
		if left := most - len(all); err == nil && (most < 0 || left > 0) {
			var ended []agent.RunInfo
			ended, err = s.list(ctx, endedRuns, max(left, -1), f.EndedAfter.UnixNano())
			all = append(all, ended...)
		}
	}
	if err != nil {
		return nil, s.explain("list runs", err)
	}
	return all, nil
}

func (s *Store) list(ctx context.Context, kind string, most int, only any) ([]agent.RunInfo, error) {
	rows, err := s.readers.QueryContext(ctx, runColumns+kind, s.writer.clock.now(), most, only)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(r *agent.RunInfo) error {
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
}

// CountRuns counts runs; see agent.Archive.
func (s *Store) CountRuns(ctx context.Context, f agent.RunFilter) (n int, err error) {
	query := "SELECT count(*) FROM runs"
	var args []any
	switch {
	case f.Live:
		query += " WHERE ended IS NULL"
	case !f.EndedAfter.IsZero():
		query = "SELECT (SELECT count(*) FROM runs WHERE ended IS NULL) + (SELECT count(*) FROM runs WHERE ended > ?)"
		args = []any{f.EndedAfter.UnixNano()}
	}
	err = s.readers.QueryRowContext(ctx, query, args...).Scan(&n)
	return n, s.explain("count runs", err)
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

// Blob returns an artifact of the run, or agent.ErrNoBlob.
func (s *Store) Blob(ctx context.Context, run agent.RunID, hash string) ([]byte, error) {
	var data []byte
	err := s.readers.QueryRowContext(ctx, "SELECT data FROM blobs WHERE hash = ?1 AND EXISTS (SELECT 1 FROM artifacts WHERE run = ?2 AND hash = ?1)",
		hash, string(run)).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("%w: %s", agent.ErrNoBlob, hash)
	}
	return data, s.explain("read artifact "+hash, err)
}

// Spent returns a counter's value, 0 for one that never was.
func (s *Store) Spent(ctx context.Context, counter string) (nano int64, err error) {
	err = s.find(ctx, "SELECT nano FROM counters WHERE name = ?", counter, &nano)
	return nano, err
}
