package sqlite

// Snapshots, artifacts, and runs that expire.

import (
	"context"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// expireAtOnce is how many runs one transaction removes, so that commits do
// not wait long behind it.
const expireAtOnce = 20

// KeepSnapshot keeps a fold unless a newer one is kept. One of a run that does
// not exist (it expired meanwhile) is not kept.
func (s *Store) KeepSnapshot(ctx context.Context, run agent.RunID, seq uint64, data []byte) error {
	err := s.writer.do(ctx, true, func(ctx context.Context, t *txn) error {
		_, err := t.conn.ExecContext(ctx, `INSERT INTO snapshots (run, seq, data) SELECT run, ?, ? FROM runs WHERE run = ?
			ON CONFLICT DO UPDATE SET seq = excluded.seq, data = excluded.data WHERE excluded.seq >= snapshots.seq`,
			int64(seq), blob(data), string(run))
		return err
	})
	return s.explain("keep snapshot of run "+string(run), err)
}

// PutBlob keeps an artifact under its content hash, once for all runs that have
// it.
func (s *Store) PutBlob(ctx context.Context, run agent.RunID, data []byte) (string, error) {
	hash := memory.BlobHash(data)
	known := false
	err := s.writer.do(ctx, false, func(ctx context.Context, t *txn) error {
		row, err := t.run(ctx, run)
		if err != nil {
			return err
		}
		if known = row.length > 0; !known {
			return nil
		}
		if _, err := t.conn.ExecContext(ctx, "INSERT INTO artifacts (run, hash) VALUES (?, ?) ON CONFLICT DO NOTHING", string(run), hash); err != nil {
			return err
		}
		_, err = t.conn.ExecContext(ctx, "INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, blob(data))
		return err
	})
	if err == nil && !known {
		return "", fmt.Errorf("keep artifact %s of run %s: %w", hash, run, agent.ErrNoRun)
	}
	if err != nil {
		return "", s.explain("keep artifact "+hash, err)
	}
	return hash, nil
}

// blob keeps nil from being stored as NULL.
func blob(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// Expire removes runs that ended before the time, and what is too old; see
// agent.Archive.
func (s *Store) Expire(ctx context.Context, endedBefore time.Time) (int, error) {
	total, err := s.inTurns(ctx, expireAtOnce, func(ctx context.Context, t *txn) (int, error) {
		return t.expire(ctx, endedBefore.UnixNano())
	})
	if err != nil {
		return total, s.explain("expire runs", err)
	}
	for text, kept := range map[string]time.Duration{forgetOnce: memory.OnceKept, forgetCounters: memory.CounterKept} {
		_, err := s.inTurns(ctx, forgetAtOnce, func(ctx context.Context, t *txn) (int, error) {
			r, err := t.conn.ExecContext(ctx, text, t.now-int64(kept), forgetAtOnce)
			if err != nil {
				return 0, err
			}
			n, err := r.RowsAffected()
			return int(n), err
		})
		if err != nil {
			return total, s.explain("forget what is too old", err)
		}
	}
	return total, nil
}

// What is too old goes by these, the oldest first. Their conditions are those
// of the indexes.
const (
	forgetAtOnce   = 500
	forgetOnce     = "DELETE FROM once WHERE key IN (SELECT key FROM once WHERE at < ? ORDER BY at LIMIT ?)"
	forgetCounters = "DELETE FROM counters WHERE name IN (SELECT name FROM counters WHERE (name < 'run/' OR name >= 'run0') AND at < ? ORDER BY at LIMIT ?)"
)

// inTurns calls f in transactions of its own until it has done less than most.
func (s *Store) inTurns(ctx context.Context, most int, f func(context.Context, *txn) (int, error)) (total int, err error) {
	for {
		n := 0
		err := s.writer.do(ctx, false, func(ctx context.Context, t *txn) (err error) {
			n, err = f(ctx, t)
			return err
		})
		if err != nil {
			return total, err
		}
		if total += n; n < most {
			return total, nil
		}
	}
}

func (t *txn) expire(ctx context.Context, before int64) (int, error) {
	// What commits of this transaction changed must be in the tables first.
	if err := t.putRuns(ctx); err != nil {
		return 0, err
	}
	ended, err := t.ended(ctx, before)
	if err != nil {
		return 0, err
	}
	for _, run := range ended {
		delete(t.runs, agent.RunID(run))
		if err := t.remove(ctx, run); err != nil {
			return 0, err
		}
	}
	return len(ended), nil
}

// ended finds runs that ended before the reading.
func (t *txn) ended(ctx context.Context, before int64) ([]string, error) {
	rows, err := t.rows(ctx, findEnded, before, expireAtOnce) //nolint:sqlclosecheck // collect does
	if err != nil {
		return nil, err
	}
	return collect(rows, func(run *string) error { return rows.Scan(run) })
}

func (t *txn) remove(ctx context.Context, run string) error {
	for _, text := range []string{
		"DELETE FROM journal WHERE run = ?",
		"DELETE FROM strands WHERE run = ?",
		"DELETE FROM snapshots WHERE run = ?",
		"DELETE FROM names WHERE value = ?",
		"DELETE FROM blobs WHERE hash IN (SELECT a.hash FROM artifacts a WHERE a.run = ?1" +
			" AND NOT EXISTS (SELECT 1 FROM artifacts o WHERE o.hash = a.hash AND o.run <> ?1))",
		"DELETE FROM artifacts WHERE run = ?",
		"DELETE FROM runs WHERE run = ?",
	} {
		if _, err := t.conn.ExecContext(ctx, text, run); err != nil {
			return err
		}
	}
	for text, prefix := range map[string]string{
		"DELETE FROM counters WHERE name >= ? AND name < ?": memory.RunCounters(agent.RunID(run)),
		"DELETE FROM names WHERE name >= ? AND name < ?":    agent.OfRun(agent.RunID(run)),
		"DELETE FROM names WHERE value >= ? AND value < ?":  run + "/",
	} {
		if _, err := t.conn.ExecContext(ctx, text, prefix, memory.PrefixEnd(prefix)); err != nil {
			return err
		}
	}
	return nil
}
