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
	"github.com/deckhand-bot/deckhand/memory/sqlite"
)

// kept is what a clock of schedules needs of a store.
type kept interface {
	runs.Journals
	agent.Clock
	Value(ctx context.Context, name string) (string, error)
	Values(ctx context.Context, prefix string) (map[string]string, error)
	SetValue(ctx context.Context, name, value string) error
	Spent(ctx context.Context, counter string) (int64, error)
	Close() error
}

// TestTurnsServedAheadDoNotSilenceASchedule has a replica of the release before,
// whose clock is a year ahead, serve a schedule; those that go by the store's
// time serve its turns all the same, each once and none early.
func TestTurnsServedAheadDoNotSilenceASchedule(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) (kept, error){
		"redis": func(t *testing.T) (kept, error) {
			t.Helper()
			return redis.Open(t.Context(), redis.Config{URL: redistest.Start(t).URL})
		},
		"sqlite": func(t *testing.T) (kept, error) {
			t.Helper()
			return sqlite.Open(t.Context(), sqlite.Config{Dir: t.TempDir()}, sqlite.Worker)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			pulse := recurring.Schedule{Name: "pulse", Report: "workspace", When: "@every 1s", Zone: "UTC", Since: time.Unix(0, 0).UTC(), To: "slack:T1:C1", Always: true, Missed: schedule.Late}
			clock := func() *recurring.Clock {
				return recurring.NewClock(recurring.ClockConfig{Time: s, Recurring: recurring.Schedules{Fixed: []recurring.Schedule{pulse}, Store: s},
					Reporter: recurring.Reporter{Runs: &runs.Client{Journals: s}, Log: slog.New(slog.NewTextHandler(t.Output(), nil))},
					Brief:    func(string) (agent.RunStarted, error) { return agent.RunStarted{}, nil }})
			}
			now, err := s.Now(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			old := clock()
			old.Serve(t.Context(), now)
			old.Serve(t.Context(), now.AddDate(1, 0, 0))
			ctx, stop := context.WithCancel(t.Context())
			var clocks sync.WaitGroup
			for range 2 {
				c := clock()
				clocks.Go(func() { c.Run(ctx) })
			}
			ticks := func() (list []time.Time) {
				infos, err := s.Runs(t.Context(), agent.RunFilter{EndedAfter: now.Add(-time.Hour)})
				if err != nil {
					t.Error(err)
				}
				for _, info := range infos {
					events, err := s.Read(t.Context(), info.Run, 0)
					if err != nil {
						t.Error(err)
						continue
					}
					if b, is := events[0].Body.(agent.RunStarted); is && b.Tick.At.Before(now.AddDate(0, 1, 0)) {
						if events[0].At.Before(b.Tick.At) {
							t.Errorf("the turn of %s was served at %s", b.Tick.At, events[0].At)
						}
						list = append(list, b.Tick.At)
					}
				}
				slices.SortFunc(list, time.Time.Compare)
				return list
			}
			enough := poll(func() bool { return len(ticks()) >= 4 })
			stop()
			clocks.Wait()
			list := ticks()
			if once := slices.CompactFunc(slices.Clone(list), time.Time.Equal); !enough || len(once) != len(list) {
				t.Errorf("turns %v", list)
			}
		})
	}
}
