package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

func TestAdvance(t *testing.T) {
	const s = int64(time.Second)
	for name, tc := range map[string]struct {
		last, wall int64
		passed     time.Duration
		want       int64
	}{
		"as the wall clock":            {100 * s, 102 * s, 2 * time.Second, 102 * s},
		"first reading":                {0, 100 * s, 0, 100 * s},
		"set forward":                  {100 * s, 3700 * s, time.Second, 3700 * s},
		"set back: 7/8 of the speed":   {3700 * s, 100 * s, 8 * time.Second, 3707 * s},
		"set back and caught up":       {3702 * s, 3703 * s, time.Second, 3703 * s},
		"never back without a passing": {3700 * s, 3699 * s, -time.Second, 3700 * s},
	} {
		if got := advance(tc.last, tc.wall, tc.passed); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

func TestDue(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		at   time.Time
		want int64
	}{
		"parked":           {agent.Parked, never},
		"at once":          {agent.AtOnce, now.UnixNano()},
		"past":             {now.Add(-time.Hour), now.UnixNano()},
		"future":           {now.Add(time.Hour), now.Add(time.Hour).UnixNano()},
		"other zone":       {now.Add(time.Hour).In(time.FixedZone("", 7200)), now.Add(time.Hour).UnixNano()},
		"before 1970":      {time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), now.UnixNano()},
		"beyond all clock": {time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), never},
	} {
		if got := due(tc.at, now.UnixNano()); got != tc.want {
			t.Errorf("%s: %d, want %d", name, got, tc.want)
		}
	}
}

// inner opens a worker on a directory of its own.
func inner(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), Config{Dir: t.TempDir(), Lease: time.Minute}, Worker)
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

// start opens the run, so that facts can be added to it.
func start(t *testing.T, s *Store, run agent.RunID) {
	t.Helper()
	if _, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "test"}}}}); err != nil {
		t.Fatal(err)
	}
}

func fact(run agent.RunID, text string) agent.Commit {
	return agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{{Strand: agent.Main, Body: agent.PersonSaid{Text: text}}}}
}

// occupy keeps the writer busy until it is let go, so that what is sent
// meanwhile becomes one batch.
func occupy(t *testing.T, s *Store) (letGo func()) {
	t.Helper()
	busy, free := make(chan struct{}), make(chan struct{})
	held := make(chan error, 1)
	go func() {
		held <- s.writer.do(t.Context(), true, func(context.Context, *txn) error {
			close(busy)
			<-free
			return nil
		})
	}()
	<-busy
	return func() {
		close(free)
		if err := <-held; err != nil {
			t.Error(err)
		}
	}
}

// queue sends a request and returns when it is in the writer's queue.
func queue(s *Store, f func(ctx context.Context, t *txn) error) chan error {
	r := &request{run: f, done: make(chan error, 1)}
	s.writer.requests <- r
	return r.done
}

func TestNeighboursOfAFailure(t *testing.T) {
	s := inner(t)
	start(t, s, "run-of-test")
	broken := errors.New("broken in the middle")
	write := func(text string, fails error) func(ctx context.Context, t *txn) error {
		return func(ctx context.Context, tx *txn) error {
			e, err := newEntry(fact("run-of-test", text))
			if err == nil {
				_, _, err = tx.commit(ctx, e)
			}
			return errors.Join(err, fails)
		}
	}
	letGo := occupy(t, s)
	first, second, third := queue(s, write("first", nil)), queue(s, write("second", broken)), queue(s, write("third", nil))
	letGo()
	if err := errors.Join(<-first, <-third); err != nil {
		t.Errorf("the neighbours: %v", err)
	}
	if err := <-second; !errors.Is(err, broken) {
		t.Errorf("the broken one: %v", err)
	}
	events, err := s.Read(t.Context(), "run-of-test", 0)
	want := []agent.Body{agent.RunStarted{Goal: "test"}, agent.PersonSaid{Text: "first"}, agent.PersonSaid{Text: "third"}}
	var got []agent.Body
	for _, e := range events {
		got = append(got, e.Body)
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("journal: %v (-want +got)\n%s", err, diff)
	}
}

func TestHandOffInOneTransaction(t *testing.T) {
	s := inner(t)
	start(t, s, "run-of-test")
	letGo := occupy(t, s)
	e, err := newEntry(agent.Commit{ID: agent.NewID(), Run: "run-of-test", Wake: map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}})
	if err != nil {
		t.Fatal(err)
	}
	var granted int
	done := queue(s, func(ctx context.Context, t *txn) error {
		_, _, err := t.commit(ctx, e)
		return err
	})
	c := &claim{n: 3, once: true, reply: make(chan reply, 1)}
	s.writer.requests <- &request{claim: c, lazy: true}
	letGo()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r := <-c.reply
	if granted = len(r.leases); r.err != nil || granted != 1 {
		t.Fatalf("granted %+v, %v", r.leases, r.err)
	}
}

