package sqlite

// The tables, and how a file of an older version gets them.

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	sqlite3 "modernc.org/sqlite"
)

const (
	fileName    = "deckhand.db"
	busyTimeout = 5 * time.Second
	// schemaVersion is kept in PRAGMA user_version.
	schemaVersion = 4
)

// tables is what version 1 made. The table journal is a contract: people's scripts read it. Its rows
// are appended, with an index beside them, because a table ordered by run would
// split pages in its middle with every event and end a third larger.
//
// Of the other times, all are nanoseconds since 1970. A strand's due is null
// where it is parked; while it is leased (1) it is the lease's end. attempt, seq
// and at are the last commit under a lease of the strand, and its receipt;
// attempts holds the same for facts.
const tables = `
CREATE TABLE journal (
	run TEXT NOT NULL, seq INTEGER NOT NULL, strand TEXT NOT NULL, at TEXT NOT NULL,
	kind TEXT NOT NULL, v INTEGER NOT NULL DEFAULT 1, body TEXT NOT NULL
);
CREATE UNIQUE INDEX journal_run ON journal (run, seq);
CREATE TABLE runs (
	run TEXT PRIMARY KEY, length INTEGER NOT NULL, started INTEGER NOT NULL,
	newest INTEGER NOT NULL, ended INTEGER
) WITHOUT ROWID;
CREATE INDEX runs_ended ON runs (ended) WHERE ended IS NOT NULL;
CREATE TABLE strands (
	run TEXT NOT NULL, strand TEXT NOT NULL, epoch INTEGER NOT NULL DEFAULT 0, turn INTEGER NOT NULL DEFAULT 0,
	due INTEGER, leased INTEGER NOT NULL DEFAULT 0,
	attempt TEXT NOT NULL DEFAULT '', seq INTEGER NOT NULL DEFAULT 0, at INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (run, strand)
) WITHOUT ROWID;
CREATE INDEX strands_due ON strands (due) WHERE due IS NOT NULL;
CREATE TABLE attempts (id TEXT NOT NULL UNIQUE, seq INTEGER NOT NULL, at INTEGER NOT NULL);
CREATE TABLE once (key TEXT PRIMARY KEY, at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE counters (name TEXT PRIMARY KEY, nano INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshots (run TEXT PRIMARY KEY, seq INTEGER NOT NULL, data BLOB NOT NULL);
CREATE TABLE blobs (hash TEXT PRIMARY KEY, data BLOB NOT NULL);
PRAGMA user_version = 1;
`

// names is what version 2 added. The index finds the names of a run that expires.
const names = `
CREATE TABLE names (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX names_value ON names (value);
PRAGMA user_version = 2;
`

// growth is what version 3 added: lists of runs are read in the order of an
// index, and what goes with a run, or by its age, is found by one. Which run an
// older artifact belongs to is in the journal.
const growth = `
CREATE INDEX runs_started ON runs (started DESC);
CREATE INDEX runs_live ON runs (started DESC) WHERE ended IS NULL;
DROP INDEX runs_ended;
CREATE INDEX runs_ended ON runs (ended DESC) WHERE ended IS NOT NULL;
CREATE TABLE artifacts (run TEXT NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (run, hash)) WITHOUT ROWID;
INSERT INTO artifacts SELECT DISTINCT run, json_extract(body, '$.artifact') FROM journal WHERE kind = 'tool.outcome'
	AND CASE WHEN json_valid(body) THEN json_extract(body, '$.artifact') END IN (SELECT hash FROM blobs);
CREATE INDEX artifacts_hash ON artifacts (hash);
DELETE FROM blobs WHERE hash NOT IN (SELECT hash FROM artifacts);
CREATE INDEX once_at ON once (at);
ALTER TABLE counters ADD COLUMN at INTEGER NOT NULL DEFAULT 0;
UPDATE counters SET at = unixepoch() * 1000000000;
CREATE INDEX counters_at ON counters (at) WHERE name < 'run/' OR name >= 'run0';
PRAGMA user_version = 3;
`

// generation is what version 4 added: the generation of builds that a run's
// events need.
const generation = `
ALTER TABLE runs ADD COLUMN needs INTEGER NOT NULL DEFAULT 0;
PRAGMA user_version = 4;
`

// connect opens a pool of connections to the directory's file.
func connect(dir string, conns int, pragmas ...string) (*sql.DB, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	query := url.Values{"_pragma": append([]string{
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()),
		"temp_store(memory)",
		"fullfsync(1)", // macOS: an fsync alone leaves it in the disk's own memory
		"checkpoint_fullfsync(1)",
	}, pragmas...)}
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(filepath.Join(abs, fileName)), RawQuery: query.Encode()}
	connector, err := sqlite3.NewConnector(file.String())
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(1)
	return db, nil
}

// migrate makes the file's tables, or those that a file of an older build has
// not yet, or refuses a file that a newer build made. Where may refuses, a file of
// an older build is left as it is, and older says which version it has.
func migrate(ctx context.Context, conn *sql.Conn, may func() error) (older int, err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return 0, err
	}
	var version int
	err = conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && version > schemaVersion {
		err = fmt.Errorf("the file has schema version %d, this build knows %d: use a newer deckhand", version, schemaVersion)
	}
	if err == nil && version > 0 && version < schemaVersion && may() != nil {
		older = version
	}
	for from, step := range [schemaVersion]string{tables, names, growth, generation} {
		if err == nil && older == 0 && version <= from {
			_, err = conn.ExecContext(ctx, step)
		}
	}
	end := "COMMIT"
	if err != nil {
		end = "ROLLBACK"
	}
	if _, endErr := conn.ExecContext(ctx, end); err == nil {
		err = endErr
	}
	return older, err
}
