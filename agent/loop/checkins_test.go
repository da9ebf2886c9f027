package loop_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
	"github.com/deckhand-bot/deckhand/tools"
	"github.com/deckhand-bot/deckhand/tools/policy"
)

// counting is a store that counts what is read and written.
type counting struct {
	agent.Store
	reads, commits atomic.Int64
}

func (c *counting) Read(ctx context.Context, run agent.RunID, after uint64) ([]agent.Event, error) {
	c.reads.Add(1)
	return c.Store.Read(ctx, run, after)
}

func (c *counting) Commit(ctx context.Context, k agent.Commit) (agent.Receipt, error) {
	c.commits.Add(1)
	return c.Store.Commit(ctx, k)
}

// silent is a model that must not be asked.
type silent struct{ calls atomic.Int64 }

func (s *silent) Complete(context.Context, llm.Request) (llm.Response, error) {
	s.calls.Add(1)
	return llm.Response{}, errors.New("nobody should ask")
}

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
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

// clock is a loop that only ticks.
func clock(t *testing.T, s *sqlite.Store, c *counting, m llm.Model) *loop.Loop {
	t.Helper()
	box, err := tools.New()
	if err != nil {
		t.Fatal(err)
	}
	l, err := loop.New(loop.Config{Store: c, Blobs: s, Model: m, Tools: box, Policy: policy.Default{},
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)), Runs: s, CheckIns: 10 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// begun is the journal of a run whose tasks did some work.
func begun(s agent.Store, ids ...agent.TaskID) (agent.RunID, error) {
	plan := agent.PlanAccepted{}
	events := []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "make a note", Slots: 4}}}
	var tasks []agent.Event
	wake := map[agent.StrandID]time.Time{}
	for _, id := range ids {
		plan.Plan.Tasks = append(plan.Plan.Tasks, agent.Task{ID: id, Title: string(id)})
		strand := agent.TaskStrand(id)
		tasks = append(tasks, agent.Event{Strand: agent.Main, Body: agent.TaskStarted{Task: id}},
			agent.Event{Strand: strand, Body: agent.ModelAsked{Call: "1", Purpose: llm.Work}},
			agent.Event{Strand: strand, Body: agent.ModelAnswered{Call: "1", Purpose: llm.Work, Message: &llm.Message{Content: "hm"}, Problem: "text alone"}})
		wake[strand] = agent.AtOnce
	}
	events = append(append(events, agent.Event{Strand: agent.Main, Body: plan}), tasks...)
	run := agent.RunID(agent.NewID())
	_, err := s.Commit(context.Background(), agent.Commit{ID: agent.NewID(), Run: run, Events: events, Wake: wake})
	return run, err
}

// Every replica ticks, and each task at work is called once a tick.
func TestEveryTaskIsCalledOnceATick(t *testing.T) {
	s := openStore(t)
	run, err := begun(s, "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	first, second := clock(t, s, &counting{Store: s}, &silent{}), clock(t, s, &counting{Store: s}, &silent{})
	tick := time.Now().Add(2 * time.Hour).Truncate(time.Hour) // long after the tasks began, at whatever minute this is
	var both errgroup.Group
	var called atomic.Int64
	for _, l := range []*loop.Loop{first, second} {
		both.Go(func() error {
			n, err := l.Tick(t.Context(), tick)
			called.Add(int64(n))
			return err
		})
	}
	if err := both.Wait(); err != nil || called.Load() != 2 {
		t.Errorf("called %d times, %v", called.Load(), err)
	}
	if n, err := first.Tick(t.Context(), tick.Add(10*time.Minute)); n != 0 || err != nil {
		t.Errorf("the next tick called %d that are called already, %v", n, err)
	}
	events, err := s.Read(t.Context(), run, 0)
	if err != nil {
		t.Fatal(err)
	}
	var due []agent.StrandID
	for _, e := range events {
		if b, is := e.Body.(agent.CheckInDue); is && b.Tick.Equal(tick) {
			due = append(due, e.Strand)
		}
	}
	if slices.Sort(due); !slices.Equal(due, []agent.StrandID{"task/a", "task/b"}) {
		t.Errorf("called %v", due)
	}
}

// A task that began just now is left to the next tick.
func TestAYoungTaskIsLeftAlone(t *testing.T) {
	s := openStore(t)
	if _, err := begun(s, "a"); err != nil {
		t.Fatal(err)
	}
	l := clock(t, s, &counting{Store: s}, &silent{})
	for after, want := range map[time.Duration]int{time.Minute: 0, 6 * time.Minute: 1} {
		if n, err := l.Tick(t.Context(), time.Now().Add(after)); n != want || err != nil {
			t.Errorf("after %s: called %d, want %d, %v", after, n, want, err)
		}
	}
}

// Runs that wait cost a tick nothing: they are neither folded nor written to,
// and no model hears of them.
func TestParkedRunsCostATickNothing(t *testing.T) {
	const parked = 10_000
	s := openStore(t)
	var filling errgroup.Group
	filling.SetLimit(64)
	for i := range parked {
		filling.Go(func() error {
			wake := map[agent.StrandID]time.Time{} // every second one waits for a person without a limit
			if i%2 == 0 {
				wake["task/a"] = time.Now().Add(24 * time.Hour)
			}
			_, err := s.Commit(t.Context(), agent.Commit{ID: agent.NewID(), Run: agent.RunID(fmt.Sprintf("parked%010d", i)), Wake: wake,
				Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{Goal: "wait"}}}})
			return err
		})
	}
	if err := filling.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := begun(s, "a"); err != nil {
		t.Fatal(err)
	}
	store, model := &counting{Store: s}, &silent{}
	n, err := clock(t, s, store, model).Tick(t.Context(), time.Now().Add(time.Hour))
	if n != 1 || err != nil {
		t.Errorf("called %d, %v", n, err)
	}
	if reads, commits := store.reads.Load(), store.commits.Load(); reads != 1 || commits != 1 || model.calls.Load() != 0 {
		t.Errorf("%d runs were folded and %d commits made, want one of each; %d model calls", reads, commits, model.calls.Load())
	}
}

// The clock of a working loop calls check-ins by itself.
func TestTheClockTicks(t *testing.T) {
	tool := &gate{note: reads(), at: make(chan struct{}), open: make(chan struct{})}
	w := &worker{work: steady(2)}
	h := open(t, w, func(c *loop.Config) {
		c.CheckIns = 200 * time.Millisecond
		c.Runs, _ = c.Store.(*sqlite.Store)
	}, tool)
	run := h.start(every(0))
	<-tool.at // the task is at work until the clock called it
	h.until(run, "the clock ticks", func(r agent.Run) bool { return r.Strands.Of("task/a").CheckIn.Due != "" })
	close(tool.open)
	r := h.ended(run)
	if checks := len(w.of(llm.CheckIn)); r.Ended.State != agent.RunDone || checks == 0 {
		t.Errorf("ended %+v with %d check-ins", r.Ended, checks)
	}
}
