package watchdog_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

type wakes = map[agent.StrandID]time.Time

// harbour is a store with runs that no loop works, and what was said of them.
type harbour struct {
	*testing.T
	dir   string
	store *sqlite.Store
	reads atomic.Int64

	mu   sync.Mutex
	told []watchdog.Alert
	deaf bool // nobody takes alerts
}

func newHarbour(t *testing.T) *harbour {
	t.Helper()
	h := &harbour{T: t, dir: t.TempDir()}
	var err error
	if h.store, err = sqlite.Open(t.Context(), sqlite.Config{Dir: h.dir, Lease: time.Hour}, sqlite.Worker); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.store.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

// counted counts the journals that are read.
type counted struct {
	agent.Store
	reads *atomic.Int64
}

func (c counted) Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	c.reads.Add(1)
	return c.Store.Read(ctx, run, after)
}

var errDeaf = errors.New("nobody listens")

func (h *harbour) watch(change func(*watchdog.Config)) *watchdog.Watchdog {
	h.Helper()
	c := watchdog.Config{Store: counted{h.store, &h.reads}, Archive: h.store, Log: slog.New(slog.DiscardHandler), CheckIns: 10 * time.Minute,
		Alarm: func(_ context.Context, a watchdog.Alert) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			if h.deaf {
				return errDeaf
			}
			h.told = append(h.told, a)
			return nil
		}}
	if change != nil {
		change(&c)
	}
	w, err := watchdog.New(c)
	if err != nil {
		h.Fatal(err)
	}
	return w
}

