package sqlite

// A transaction, and what it knows of runs and strands.

import (
	"context"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// txn is one transaction of the writer: many commits, claims and the rest.
type txn struct {
	*session
	now     int64
	began   time.Time // by the process's clock
	lease   int64
	runs    map[agent.RunID]*runRow
	grants  []grant
	dropped bool // old attempts were looked for
}

// runRow is a row of the table runs. Times are readings of the clock.
type runRow struct {
	length  uint64
	started int64
	newest  int64 // stamp of the newest event: stamps of a run never go back, whichever process sets them
	ended   int64 // 0 while it lives
	needs   int   // generation of builds
	changed bool
}

func (r *runRow) fields() []any { return []any{&r.length, &r.started, &r.newest, &r.ended, &r.needs} }

// strandRow is a row of the table strands.
type strandRow struct {
	epoch, turn uint64
	leased      bool
	attempt     string
	seq         uint64
	at          int64
}

// run returns the run's row, empty for a run that does not exist yet.
func (t *txn) run(ctx context.Context, run agent.RunID) (*runRow, error) {
	if row := t.runs[run]; row != nil {
		return row, nil
	}
	row := &runRow{}
	if _, err := t.find(ctx, findRun, []any{string(run)}, row.fields()...); err != nil {
		return nil, err
	}
	if t.runs == nil {
		t.runs = map[agent.RunID]*runRow{}
	}
	t.runs[run] = row
	return row, nil
}

// putRuns writes the rows that the transaction changed.
func (t *txn) putRuns(ctx context.Context) error {
	for run, row := range t.runs {
		if !row.changed {
			continue
		}
		if _, err := t.exec(ctx, putRun, string(run), row.length, row.started, row.newest, row.ended, row.needs); err != nil {
			return err
		}
	}
	return nil
}

func (t *txn) strand(ctx context.Context, run agent.RunID, strand agent.StrandID) (row strandRow, found bool, err error) {
	found, err = t.find(ctx, findStrand, []any{string(run), string(strand)},
		&row.epoch, &row.turn, &row.leased, &row.attempt, &row.seq, &row.at)
	return row, found, err
}
