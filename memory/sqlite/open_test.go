package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(t *testing.T, dir string) string
		says []string
	}{
		"no directory": {func(*testing.T, string) string { return "" }, []string{"data_dir"}},
		"a file in its place": {func(t *testing.T, dir string) string {
			put(t, filepath.Join(dir, "file"), "x")
			return filepath.Join(dir, "file", "data")
		}, []string{"data directory", "writable", "file"}},
		"a directory in the file's place": {func(t *testing.T, dir string) string {
			if err := os.Mkdir(filepath.Join(dir, "deckhand.db"), 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		}, []string{"cannot write", "deckhand.db"}},
		"something else": {func(t *testing.T, dir string) string {
			put(t, filepath.Join(dir, "deckhand.db"), strings.Repeat("not a database", 1000))
			return dir
		}, []string{"is damaged", "deckhand.db"}},
		"half a file": {func(t *testing.T, dir string) string {
			park(t, dir, 20)
			data, err := os.ReadFile(filepath.Join(dir, "deckhand.db"))
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(dir, "deckhand.db"), string(data[:8192]))
			return dir
		}, []string{"is damaged", "deckhand.db"}},
		"a newer build's file": {func(t *testing.T, dir string) string {
			park(t, dir, 1)
			tamper(t, dir, "PRAGMA user_version = 99")
			return dir
		}, []string{"schema version 99", "newer deckhand"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: tc.make(t, t.TempDir())}, sqlite.Worker)
			if err == nil {
				t.Fatal(errors.Join(errors.New("it opens"), s.Close()))
			}
			for _, word := range tc.says {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%q does not say %q", err, word)
				}
			}
		})
	}
}

func put(t *testing.T, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMissingEntryIsDamage(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, time.Minute, sqlite.Worker)
	run := begin(t, s)
	for range 3 {
		if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "x")}}); err != nil {
			t.Fatal(err)
		}
	}
	tamper(t, dir, "DELETE FROM journal WHERE run = ? AND seq = 3", string(run))
	events, err := s.Read(t.Context(), run, 0)
	var entry *agent.EntryError
	if !errors.As(err, &entry) || !errors.Is(err, agent.ErrDamaged) || entry.Seq != 3 || len(events) != 2 {
		t.Errorf("read %d events, %v; want 2 and entry 3 to be damaged", len(events), err)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := open(t, t.TempDir(), time.Minute, sqlite.Worker)
	run := begin(t, s)
	awaited, claimed := make(chan error, 1), make(chan error, 1)
	go func() { awaited <- s.Await(t.Context(), run, 5) }()
	go func() {
		_, err := s.Claim(t.Context(), 1, time.Hour, "no-such-run")
		claimed <- err
	}()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run})
	if !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("commit: %v, want ErrClosed", err)
	}
	for name, err := range map[string]error{"await": <-awaited, "claim": <-claimed} {
		if err == nil {
			t.Errorf("%s returned without an error", name)
		}
	}
}

// TestJournalIsReadable holds what people's scripts rely on.
func TestJournalIsReadable(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, time.Minute, sqlite.Worker)
	run := begin(t, s)
	db := file(t, dir)
	var seq int
	var strand, at, kind, body string
	if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{said(agent.Main, "hello")}}); err != nil {
		t.Fatal(err)
	}
	row := db.QueryRowContext(t.Context(), "SELECT seq, strand, at, kind, body FROM journal WHERE run = ? AND seq = 2", string(run))
	if err := row.Scan(&seq, &strand, &at, &kind, &body); err != nil {
		t.Fatal(err)
	}
	stamp, err := time.Parse(time.RFC3339Nano, at)
	if err != nil || !strings.HasSuffix(at, "Z") || time.Since(stamp).Abs() > time.Minute {
		t.Errorf("at is %q, %v", at, err)
	}
	if seq != 2 || strand != "main" || kind != "person.said" || body != `{"by":"terminal","text":"hello","trusted":true}` {
		t.Errorf("entry %d of %s, %s: %s", seq, strand, kind, body)
	}
}

// The journals are for nobody else on the machine.
func TestFilesArePrivate(t *testing.T) {
	dir := t.TempDir()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: dir}, sqlite.Worker)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) < 3 {
		t.Fatalf("%q: %v", names, err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}