// after sweeps once that much later and returns what was told by it.
func (h *harbour) after(w *watchdog.Watchdog, d time.Duration) []watchdog.Alert {
	h.Helper()
	h.mu.Lock()
	h.told = nil
	h.mu.Unlock()
	if err := w.Sweep(h.Context(), time.Now().Add(d)); err != nil {
		h.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.told
}

// run writes a journal in one commit.
func (h *harbour) run(wake wakes, events ...agent.Event) agent.RunID {
	h.Helper()
	run := agent.RunID(agent.NewID())
	h.commit(agent.Commit{Run: run, Events: events, Wake: wake})
	return run
}

func (h *harbour) commit(c agent.Commit) {
	h.Helper()
	c.ID = agent.NewID()
	if _, err := h.store.Commit(h.Context(), c); err != nil {
		h.Fatal(err)
	}
}

func on(s agent.StrandID, bodies ...agent.Body) []agent.Event {
	events := make([]agent.Event, len(bodies))
	for i, b := range bodies {
		events[i] = agent.Event{Strand: s, Body: b}
	}
	return events
}

func goal(b agent.RunStarted) agent.RunStarted {
	b.Goal, b.Requester, b.Slots = "count\nthe boats", "terminal", 1
	return b
}

func question(expires time.Time) agent.CheckpointOpened {
	return agent.CheckpointOpened{ID: "q-1", Ask: agent.CheckClarify, Title: "Which boats?", Choices: []string{agent.DecideAnswer}, Expires: expires}
}

var plain = goal(agent.RunStarted{PlanApproval: agent.ApprovePlanNever})

func kinds(alerts []watchdog.Alert) (list []watchdog.AlertKind) {
	for _, a := range alerts {
		list = append(list, a.Kind)
	}
	return list
}

func TestWatchJudges(t *testing.T) {
	later := time.Now().Add(5 * time.Hour)
	chat := goal(agent.RunStarted{ReplyTo: "slack:T1:C1:17.2"})
	for name, tt := range map[string]struct {
		events []agent.Event
		wake   wakes
		ends   bool
		after  time.Duration
		want   []watchdog.AlertKind
		says   []string
	}{
		"not for an hour yet": {on(agent.Main, plain), nil, false, 59 * time.Minute, nil, nil},
		"due, and nobody takes it": {on(agent.Main, plain), wakes{agent.Main: agent.AtOnce}, false, 2 * time.Hour,
			[]watchdog.AlertKind{watchdog.AlertAbandoned}, []string{`("count")`, "no worker takes it", "deckhand serve", "deckhand journal"}},
		"something to do, and parked": {on(agent.Main, plain), nil, false, 2 * time.Hour,
			[]watchdog.AlertKind{watchdog.AlertLost}, []string{"main has something to do", "woken now"}},
		"a person was asked":     {on(agent.Main, plain, question(time.Time{})), nil, false, 100 * time.Hour, nil, nil},
		"a person has more time": {on(agent.Main, plain, question(later)), wakes{agent.Main: later}, false, 2 * time.Hour, nil, nil},
		"a person's time was over": {on(agent.Main, plain, question(later)), nil, false, 7 * time.Hour,
			[]watchdog.AlertKind{watchdog.AlertLost}, []string{"was to go on at"}},
		"a person's time is over, and nobody takes it": {on(agent.Main, plain, question(later)), wakes{agent.Main: later}, false, 7 * time.Hour,
			[]watchdog.AlertKind{watchdog.AlertAbandoned}, nil},
		"one strand asked, another was forgotten": {append(on(agent.Main, plain, planned("a"), agent.TaskStarted{Task: "a"}), on("task/a", question(later))...),
			wakes{"task/a": later}, false, 2 * time.Hour, nil, nil},
		"paused":         {on(agent.Main, plain, agent.RunControlled{Word: agent.WordPause, By: "terminal"}), nil, false, 2 * time.Hour, nil, nil},
		"ended":          {on(agent.Main, plain, agent.RunEnded{State: agent.RunDone}), nil, true, 2 * time.Hour, nil, nil},
		"a waiting file": {on(agent.Main, goal(agent.RunStarted{Files: []agent.Attachment{{ID: "F1", Name: "boats.csv"}}})), nil, false, 2 * time.Hour, []watchdog.AlertKind{watchdog.AlertIdle}, []string{"waits for nobody"}},
		"the report was not posted": {on(agent.Main, chat, agent.Reported{Headline: "42", Body: "42 boats"}, agent.RunEnded{State: agent.RunDone}), nil, true, 2 * time.Hour,
			[]watchdog.AlertKind{watchdog.AlertUnsaid}, []string{"card was not posted"}},
		"a scheduled report was not posted": {on(agent.Main, goal(agent.RunStarted{ReplyTo: "slack:T1:C1:", Tick: &agent.Tick{Report: true}}),
			agent.Reported{Headline: "42", Body: "42 boats"}, agent.RunEnded{State: agent.RunDone}), nil, true, 2 * time.Hour,
			[]watchdog.AlertKind{watchdog.AlertUnsaid}, []string{"the scheduled report was not posted"}},
		"an alert was not posted": {on(agent.Main, goal(agent.RunStarted{ReplyTo: "slack:T1:D1:", Direct: true, Tick: &agent.Tick{Report: true}}),
			agent.Reported{Headline: "Something did not happen"}, agent.RunEnded{State: agent.RunDone}), nil, true, 2 * time.Hour, nil, nil},
		"the report was not posted, days ago": {on(agent.Main, chat, agent.RunEnded{State: agent.RunDone}), nil, true, 50 * time.Hour, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarbour(t)
			run := agent.RunID(agent.NewID())
			h.commit(agent.Commit{Run: run, Events: tt.events, Wake: tt.wake, Ends: tt.ends})
			w := h.watch(nil)
			got := h.after(w, tt.after)
			if diff := cmp.Diff(tt.want, kinds(got)); diff != "" {
				t.Fatalf("alerts (-want +got):\n%s\n%+v", diff, got)
			}
			for _, a := range got {
				if a.Run != run || a.Since.IsZero() || !strings.Contains(a.Text, string(run)) {
					t.Errorf("alert %+v does not name the run and since when", a)
				}
			}
			for _, words := range tt.says {
				if !strings.Contains(got[0].Text, words) {
					t.Errorf("alert %q does not say %q", got[0].Text, words)
				}
			}
			var then []watchdog.AlertKind
			if slices.Contains(tt.want, watchdog.AlertLost) || slices.Contains(tt.want, watchdog.AlertIdle) {
				then = append(then, watchdog.AlertAbandoned) // it was woken, and this clock is ahead
			}
			if again := h.after(w, tt.after); !slices.Equal(kinds(again), then) {
				t.Errorf("the same process says it again: %+v", again)
			}
		})
	}
}

func planned(id agent.TaskID) agent.PlanAccepted {
	return agent.PlanAccepted{By: "model", Plan: agent.Plan{Name: "Boats", Tasks: []agent.Task{{ID: id, Title: "Count", Instructions: "count", Deliverable: true}}}}
}

