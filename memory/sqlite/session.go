package sqlite

// The writing connection and its prepared statements.

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// statement numbers the prepared statements of the writing connection.
type statement int

const (
	begin statement = iota
	commit
	rollback
	dataVersion
	findStrand
	findRun
	findStamp
	findAttempt
	findOnce
	findCounter
	findDue
	findDueOf
	findNext
	findEnded
	addEvent
	addOnce
	addCounter
	addAttempt
	dropAttempts
	putRun
	putStrand
	wakeStrand
	dropStrands
	putName
	dropName
	takeStrand
	keepStrand
	statements
)

// known is the condition that this build can work a strand's run.
var known = "coalesce((SELECT needs FROM runs WHERE runs.run = strands.run), 0) <= " + strconv.Itoa(agent.Generation)

var statementText = [statements]string{
	begin:        "BEGIN IMMEDIATE",
	commit:       "COMMIT",
	rollback:     "ROLLBACK",
	dataVersion:  "PRAGMA data_version",
	findStrand:   "SELECT epoch, turn, leased, attempt, seq, at FROM strands WHERE run = ? AND strand = ?",
	findRun:      "SELECT length, started, newest, coalesce(ended, 0), needs FROM runs WHERE run = ?",
	findStamp:    "SELECT at FROM journal WHERE run = ? AND seq = ?",
	findAttempt:  "SELECT seq, at FROM attempts WHERE id = ?",
	findOnce:     "SELECT 1 FROM once WHERE key = ?",
	findCounter:  "SELECT nano FROM counters WHERE name = ?",
	findDue:      "SELECT run, strand, epoch, turn FROM strands WHERE due <= ? AND " + known + " ORDER BY due LIMIT ?",
	findDueOf:    "SELECT run, strand, epoch, turn FROM strands WHERE run = ?3 AND due <= ?1 AND " + known + " ORDER BY due LIMIT ?2",
	findNext:     "SELECT due FROM strands WHERE due > ? ORDER BY due LIMIT 1",
	findEnded:    "SELECT run FROM runs WHERE ended < ? LIMIT ?",
	addEvent:     "INSERT INTO journal (run, seq, strand, at, kind, v, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
	addOnce:      "INSERT INTO once (key, at) VALUES (?, ?) ON CONFLICT DO NOTHING",
	addCounter:   "INSERT INTO counters (name, nano, at) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET nano = nano + excluded.nano, at = excluded.at",
	addAttempt:   "INSERT INTO attempts (id, seq, at) VALUES (?, ?, ?)",
	dropAttempts: "DELETE FROM attempts WHERE rowid IN (SELECT rowid FROM attempts ORDER BY rowid LIMIT ?) AND at < ?",
	putRun: "INSERT INTO runs (run, length, started, newest, ended, needs) VALUES (?, ?, ?, ?, nullif(?, 0), ?)" +
		" ON CONFLICT DO UPDATE SET length = excluded.length, started = excluded.started, newest = excluded.newest, ended = excluded.ended, needs = excluded.needs",
	putStrand: "UPDATE strands SET turn = ?, due = nullif(?, 9223372036854775807), leased = ?, attempt = ?, seq = ?, at = ?" +
		" WHERE run = ? AND strand = ?",
	wakeStrand: "INSERT INTO strands (run, strand, due) VALUES (?1, ?2, ?3)" +
		" ON CONFLICT DO UPDATE SET due = ?3 WHERE NOT leased AND (due IS NULL OR due > ?3)",
	dropStrands: "UPDATE strands SET due = NULL, leased = 0 WHERE run = ? AND strand <> 'voice'",
	putName:     "INSERT INTO names (name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
	dropName:    "DELETE FROM names WHERE name = ?",
	takeStrand:  "UPDATE strands SET epoch = ?, leased = 1, due = ? WHERE run = ? AND strand = ?",
	keepStrand:  "UPDATE strands SET due = ? WHERE run = ? AND strand = ? AND epoch = ? AND leased",
}

