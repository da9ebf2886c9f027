package sqlite

// Records: what is remembered. Their table is made at the first write, beside
// the numbered versions of the schema: builds that know no records leave it alone.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// records is their table: a removed one has no data. Seqs are never used again.
const records = `
CREATE TABLE IF NOT EXISTS records (id TEXT NOT NULL UNIQUE, seq INTEGER PRIMARY KEY AUTOINCREMENT, data BLOB);
CREATE INDEX IF NOT EXISTS records_live ON records (seq) WHERE data IS NOT NULL;
`

// WriteRecords implements agent.Records. Guests may.
func (s *Store) WriteRecords(ctx context.Context, writes []agent.RecordWrite) ([]bool, error) {
	if err := memory.CheckRecords(writes); err != nil {
		return nil, fmt.Errorf("write records: %w: %w", agent.ErrPermanent, err)
	}
	if len(writes) == 0 {
		return nil, nil
	}
	var applied []bool
	err := s.writer.do(ctx, false, func(ctx context.Context, t *txn) (err error) {
		applied, err = t.writeRecords(ctx, writes)
		return err
	})
	return applied, s.explain("write records", err)
}

func (t *txn) writeRecords(ctx context.Context, writes []agent.RecordWrite) ([]bool, error) {
	if _, err := t.conn.ExecContext(ctx, records); err != nil {
		return nil, err
	}
	if _, err := t.conn.ExecContext(ctx, "PRAGMA secure_delete = ON"); err != nil { // what is forgotten is overwritten
		return nil, err
	}
	applied := make([]bool, len(writes))
	for i, w := range writes {
		var seq uint64
		err := t.conn.QueryRowContext(ctx, "SELECT seq FROM records WHERE id = ?", w.ID).Scan(&seq)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		if w.Seen != agent.AnyRecord && w.Seen != seq {
			continue
		}
		if err := t.putRecord(ctx, w); err != nil {
			return nil, err
		}
		applied[i] = true
	}
	return applied, nil
}

// putRecord writes one record under the next seq. What was there is overwritten
// in the file, too.
func (t *txn) putRecord(ctx context.Context, w agent.RecordWrite) error {
	if _, err := t.conn.ExecContext(ctx, "DELETE FROM records WHERE id = ?", w.ID); err != nil {
		return err
	}
	var data any
	if len(w.Data) > 0 {
		data = w.Data
	}
	_, err := t.conn.ExecContext(ctx, "INSERT INTO records (id, data) VALUES (?, ?)", w.ID, data)
	return err
}

// ReadRecords implements agent.Records.
func (s *Store) ReadRecords(ctx context.Context, after uint64, most int) (list []agent.RecordRow, state agent.RecordState, err error) {
	tx, err := s.readers.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // one look: state and rows belong together
	if err != nil {
		return nil, state, s.explain("read records", err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	list, state, err = readRecords(ctx, tx, after, most)
	if err != nil && strings.Contains(err.Error(), "no such table: records") {
		return nil, agent.RecordState{}, nil
	}
	return list, state, s.explain("read records", err)
}

func readRecords(ctx context.Context, tx *sql.Tx, after uint64, most int) (list []agent.RecordRow, state agent.RecordState, err error) {
	err = tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0), (SELECT count(*) FROM records WHERE data IS NOT NULL) FROM records").Scan(&state.Head, &state.Live)
	if err != nil || state.Head <= after {
		return nil, state, err
	}
	limit := -1
	if most > 0 {
		limit = most
	}
	rows, err := tx.QueryContext(ctx, "SELECT id, seq, data FROM records WHERE seq > ? ORDER BY seq LIMIT ?", int64(after), limit)
	if err != nil {
		return nil, state, err
	}
	list, err = collect(rows, func(r *agent.RecordRow) error { return rows.Scan(&r.ID, &r.Seq, &r.Data) })
	return list, state, err
}