func TestWatchWakes(t *testing.T) {
	h := newHarbour(t)
	run := h.run(nil, on(agent.Main, plain)...)
	w := h.watch(nil)
	h.after(w, 2*time.Hour)
	leases, err := h.store.Claim(t.Context(), 10, 0, run)
	if err != nil || len(leases) != 1 || leases[0].Strand != agent.Main {
		t.Fatalf("claimed %+v, %v; want main to be due", leases, err)
	}
	events, err := h.store.Read(t.Context(), run, 0)
	if err != nil || len(events) != 2 {
		t.Fatalf("journal %+v, %v", events, err)
	}
	if woken, is := events[1].Body.(agent.RunControlled); !is || woken.Word != agent.WordWake || woken.By != agent.Deckhand {
		t.Fatalf("journal %+v", events)
	}
	t.Log("lost again: it is told again, and woken in the next hour only")
	for _, later := range []time.Duration{0, 2 * time.Hour} {
		h.commit(agent.Commit{Run: run, Lease: &leases[0], Seen: agent.SeenAll, Wake: wakes{agent.Main: agent.Parked}})
		before := h.journal(run)
		got := h.after(w, 2*time.Hour+later)
		if woken := h.journal(run) > before; woken != (later > 0) {
			t.Errorf("%v later: woken %v, %+v", later, woken, got)
		}
		if leases, err = h.store.Claim(t.Context(), 10, 0, run); err != nil || len(leases) == 0 {
			if later > 0 {
				t.Fatalf("claimed %+v, %v", leases, err)
			}
			h.commit(agent.Commit{Run: run, Wake: wakes{agent.Main: agent.AtOnce}})
			if leases, err = h.store.Claim(t.Context(), 10, 0, run); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (h *harbour) journal(run agent.RunID) int {
	h.Helper()
	events, err := h.store.Read(h.Context(), run, 0)
	if err != nil {
		h.Fatal(err)
	}
	return len(events)
}

func TestWatchSeesDamage(t *testing.T) {
	h := newHarbour(t)
	run := h.run(nil, on(agent.Main, plain)...)
	db, err := sql.Open("sqlite", filepath.Join(h.dir, "deckhand.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "UPDATE journal SET body = '{' WHERE run = ?", string(run))
	if closed := db.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	w := h.watch(nil)
	if got := h.after(w, 2*time.Hour); !slices.Equal(kinds(got), []watchdog.AlertKind{watchdog.AlertUnreadable}) || !strings.Contains(got[0].Text, "entry 1") {
		t.Fatalf("alerts %+v", got)
	}
	if got := h.after(w, 3*time.Hour); len(got) > 0 {
		t.Fatalf("again: %+v", got)
	}
}

func TestWatchMissesCheckIns(t *testing.T) {
	h := newHarbour(t)
	called := on("task/a",
		agent.ModelAsked{Call: "task/a.1", Purpose: llm.Work, Model: "m"},
		agent.ModelAnswered{Call: "task/a.1", Purpose: llm.Work, Model: "m", Message: &llm.Message{Role: llm.Assistant, Content: "hm"}, Problem: "Text alone does nothing here."})
	run := h.run(wakes{"task/a": agent.AtOnce}, slices.Concat(on(agent.Main, plain, planned("a"), agent.TaskStarted{Task: "a"}), called)...)
	w := h.watch(func(c *watchdog.Config) { c.After = 24 * time.Hour })
	for _, step := range []struct {
		after time.Duration
		want  []watchdog.AlertKind
	}{{31 * time.Minute, nil}, {60 * time.Minute, nil}, {62 * time.Minute, []watchdog.AlertKind{watchdog.AlertCheckIn}}, {63 * time.Minute, nil}} {
		h.commit(agent.Commit{Run: run, Events: on("task/a", agent.PersonSaid{By: "terminal", Text: "go on", Trusted: true})})
		if got := h.after(w, step.after); !slices.Equal(kinds(got), step.want) {
			t.Fatalf("after %v: %+v, want %v", step.after, got, step.want)
		}
	}
	t.Log("one that was made counts from then on")
	h.commit(agent.Commit{Run: run, Events: slices.Concat(on("task/a", agent.CheckInMade{Verdict: agent.CheckInContinue}), called)})
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{64 * time.Minute, 0}, {93 * time.Minute, 0}, {95 * time.Minute, 1}} {
		if got := h.after(w, step.after); len(got) != step.want {
			t.Fatalf("after %v: %+v, want %d", step.after, got, step.want)
		}
	}
}

func TestWatchersTellOnce(t *testing.T) {
	h := newHarbour(t)
	const runs, replicas = 30, 5
	for range runs {
		h.run(wakes{agent.Main: agent.AtOnce}, on(agent.Main, plain)...)
	}
	now := time.Now().Add(2 * time.Hour)
	var all errgroup.Group
	for range replicas {
		w := h.watch(nil)
		all.Go(func() error { return w.Sweep(t.Context(), now) })
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	told, said := map[agent.RunID]int{}, 0
	for _, a := range h.told {
		if a.Run != "" {
			told[a.Run]++
			said++
		}
		said += a.More
	}
	if said != runs || slices.ContainsFunc(slices.Collect(maps.Values(told)), func(n int) bool { return n != 1 }) {
		t.Fatalf("%d of %d runs were told, these by name: %v", said, runs, told)
	}
}

func TestWatchSumsUp(t *testing.T) {
	h := newHarbour(t)
	for range 25 {
		h.run(wakes{agent.Main: agent.AtOnce}, on(agent.Main, plain)...)
	}
	got := h.after(h.watch(nil), 2*time.Hour)
	if len(got) != 21 || got[20].Run != "" || got[20].More != 5 || got[20].Kind != watchdog.AlertAbandoned || got[20].Since.IsZero() || got[20].ID == "" {
		t.Fatalf("%d alerts, the last %+v; want 20 and one about 5 more", len(got), got[len(got)-1])
	}
}

func TestWatchTriesAgainToTell(t *testing.T) {
	h := newHarbour(t)
	run := h.run(wakes{agent.Main: agent.AtOnce}, on(agent.Main, plain)...)
	w := h.watch(nil)
	h.deaf = true
	if got := h.after(w, 2*time.Hour); len(got) > 0 {
		t.Fatalf("alerts %+v", got)
	}
	h.deaf = false
	if got := h.after(w, 2*time.Hour); len(got) != 1 || got[0].Run != run {
		t.Fatalf("alerts %+v, want the one that nobody took", got)
	}
	if got := h.after(w, 2*time.Hour); len(got) > 0 {
		t.Fatalf("alerts %+v, want none", got)
	}
}

func TestWatchReadsOnce(t *testing.T) {
	h := newHarbour(t)
	runs := make([]agent.RunID, 50)
	for i := range runs {
		runs[i] = h.run(nil, on(agent.Main, plain, question(time.Time{}))...)
	}
	w := h.watch(nil)
	for i, want := range []int64{50, 0, 0, 1} {
		h.reads.Store(0)
		if i == 3 {
			h.commit(agent.Commit{Run: runs[7], Events: on(agent.Main, agent.PersonSaid{By: "terminal", Text: "well?", Trusted: true})})
		}
		if got := h.after(w, 2*time.Hour); len(got) > 0 || h.reads.Load() != want {
			t.Fatalf("look %d: %d journals read, want %d; alerts %+v", i, h.reads.Load(), want, got)
		}
	}
}

func TestWatchRuns(t *testing.T) {
	h := newHarbour(t)
	run := h.run(wakes{agent.Main: agent.AtOnce}, on(agent.Main, plain)...)
	told := make(chan watchdog.Alert, 10)
	w := h.watch(func(c *watchdog.Config) {
		c.After, c.Every = 20*time.Millisecond, 5*time.Millisecond
		c.Alarm = func(_ context.Context, a watchdog.Alert) error { told <- a; return nil }
	})
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); w.Run(ctx) }()
	if a := <-told; a.Run != run || a.Kind != watchdog.AlertAbandoned {
		t.Errorf("alert %+v", a)
	}
	stop()
	<-over
}

func TestWatchNeedsAStore(t *testing.T) {
	if _, err := watchdog.New(watchdog.Config{}); err == nil {
		t.Fatal("a watch over nothing")
	}
}

// BenchmarkWatchParked looks over 10,000 runs that wait for people, and reports
// how long the first look takes.
func BenchmarkWatchParked(b *testing.B) {
	store, err := sqlite.Open(b.Context(), sqlite.Config{Dir: b.TempDir()}, sqlite.Worker)
	if err != nil {
		b.Fatal(err)
	}
	events := on(agent.Main, plain)
	for range 18 {
		events = append(events, on(agent.Main, agent.PersonSaid{By: "terminal", Text: strings.Repeat("0123456789", 40), Trusted: true})...)
	}
	events = append(events, on(agent.Main, question(time.Time{}))...)
	g, ctx := errgroup.WithContext(b.Context())
	g.SetLimit(64)
	for range 10_000 {
		g.Go(func() error {
			_, err := store.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: agent.RunID(agent.NewID()), Events: events})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
	w, err := watchdog.New(watchdog.Config{Store: store, Archive: store, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	now := time.Now().Add(2 * time.Hour)
	sweep := func() {
		if err := w.Sweep(b.Context(), now); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now()
	sweep()
	first := time.Since(began)
	for b.Loop() {
		sweep()
	}
	b.ReportMetric(first.Seconds(), "first-s")
	if err := store.Close(); err != nil {
		b.Error(err)
	}
}

// TestWatchLeavesWhatCannotBeHelped tells of a run that waking does not help
// once, in whatever process, and wakes it rarely.
func TestWatchLeavesWhatCannotBeHelped(t *testing.T) {
	h := newHarbour(t)
	run := h.run(nil, on(agent.Main, goal(agent.RunStarted{Files: []agent.Attachment{{ID: "F1", Name: "boats.csv"}}}))...)
	told := h.after(h.watch(nil), 2*time.Hour)
	if len(told) != 1 || told[0].Kind != watchdog.AlertIdle {
		t.Fatalf("told %+v, want that it is idle", told)
	}
	h.rest(run)
	length := h.journal(run)
	w := h.watch(nil)
	for hour := 3; hour < 24; hour++ {
		if hour%5 == 0 {
			w = h.watch(nil) // another process
		}
		if told := h.after(w, time.Duration(hour)*time.Hour); len(told) > 0 {
			t.Errorf("after %d hours: told again %+v", hour, told)
		}
	}
	if n := h.journal(run); n != length {
		t.Errorf("woken %d times more in a day", n-length)
	}
	h.after(w, 49*time.Hour)
	if n := h.journal(run); n != length+1 {
		t.Errorf("woken %d times in two days", n-length)
	}
	h.rest(run)
	h.commit(agent.Commit{Run: run, Events: on(agent.Main, agent.PersonSaid{By: "terminal", Text: "hurry", Trusted: true})})
	if told := h.after(w, 80*time.Hour); len(told) != 1 {
		t.Errorf("after it moved and stopped again: told %+v", told)
	}
}

// rest works the run's strands, and nothing comes of it.
func (h *harbour) rest(run agent.RunID) {
	h.Helper()
	leases, err := h.store.Claim(h.Context(), 10, 0, run)
	if err != nil || len(leases) == 0 {
		h.Fatalf("claimed %+v, %v", leases, err)
	}
	for _, l := range leases {
		h.commit(agent.Commit{Run: run, Lease: &l, Seen: agent.SeenAll, Wake: wakes{l.Strand: agent.Parked}})
	}
}

// listed counts the lists of runs.
type listed struct {
	agent.Archive
	looks chan struct{}
}

func (l listed) Runs(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error) {
	l.looks <- struct{}{}
	return l.Archive.Runs(ctx, f)
}

// TestOneReplicaLooks has many replicas look in each interval, and one of them do it.
func TestOneReplicaLooks(t *testing.T) {
	h := newHarbour(t)
	looks := make(chan struct{}, 100)
	watch := func(c *watchdog.Config) {
		c.Archive = listed{c.Archive, looks}
		c.Every = 200 * time.Millisecond
	}
	ctx, stop := context.WithCancel(t.Context())
	var all errgroup.Group
	began := time.Now()
	for range 8 {
		w := h.watch(watch)
		all.Go(func() error { w.Run(ctx); return nil })
	}
	const wanted = 5
	for range wanted {
		<-looks
	}
	stop()
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if most := int(time.Since(began)/(200*time.Millisecond)) + 2; wanted+len(looks) > most {
		t.Errorf("%d looks, want one in each of %d intervals", wanted+len(looks), most)
	}
}
