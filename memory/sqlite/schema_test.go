package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// versionOne makes a directory whose file a build of schema version 1 left.
func versionOne(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text, err := os.ReadFile(filepath.Join("testdata", "version1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect(dir, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), string(text))
	if closed := db.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return dir
}

func opened(t *testing.T, dir string, mode Mode) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: dir, Lease: time.Minute}, mode)
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

func version(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.readers.QueryRowContext(t.Context(), "PRAGMA user_version").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// layout is the text of all tables and indexes.
func layout(t *testing.T, s *Store) (all []string) {
	t.Helper()
	rows, err := s.readers.QueryContext(t.Context(), "SELECT coalesce(sql, name) FROM sqlite_schema ORDER BY name") //nolint:sqlclosecheck // collect does
	if err == nil {
		all, err = collect(rows, func(text *string) error { return rows.Scan(text) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestVersionOneGoesOn(t *testing.T) {
	for name, first := range map[string]Mode{"a worker opens it": Worker, "a guest opens it": Guest} {
		t.Run(name, func(t *testing.T) {
			dir := versionOne(t)
			if s := opened(t, dir, first); version(t, s) != schemaVersion {
				t.Fatalf("schema version %d, want %d", version(t, s), schemaVersion)
			} else if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s := opened(t, dir, Worker)
			if diff := cmp.Diff(layout(t, inner(t)), layout(t, s)); diff != "" {
				t.Errorf("tables (-new file +migrated file):\n%s", diff)
			}
			everythingOfOne(t, s)
			namesAfterOne(t, s)
		})
	}
}

// everythingOfOne wants all that the file held to be there.
func everythingOfOne(t *testing.T, s *Store) {
	t.Helper()
	const run = agent.RunID("run-of-version-1")
	for id, want := range map[string]uint64{"attempt-1": 2, "attempt-3": 1} {
		if r, err := s.Commit(t.Context(), agent.Commit{ID: id, Run: run, Set: map[string]string{"no": "repeated attempt sets this"}}); err != nil || r.Seq != want {
			t.Errorf("%s again: %+v, %v; want seq %d", id, r, err, want)
		}
	}
	var texts []string
	events, err := s.Read(t.Context(), run, 0)
	for _, e := range events {
		if said, ok := e.Body.(agent.PersonSaid); ok {
			texts = append(texts, said.Text)
		}
	}
	if diff := cmp.Diff([]string{"opens", "goes on", "decides"}, texts); err != nil || diff != "" {
		t.Errorf("journal: %v (-want +got)\n%s", err, diff)
	}
	all, err := s.Runs(t.Context(), agent.RunFilter{})
	if err != nil || len(all) != 2 || all[0].Run != "ended-in-version-1" || all[0].Ended.IsZero() || all[1].Length != 3 || !all[1].Ended.IsZero() {
		t.Errorf("runs: %+v, %v", all, err)
	}
	for counter, want := range map[string]int64{"month/2026-11": 7, "run/run-of-version-1/usd": 5} {
		if got, err := s.Spent(t.Context(), counter); err != nil || got != want {
			t.Errorf("counter %s: %d, %v; want %d", counter, got, err, want)
		}
	}
	if seq, data, err := s.Snapshot(t.Context(), run); seq != 2 || string(data) != "fold" || err != nil {
		t.Errorf("snapshot: %d, %q, %v", seq, data, err)
	}
	if data, err := s.Blob(t.Context(), "ended-in-version-1", "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"); string(data) != "hello" || err != nil {
		t.Errorf("artifact: %q, %v", data, err)
	}
	var blobs int
	if err := s.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM blobs").Scan(&blobs); err != nil || blobs != 1 {
		t.Errorf("%d artifacts, %v; want the one that a run's journal names", blobs, err)
	}
	err = s.writer.do(t.Context(), true, func(ctx context.Context, tx *txn) error {
		row, found, err := tx.strand(ctx, run, agent.Main)
		if want := (strandRow{epoch: 1, turn: 1, attempt: "attempt-2", seq: 3, at: row.at}); !found || row != want {
			t.Errorf("strand %+v, want %+v", row, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// namesAfterOne wants names to work in a file that had none.
func namesAfterOne(t *testing.T, s *Store) {
	t.Helper()
	got, err := s.Values(t.Context(), "")
	if err != nil || len(got) != 0 {
		t.Fatalf("names %v, %v; want none yet", got, err)
	}
	c := fact("run-of-version-1", "names its thread")
	c.Set = map[string]string{"thread/1": "run-of-version-1", "thread/2": "ended-in-version-1"}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Expire(t.Context(), time.Unix(0, 1795261573481983573)); err != nil || n != 1 {
		t.Fatalf("expired %d, %v; want the run that ended", n, err)
	}
	got, err = s.Values(t.Context(), "thread/")
	if diff := cmp.Diff(map[string]string{"thread/1": "run-of-version-1"}, got); err != nil || diff != "" {
		t.Fatalf("names: %v (-want +got)\n%s", err, diff)
	}
}

// TestNamesAreSearched wants no query for names to look at all of them.
func TestNamesAreSearched(t *testing.T) {
	s := inner(t)
	prefix, args := findNames("thread/")
	for query, tt := range map[string]struct {
		args []any
		want string
	}{
		prefix:                              {args, "PRIMARY KEY (name>? AND name<?)"},
		"DELETE FROM names WHERE value = ?": {[]any{"run"}, "names_value (value=?)"},
	} {
		if got := plan(t, s, query, tt.args...); !strings.Contains(got, "SEARCH") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s; want a search by %s", query, got, tt.want)
		}
	}
}

// plan is how SQLite goes about a query.
func plan(t *testing.T, s *Store, query string, args ...any) string {
	t.Helper()
	rows, err := s.readers.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...) //nolint:sqlclosecheck // collect does
	if err != nil {
		t.Fatal(err)
	}
	steps, err := collect(rows, func(step *string) error { return rows.Scan(new(int), new(int), new(int), step) })
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(steps, "; ")
}

// TestListsAreReadInOrder wants every list of runs to be a range of an index:
// what is not listed is not looked at, and nothing is sorted.
func TestListsAreReadInOrder(t *testing.T) {
	s := inner(t)
	for list, index := range map[string]string{liveRuns: "runs_live", allRuns: "runs_started", endedRuns: "runs_ended (ended>?)"} {
		got := plan(t, s, runColumns+list, 1, 20, 5)
		if !strings.Contains(got, "USING INDEX "+index) || strings.Contains(got, "B-TREE") {
			t.Errorf("%s: %s; want it read from %s", list, got, index)
		}
	}
}

// TestGuestLeavesAnOlderWorkersFile has a guest of this build beside a worker of
// an older one: it reads, and changes nothing, neither the tables nor a run.
func TestGuestLeavesAnOlderWorkersFile(t *testing.T) {
	dir := versionOne(t)
	worker, err := hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := opened(t, dir, Guest)
	if version(t, s) != 1 {
		t.Errorf("the file has version %d", version(t, s))
	}
	if all, err := s.Runs(t.Context(), agent.RunFilter{}); err != nil || len(all) != 2 {
		t.Errorf("runs %+v, %v", all, err)
	}
	if events, err := s.Read(t.Context(), "run-of-version-1", 0); err != nil || len(events) != 3 {
		t.Errorf("journal %+v, %v", events, err)
	}
	_, err = s.Commit(t.Context(), fact("run-of-version-1", "hurry"))
	if _, is := errors.AsType[*OlderError](err); !is || !agent.Permanent(err) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("commit: %v, want that an older worker has the file open", err)
	}
	if err := worker.release(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, dir, Worker)
	if version(t, s) != schemaVersion {
		t.Errorf("the worker of this build left version %d", version(t, s))
	}
}

// TestDamageIsFoundAtTheStart destroys a page in the middle of a file.
func TestDamageIsFoundAtTheStart(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), Config{Dir: dir}, Worker)
	if err != nil {
		t.Fatal(err)
	}
	c := fact("run-of-test", "")
	c.Events[0].Body = agent.RunStarted{Goal: strings.Repeat("long ", 100), Requester: "terminal"}
	for range 200 {
		c.Events = append(c.Events, c.Events[0])
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Verify(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, fileName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(strings.Repeat("damaged ", 512)), info.Size()/2/4096*4096)
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	if s, err := Open(t.Context(), Config{Dir: dir}, Worker); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Fatalf("opened: %v, %v", err, s.Close())
	}
	guest := opened(t, dir, Guest)
	if err := guest.Verify(t.Context()); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("looked through: %v", err)
	}
}
