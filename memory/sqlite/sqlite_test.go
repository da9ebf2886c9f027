package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// open opens the directory until the test ends.
func open(t testing.TB, dir string, lease time.Duration, mode sqlite.Mode) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir, Lease: lease}, mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T, lease time.Duration) storetest.Stores {
		dir := t.TempDir()
		first := open(t, dir, lease, sqlite.Worker)
		return storetest.Stores{
			Store:  first,
			Beside: func(t *testing.T) storetest.Store { return open(t, dir, lease, sqlite.Guest) },
			Reopen: func(t *testing.T) storetest.Store {
				if err := first.Close(); err != nil {
					t.Fatal(err)
				}
				return open(t, dir, lease, sqlite.Worker)
			},
			Tamper: func(t *testing.T, run agent.RunID, seq uint64, kind agent.Kind, version int, body string) {
				tamper(t, dir, "UPDATE journal SET kind = ?, v = ?, body = ? WHERE run = ? AND seq = ?", string(kind), version, body, string(run), seq)
			},
			Needs: func(t *testing.T, run agent.RunID, generation int) (before int) {
				if err := file(t, dir).QueryRowContext(t.Context(), "SELECT needs FROM runs WHERE run = ?", string(run)).Scan(&before); err != nil {
					t.Fatal(err)
				}
				tamper(t, dir, "UPDATE runs SET needs = ? WHERE run = ?", generation, string(run))
				return before
			},
		}
	})
}

// file opens the directory's file as a person's script would.
func file(t testing.TB, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "deckhand.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// tamper changes the file behind the store's back.
func tamper(t *testing.T, dir, text string, args ...any) {
	t.Helper()
	if _, err := file(t, dir).ExecContext(t.Context(), text, args...); err != nil {
		t.Fatal(err)
	}
}
