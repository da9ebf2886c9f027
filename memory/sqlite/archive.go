package sqlite

// Snapshots, artifacts, and runs that expire.

import (
	"context"
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

// PutBlob keeps an artifact under its content hash.
func (s *Store) PutBlob(ctx context.Context, data []byte) (string, error) {
	hash := memory.BlobHash(data)
	err := s.writer.do(ctx, false, func(ctx context.Context, t *txn) error {
		_, err := t.conn.ExecContext(ctx, "INSERT INTO blobs (hash, data) VALUES (?, ?) ON CONFLICT DO NOTHING", hash, blob(data))
		return err
	})
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

// Expire removes runs that ended before the time; see agent.Archive.
func (s *Store) Expire(ctx context.Context, endedBefore time.Time) (int, error) {
	total := 0
	for {
		n := 0
		err := s.writer.do(ctx, false, func(ctx context.Context, t *txn) (err error) {
			n, err = t.expire(ctx, endedBefore.UnixNano())
			return err
		})
		if err != nil {
			return total, s.explain("expire runs", err)
		}
		total += n
		if n < expireAtOnce {
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
	rows, err := t.stmts[findEnded].QueryContext(ctx, before, expireAtOnce) //nolint:sqlclosecheck // collect does
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
		"DELETE FROM runs WHERE run = ?",
	} {
		if _, err := t.conn.ExecContext(ctx, text, run); err != nil {
			return err
		}
	}
	prefix := memory.RunCounters(agent.RunID(run))
	_, err := t.conn.ExecContext(ctx, "DELETE FROM counters WHERE name >= ? AND name < ?", prefix, memory.PrefixEnd(prefix))
	return err
}