func TestFullDisk(t *testing.T) {
	s := inner(t)
	start(t, s, "run-of-test")
	if _, err := s.Commit(t.Context(), fact("run-of-test", "before")); err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		err := s.writer.do(t.Context(), true, func(ctx context.Context, tx *txn) error {
			var now int
			return tx.conn.QueryRowContext(ctx, "PRAGMA max_page_count = "+map[int]string{1: "1", 0: "1073741823"}[pages]).Scan(&now)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	limit(1)
	_, err := s.PutBlob(t.Context(), "run-of-test", make([]byte, 1<<20))
	if code(err) != codeFull {
		t.Fatalf("put into a full file: %v, want SQLITE_FULL", err)
	}
	if agent.Permanent(err) {
		t.Errorf("%v is permanent", err)
	}
	if want := "no space left"; !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), s.dir) {
		t.Errorf("%q does not say %q and where", err, want)
	}
	limit(0)
	if _, err := s.Commit(t.Context(), fact("run-of-test", "after")); err != nil {
		t.Fatalf("commit after there is space again: %v", err)
	}
	if events, err := s.Read(t.Context(), "run-of-test", 0); err != nil || len(events) != 3 {
		t.Fatalf("journal %+v, %v", events, err)
	}
}

// TestWhatIsNoRunsOwnAges wants once-keys and counters to go when they are old,
// however many there are, and not before.
func TestWhatIsNoRunsOwnAges(t *testing.T) {
	s := inner(t)
	start(t, s, "run-of-test")
	const many = 2*forgetAtOnce + 7
	c := fact("run-of-test", "")
	c.Events[0].Body = agent.RunStarted{Goal: "test", Requester: "terminal"}
	c.Spend = []agent.Spend{{Counter: "run/run-of-test/usd", Nano: 1}}
	for i := range many {
		c.Once = append(c.Once, fmt.Sprint("message/", i))
		c.Spend = append(c.Spend, agent.Spend{Counter: fmt.Sprint("person/", i, "/2026-01/usd"), Nano: 1})
	}
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	count := func() (once, counters int) {
		t.Helper()
		row := s.readers.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM once), (SELECT count(*) FROM counters)")
		if err := row.Scan(&once, &counters); err != nil {
			t.Fatal(err)
		}
		return once, counters
	}
	for _, step := range []struct {
		older          time.Duration
		once, counters int
	}{
		{memory.OnceKept - time.Hour, many, many + 1},
		{2 * time.Hour, 0, many + 1},
		{memory.CounterKept - memory.OnceKept, 0, 1},
	} {
		err := s.writer.do(t.Context(), false, func(ctx context.Context, tx *txn) error {
			for _, table := range []string{"once", "counters"} {
				if _, err := tx.conn.ExecContext(ctx, "UPDATE "+table+" SET at = at - ?", int64(step.older)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Expire(t.Context(), time.Unix(0, 0)); err != nil {
			t.Fatal(err)
		}
		if once, counters := count(); once != step.once || counters != step.counters {
			t.Errorf("%v older: %d once-keys and %d counters, want %d and %d", step.older, once, counters, step.once, step.counters)
		}
	}
	for query, index := range map[string]string{forgetOnce: "once_at (at<?)", forgetCounters: "counters_at (at<?)"} {
		if got := plan(t, s, query, 1, 1); !strings.Contains(got, index) || strings.Contains(got, "B-TREE") {
			t.Errorf("%s: %s", query, got)
		}
	}
}

// TestErrorsThatLast wants what a file can never take to be told from a full disk.
func TestErrorsThatLast(t *testing.T) {
	s := inner(t)
	start(t, s, "run-of-test")
	err := s.writer.do(t.Context(), false, func(ctx context.Context, tx *txn) error {
		_, err := tx.conn.ExecContext(ctx, "INSERT INTO journal (run, seq, strand, at, kind, body) VALUES ('run-of-test', 1, '', '', '', '')")
		return err
	})
	if !agent.Permanent(s.explain("commit", err)) {
		t.Errorf("a second entry 1: %v, which is not permanent", err)
	}
	if err := s.explain("commit", ErrClosed); agent.Permanent(err) {
		t.Errorf("%v is permanent", err)
	}
}

// TestTheClockGoesOnWhereTheFileEnds opens a file that was written by a clock
// which was set back since: what was ready is ready.
func TestTheClockGoesOnWhereTheFileEnds(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(t.Context(), Config{Dir: dir}, Worker)
	if err != nil {
		t.Fatal(err)
	}
	start(t, s, "run-of-test")
	ahead := time.Now().Add(time.Hour)
	err = s.writer.do(t.Context(), false, func(ctx context.Context, tx *txn) error {
		_, err := tx.conn.ExecContext(ctx, "UPDATE journal SET at = ?", stamp(ahead.UnixNano()).Format(stampLayout))
		if err == nil {
			_, err = tx.conn.ExecContext(ctx, "INSERT INTO strands (run, strand, due) VALUES ('run-of-test', 'main', ?)", ahead.UnixNano())
		}
		return err
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []Mode{Guest, Worker} {
		s, err := Open(t.Context(), Config{Dir: dir}, mode)
		if err != nil {
			t.Fatal(err)
		}
		if now, err := s.Now(t.Context()); err != nil || now.Before(ahead) {
			t.Errorf("the clock says %v, %v; the file ends at %v", now, err, ahead)
		}
		if mode == Worker {
			if got, err := s.Claim(t.Context(), 1, 0, ""); err != nil || len(got) != 1 {
				t.Errorf("claimed %+v, %v; want what was ready", got, err)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
