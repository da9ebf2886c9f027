package schedule_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/schedule"
	"github.com/deckhand-bot/deckhand/memory/redis"
	"github.com/deckhand-bot/deckhand/memory/redis/redistest"
)

// TestATickOnFiveReplicas has the clocks of five replicas, each with its own
// connections, wait for the same ticks: each tick becomes one run.
func TestATickOnFiveReplicas(t *testing.T) {
	t.Parallel()
	db := redistest.Start(t)
	pulse := recurring.Schedule{Name: "pulse", Report: "workspace", When: "@every 1s", Zone: "UTC", Since: time.Unix(0, 0).UTC(), To: "slack:T1:C1", Always: true, Missed: schedule.Late}
	ctx, stop := context.WithCancel(t.Context())
	var clocks sync.WaitGroup
	var f cluster
	for i := range 5 {
		s, err := redis.Open(t.Context(), redis.Config{URL: db.URL})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		client := &runs.Client{Journals: s}
		if i == 0 {
			f = cluster{t: t, store: s, runs: client, told: map[agent.RunID]agent.Run{}}
		}
		c := recurring.NewClock(recurring.ClockConfig{Time: s,
			Reporter: recurring.Reporter{Runs: client, Log: slog.New(slog.DiscardHandler)}, Recurring: recurring.Schedules{Fixed: []recurring.Schedule{pulse}, Store: s},
			Brief: func(string) (agent.RunStarted, error) { return agent.RunStarted{}, nil },
		})
		clocks.Go(func() { c.Run(ctx) })
	}
	enough := poll(func() bool { return len(f.ticks()["pulse"]) >= 4 })
	stop()
	clocks.Wait()
	var at []time.Time
	for _, r := range f.ticks()["pulse"] {
		at = append(at, r.Brief.Tick.At)
	}
	slices.SortFunc(at, time.Time.Compare)
	for i := 1; i < len(at); i++ {
		if at[i].Sub(at[i-1]) != time.Second {
			t.Errorf("a tick came twice or is missing: %v", at)
			break
		}
	}
	if !enough {
		t.Errorf("only these ticks came: %v", at)
	}
}
