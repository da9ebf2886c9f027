package sqlite

// The trail: lines of the whole store, for the hash chain of agent/audit.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// trailTable is made when the first line comes, so that builds that do not
// know it go on with the file.
const trailTable = "CREATE TABLE IF NOT EXISTS trail (n INTEGER PRIMARY KEY, line TEXT NOT NULL)"

var _ agent.Trail = (*Store)(nil)

// trail is a store's part that implements agent.Trail.
type trail struct{ of *Store }

// AppendTrail adds lines; see agent.Trail. Guests may.
func (t trail) AppendTrail(ctx context.Context, after uint64, lines []string) error {
	stale := false
	err := t.of.writer.do(ctx, false, func(ctx context.Context, x *txn) error {
		if _, err := x.conn.ExecContext(ctx, trailTable); err != nil {
			return err
		}
		var end uint64
		if err := x.conn.QueryRowContext(ctx, trailEnd).Scan(&end); err != nil {
			return err
		}
		if stale = end != after; stale {
			return nil
		}
		for i, line := range lines {
			if _, err := x.conn.ExecContext(ctx, "INSERT INTO trail (n, line) VALUES (?, ?)", after+uint64(i)+1, line); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && stale {
		return fmt.Errorf("the trail does not end at line %d: %w", after, agent.ErrStale)
	}
	return t.of.explain("append to the trail", err)
}

const trailEnd = "SELECT coalesce(max(n), 0) FROM trail"

// TrailEnd is the number of the last line; see agent.Trail.
func (t trail) TrailEnd(ctx context.Context) (end uint64, err error) {
	if has, err := t.hasTrail(ctx); err != nil || !has {
		return 0, err
	}
	err = t.of.readers.QueryRowContext(ctx, trailEnd).Scan(&end)
	return end, t.of.explain("read the trail", err)
}

// hasTrail reports whether a line was ever written.
func (t trail) hasTrail(ctx context.Context) (bool, error) {
	var one int
	err := t.of.readers.QueryRowContext(ctx, "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'trail'").Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, t.of.explain("look for the trail", err)
}

// ReadTrail reads lines; see agent.Trail.
func (t trail) ReadTrail(ctx context.Context, after uint64, n int) ([]string, error) {
	if has, err := t.hasTrail(ctx); err != nil || !has {
		return nil, err
	}
	rows, err := t.of.readers.QueryContext(ctx, "SELECT n, line FROM trail WHERE n > ? AND n <= ? ORDER BY n", int64(after), int64(after)+int64(n))
	if err != nil {
		return nil, t.of.explain("read the trail", err)
	}
	type row struct {
		n    uint64
		line string
	}
	found, err := collect(rows, func(r *row) error { return rows.Scan(&r.n, &r.line) })
	if err != nil {
		return nil, t.of.explain("read the trail", err)
	}
	var lines []string
	for _, r := range found {
		for after+uint64(len(lines))+1 < r.n {
			lines = append(lines, "") // it is missing
		}
		lines = append(lines, r.line)
	}
	return lines, nil
}

// CutTrail removes the trail's beginning; see agent.Trail.
func (t trail) CutTrail(ctx context.Context, upto uint64) error {
	err := t.of.writer.do(ctx, false, func(ctx context.Context, x *txn) error {
		if _, err := x.conn.ExecContext(ctx, trailTable); err != nil {
			return err
		}
		_, err := x.conn.ExecContext(ctx, "DELETE FROM trail WHERE n <= ? AND n < (SELECT max(n) FROM trail)", int64(min(upto, math.MaxInt64)))
		return err
	})
	return t.of.explain("cut the trail", err)
}

// ReadKept reads a journal as it is kept; see agent.Trail.
func (t trail) ReadKept(ctx context.Context, run agent.RunID, after uint64, n int) ([]agent.Kept, error) {
	rows, err := t.of.readers.QueryContext(ctx,
		"SELECT seq, strand, at, kind, v, body FROM journal WHERE run = ? AND seq > ? ORDER BY seq LIMIT ?",
		string(run), int64(min(after, math.MaxInt64)), n)
	if err != nil {
		return nil, t.of.explain("read run "+string(run), err)
	}
	kept, err := collect(rows, func(k *agent.Kept) error {
		var at string
		if err := rows.Scan(&k.Seq, &k.Strand, &at, &k.Kind, &k.Version, &k.Body); err != nil {
			return err
		}
		k.At, _ = time.Parse(time.RFC3339Nano, at) // what is no time differs from what was sealed
		return nil
	})
	if err != nil || len(kept) > 0 {
		return kept, t.of.explain("read run "+string(run), err)
	}
	length, err := t.of.length(ctx, run)
	if err == nil && length == 0 {
		err = fmt.Errorf("run %s: %w", run, agent.ErrNoRun)
	}
	return nil, err
}