// session is the writing connection with its statements. One goroutine uses it.
type session struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts [statements]*sql.Stmt
	full  bool // PRAGMA synchronous is FULL, else NORMAL
	older int  // schema version of a file that was not brought up to date, else 0
}

// openSession opens the writing connection and makes the tables where there
// are none. A file of an older build is brought up to date unless may refuses.
func openSession(ctx context.Context, dir string, may func() error) (*session, error) {
	db, err := connect(dir, 1, "journal_size_limit(16777216)", "cache_size(-4000)")
	if err != nil {
		return nil, err
	}
	s := &session{db: db}
	if err := s.open(ctx, may); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) open(ctx context.Context, may func() error) (err error) {
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return err
	}
	if err := s.logAhead(ctx); err != nil {
		return err
	}
	if err := s.sync(ctx, true); err != nil {
		return err
	}
	s.older, err = migrate(ctx, s.conn, may)
	return err
}

// logAhead switches the file to a write-ahead log. SQLite does not wait for
// locks when it makes that switch, so this does.
func (s *session) logAhead(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		var mode string
		err := s.conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
		switch {
		case err == nil && mode != "wal":
			return fmt.Errorf("the file system does not allow a write-ahead log (journal mode %s): put the data directory on a local disk", mode)
		case code(err) != codeBusy:
			return err
		}
		select {
		case <-wait.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// sync says whether the next transactions are fsynced.
func (s *session) sync(ctx context.Context, full bool) error {
	if s.full == full {
		return nil
	}
	text := "PRAGMA synchronous = NORMAL"
	if full {
		text = "PRAGMA synchronous = FULL"
	}
	_, err := s.conn.ExecContext(ctx, text)
	if err == nil {
		s.full = full
	}
	return err
}

// prepare makes the statement ready for its first use.
func (s *session) prepare(ctx context.Context, st statement) (err error) {
	if s.stmts[st] == nil {
		if s.stmts[st], err = s.conn.PrepareContext(ctx, statementText[st]); err != nil { //nolint:sqlclosecheck // close does
			return fmt.Errorf("%s: %w", statementText[st], err)
		}
	}
	return nil
}

func (s *session) exec(ctx context.Context, st statement, args ...any) (sql.Result, error) {
	if err := s.prepare(ctx, st); err != nil {
		return nil, err
	}
	r, err := s.stmts[st].ExecContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statementText[st], err)
	}
	return r, nil
}

// rows are those that the statement finds.
func (s *session) rows(ctx context.Context, st statement, args ...any) (*sql.Rows, error) {
	if err := s.prepare(ctx, st); err != nil {
		return nil, err
	}
	return s.stmts[st].QueryContext(ctx, args...)
}

// find scans the one row that the statement finds; found is false without one.
func (s *session) find(ctx context.Context, st statement, args []any, into ...any) (found bool, err error) {
	if err := s.prepare(ctx, st); err != nil {
		return false, err
	}
	switch err := s.stmts[st].QueryRowContext(ctx, args...).Scan(into...); err {
	case nil:
		return true, nil
	case sql.ErrNoRows:
		return false, nil
	default:
		return false, fmt.Errorf("%s: %w", statementText[st], err)
	}
}

// collect scans all rows. With an error it returns those before it.
func collect[T any](rows *sql.Rows, scan func(*T) error) (all []T, err error) {
	defer rows.Close() // what it could report, Err has
	for rows.Next() {
		var one T
		if err := scan(&one); err != nil {
			return all, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

func (s *session) close() error {
	for _, st := range s.stmts {
		if st != nil {
			_ = st.Close() // the connection's end finalizes them in any case
		}
	}
	if s.conn != nil {
		_ = s.conn.Close() // gives it back to the pool, whose end reports
	}
	return s.db.Close()
}
