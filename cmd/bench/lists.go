package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/loop/watchdog"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/intake"
	botrecurring "github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// What lies in the store while somebody looks: runs that ended, and some that
// live.
const (
	endedRuns = 100_000
	liveRuns  = 20
	looks     = 5 // the middle one counts
)

// benchLists has people and clocks look at a store with many ended runs. The
// clocks look a month later, when none of those is news any more.
func benchLists(ctx context.Context, e *environment) ([]row, error) {
	if err := wipe(ctx, e); err != nil {
		return nil, err
	}
	r, err := redis.Open(ctx, redis.Config{URL: e.redis.url, Lease: 3 * time.Second})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	rows, err := lists(ctx, "Redis", r)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(ctx, sqlite.Config{Dir: filepath.Join(e.dir, "lists")}, sqlite.Worker)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	more, err := lists(ctx, "SQLite", s)
	if err != nil {
		return nil, err
	}
	return append(rows, more...), wipe(ctx, e)
}

var (
	someone = bot.Person{ID: "slack:U1", Name: "Ada", Full: true}
	place   = bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1"}
)

func lists(ctx context.Context, name string, s store) ([]row, error) {
	if err := fillWithEnded(ctx, s); err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	client := &runs.Client{Journals: s}
	chat := intake.New(intake.Config{Runs: client, Store: s, Log: quiet})
	watch, err := watchdog.New(watchdog.Config{Store: s, Archive: s, Log: quiet})
	if err != nil {
		return nil, err
	}
	later := time.Now().AddDate(0, 0, 62)
	report := botrecurring.Reporter{Runs: client, Log: quiet}
	schedule := botrecurring.Schedule{Name: "daily", Report: botrecurring.OfWorkspace, When: "0 9 * * *", Zone: "UTC", To: place.String(), By: someone.ID}
	var list []row
	for _, look := range []struct {
		what string
		do   func() error
	}{
		{"home page", func() error {
			_, err := chat.Receive(ctx, bot.Inbound{By: someone, Act: bot.Visited{}})
			return err
		}},
		{"completion of runs", func() error { _, err := chat.Live(ctx, someone, place); return err }},
		{"status", func() error { _, _, err := intake.ListRuns(ctx, &runs.Client{Journals: s}, 150); return err }},
		{"watchdog's look", func() error { return watch.Sweep(ctx, later) }},
		{"check-ins' list", func() error { _, err := s.Runs(ctx, agent.RunFilter{Live: true}); return err }},
		{"report", func() error { _, err := report.Now(ctx, schedule, later); return err }},
	} {
		took, bytes, err := middle(look.do)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", look.what, err)
		}
		list = append(list, row{
			name:  fmt.Sprintf("%s: %s beside %d ended runs", name, look.what, endedRuns),
			value: fmt.Sprintf("%.1f ms, %.2f MB", took.Seconds()*1000, float64(bytes)/1e6),
			aim:   "≤ 20 ms, ≤ 2 MB", reached: took <= 20*time.Millisecond && bytes <= 2e6,
		})
	}
	return list, nil
}

// middle is how long f takes and what it allocates, the middle of some calls.
func middle(f func() error) (time.Duration, uint64, error) {
	var took []time.Duration
	var bytes []uint64
	for range looks {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		began := time.Now()
		if err := f(); err != nil {
			return 0, 0, err
		}
		took = append(took, time.Since(began))
		runtime.ReadMemStats(&after)
		bytes = append(bytes, after.TotalAlloc-before.TotalAlloc)
	}
	slices.Sort(took)
	slices.Sort(bytes)
	return took[looks/2], bytes[looks/2], nil
}

// fillWithEnded writes the runs, those of one person among them.
func fillWithEnded(ctx context.Context, s store) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(256)
	for i := range endedRuns + liveRuns {
		group.Go(func() error {
			run := agent.RunID(agent.NewID())
			_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Events: []agent.Event{{Strand: agent.Main, Body: agent.RunStarted{
				Goal: fmt.Sprint("count the boats of quay ", i), Requester: fmt.Sprint("slack:U", i%50), ReplyTo: place.String(),
			}}}})
			if err != nil || i%(endedRuns/liveRuns) == 0 && i > 0 {
				return err
			}
			_, err = s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Seen: 1, Ends: true,
				Events: []agent.Event{{Strand: agent.Main, Body: agent.RunEnded{State: agent.RunDone}}}})
			return err
		})
	}
	return group.Wait()
}
