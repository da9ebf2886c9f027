package recurring

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// storeTime is the store's time: that of this process, and shifted.
type storeTime struct {
	shift time.Duration
	away  atomic.Bool
}

var errAway = errors.New("no route to host")

func (s *storeTime) Now(context.Context) (time.Time, error) {
	if s.away.Load() {
		return time.Time{}, errAway
	}
	return time.Now().Add(s.shift), nil
}

// Turns come when the store says so, whatever the clocks of the processes say:
// one of which is a year ahead, and one an hour behind.
func TestTurnsGoByTheStoresTime(t *testing.T) {
	t.Parallel()
	for name, shift := range map[string]time.Duration{"the process is a year ahead": -365 * 24 * time.Hour, "the process is an hour behind": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := clocks(t, 1, daily())
				clock := &storeTime{shift: shift}
				w.clocks[0].cfg.Time = clock
				ctx, stop := context.WithCancel(t.Context())
				over := make(chan struct{})
				go func() { defer close(over); w.clocks[0].Run(ctx) }()
				<-time.After(time.Minute)
				clock.away.Store(true)
				<-time.After(time.Minute)
				clock.away.Store(false)
				began, _ := clock.Now(ctx)
				<-time.After(24 * time.Hour)
				stop()
				<-over
				nine := time.Date(began.Year(), began.Month(), began.Day(), 9, 0, 0, 0, time.UTC)
				if nine.Before(began) {
					nine = nine.AddDate(0, 0, 1)
				}
				if got, want := w.turns(), []string{"daily " + nine.Format("02T15:04")}; !slices.Equal(got, want) {
					t.Errorf("turns %v, want %v", got, want)
				}
				if !strings.Contains(w.log.String(), "no route to host") {
					t.Error("nothing is said about the time that the store could not be asked")
				}
			})
		})
	}
}

// A replica whose clock was ahead, of a build that went by it, has served turns
// that are still to come: the schedule does not rest until then.
func TestTurnsAheadOfTheirTimeAreUnknown(t *testing.T) {
	t.Parallel()
	w := clocks(t, 2, daily())
	w.clocks[0].Serve(t.Context(), at(0, 8, 0))
	w.clocks[0].Serve(t.Context(), at(365, 8, 0)) // the clock that is ahead
	ahead := len(w.turns())
	for day := range 3 {
		for hour := 7; hour < 12; hour++ {
			for _, c := range w.clocks {
				c.Serve(t.Context(), at(day, hour, 1))
			}
		}
	}
	if got := w.turns()[ahead:]; !slices.Equal(got, []string{"daily 23T09:00", "daily 24T09:00", "daily 25T09:00"}) {
		t.Errorf("turns %v", got)
	}
	if !strings.Contains(w.log.String(), "ahead of its time") {
		t.Error("nothing is said about it")
	}
}

// A panic costs the schedule that it happens in, and the administrators hear of
// it.
func TestAPanicCostsOneSchedule(t *testing.T) {
	t.Parallel()
	poison := daily(func(s *Schedule) { s.Name, s.Report, s.Goal, s.To = "poison", "", "water the plants", "slack:T1:C2" })
	w := clocks(t, 1, daily(), poison)
	c := w.clocks[0]
	c.cfg.Brief = func(place string) (agent.RunStarted, error) {
		if place == "slack:T1:C2" {
			panic("poison")
		}
		return briefs(place)
	}
	for day := range 3 {
		for hour := 8; hour < 11; hour++ {
			c.Serve(t.Context(), at(day, hour, 0))
		}
	}
	if got := w.turns(); !slices.Equal(got, []string{"daily 23T09:00", "daily 24T09:00", "daily 25T09:00"}) {
		t.Errorf("turns %v", got)
	}
	if !slices.ContainsFunc(w.alerts, func(a bot.Alert) bool {
		return strings.Contains(a.Text, "`poison`") && strings.Contains(a.Text, "internal error")
	}) {
		t.Errorf("alerts %+v", w.alerts)
	}
}
