package recurring

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/runs"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// tower is some clocks over one store.
type tower struct {
	*testing.T
	*bottest.Memory
	desk   *runs.Client
	log    *strings.Builder
	clocks []*Clock
	alerts []bot.Alert
}

func clocks(t *testing.T, n int, fixed ...Schedule) *tower {
	t.Helper()
	m := bottest.NewMemory()
	w := &tower{T: t, Memory: m, log: &strings.Builder{},
		desk: &runs.Client{Journals: m, Authority: authority.Authority{Operators: []string{bottest.Operator.ID}, Approvers: []string{bottest.Approver.ID}, AllowBots: []string{bottest.Robot.ID}}}}
	log := slog.New(slog.NewTextHandler(w.log, nil))
	for range n {
		w.clocks = append(w.clocks, NewClock(ClockConfig{
			Reporter: Reporter{Runs: &runs.Client{Journals: w.Memory, Authority: w.desk.Authority}, Log: log}, Recurring: Schedules{Fixed: fixed, Store: w.Memory},
			Brief: briefs, Alarm: func(_ context.Context, a bot.Alert) { w.alerts = append(w.alerts, a) },
		}))
	}
	return w
}

// briefs are what is decided about the runs of a place: at one of them none can start.
func briefs(place string) (agent.RunStarted, error) {
	if place == "slack:T1:CLOSED" {
		return agent.RunStarted{}, errors.New("no price")
	}
	return agent.RunStarted{Limits: agent.Limits{USD: 5 * agent.Dollar}, Autonomy: agent.AskRisky, Slots: 4}, nil
}

// turns are the turns that became runs, in the order of their runs' beginnings.
func (w *tower) turns() []string {
	var list []string
	for _, run := range w.Order {
		if b, is := w.Journals[run][0].Body.(agent.RunStarted); is && b.Tick != nil {
			list = append(list, b.Tick.Schedule+" "+b.Tick.At.UTC().Format("02T15:04"))
		}
	}
	return list
}

// newestRun is the fold of the run that began last.
func (w *tower) newestRun() agent.Run {
	w.Helper()
	r, err := w.desk.Load(w.Context(), w.Order[len(w.Order)-1])
	if err != nil {
		w.Fatal(err)
	}
	return r
}

var monday = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func at(day int, hour, minute int) time.Time {
	return monday.AddDate(0, 0, day).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute)
}

func daily(change ...func(s *Schedule)) Schedule {
	s := Schedule{Name: "daily", Report: OfChannel, When: "0 9 * * *", Zone: "UTC", To: "slack:T1:C1", Always: true, By: bottest.Requester.ID, Missed: schedule.Late}
	for _, f := range change {
		f(&s)
	}
	return s
}

func recurs(overlap Overlap) Schedule {
	return daily(func(s *Schedule) { s.Report, s.Goal, s.Overlap = "", "water the plants", overlap })
}

func TestOneOfSeveralClocksServesATurn(t *testing.T) {
	w := clocks(t, 3, daily())
	for _, c := range w.clocks {
		c.Serve(t.Context(), at(0, 8, 0))
	}
	for _, c := range w.clocks {
		if next := c.Serve(t.Context(), at(0, 9, 0)); next.After(at(0, 9, 0).Add(clockLook)) {
			t.Errorf("the clock looks again at %s", next)
		}
	}
	if got := w.turns(); !slices.Equal(got, []string{"daily 23T09:00"}) {
		t.Fatalf("turns %v", got)
	}
	r := w.newestRun()
	if !r.Scheduled() || r.Ended == nil || r.Report == nil || r.Brief.ReplyTo != "slack:T1:C1:" {
		t.Errorf("the run is no report in the channel: %+v", r.Brief)
	}
	if c := w.Newest(); !c.Ends || len(c.Wake) != 1 || !slices.Contains(c.Once, "tick/daily/"+key36(at(0, 9, 0))) {
		t.Errorf("its commit: ends %v, wakes %v, once %v", c.Ends, c.Wake, c.Once)
	}
}

func key36(at time.Time) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
	n, text := at.UnixNano(), ""
	for ; n > 0; n /= 36 {
		text = string(digits[n%36]) + text
	}
	return text
}

func TestAClockThatStoodStill(t *testing.T) {
	for _, tt := range []struct {
		name  string
		s     Schedule
		want  []string
		tells string // the report after it
	}{
		{"late", daily(), []string{"daily 23T09:00", "daily 26T09:00"}, "comes 3h late"},
		{"skipped", daily(func(s *Schedule) { s.Missed = schedule.Skip }), []string{"daily 23T09:00", "daily 27T09:00"}, "3 reports were missed"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := clocks(t, 1, tt.s)
			c := w.clocks[0]
			c.Serve(t.Context(), at(0, 8, 0))
			c.Serve(t.Context(), at(0, 9, 0))
			c.Serve(t.Context(), at(3, 12, 0)) // after three days
			c.Serve(t.Context(), at(3, 12, 1))
			if tt.s.Missed == schedule.Skip {
				c.Serve(t.Context(), at(4, 9, 0))
			}
			if got := w.turns(); !slices.Equal(got, tt.want) {
				t.Fatalf("turns %v, want %v", got, tt.want)
			}
			if body := w.newestRun().Report.Body; !strings.Contains(body, tt.tells) {
				t.Errorf("the report does not say %q:\n%s", tt.tells, body)
			}
		})
	}
}

func TestAQuietReport(t *testing.T) {
	w := clocks(t, 1, daily(func(s *Schedule) { s.Always = false }))
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	c.Serve(t.Context(), at(0, 9, 0))
	if got := w.turns(); len(got) != 0 {
		t.Fatalf("nothing has ever happened, and yet: %v", got)
	}
	run, err := w.desk.Start(t.Context(), agent.RunStarted{Goal: "count the lines", Requester: bottest.Requester.ID, ReplyTo: bottest.Thread.String(), Slots: 4})
	if err != nil {
		t.Fatal(err)
	}
	c.Serve(t.Context(), at(1, 9, 0))
	c.Serve(t.Context(), at(2, 9, 0)) // the run is where it was
	if got := w.turns(); !slices.Equal(got, []string{"daily 24T09:00"}) {
		t.Fatalf("turns %v", got)
	}
	w.Happen(t, run, agent.Main, agent.CheckpointOpened{ID: agent.CheckpointID(run + "-a"), Ask: agent.CheckClarify, Title: "Which lines?", Choices: []string{"all"}})
	c.Serve(t.Context(), at(3, 9, 0))
	if got := w.turns(); !slices.Equal(got, []string{"daily 24T09:00", "daily 26T09:00"}) {
		t.Fatalf("turns %v", got)
	}
	if body := w.newestRun().Report.Body; !strings.Contains(body, "Which lines?") {
		t.Errorf("the report does not say what it needs:\n%s", body)
	}
}

func TestOverlap(t *testing.T) {
	for _, tt := range []struct {
		overlap Overlap
		want    []string
		old     agent.RunState
	}{
		{OverlapSkip, []string{"daily 23T09:00", "daily 25T09:00"}, agent.RunDone},
		{OverlapQueue, []string{"daily 23T09:00", "daily 24T09:00", "daily 25T09:00"}, agent.RunDone},
		{OverlapReplace, []string{"daily 23T09:00", "daily 24T09:00"}, agent.RunRunning},
	} {
		t.Run(string(tt.overlap), func(t *testing.T) {
			w := clocks(t, 2, recurs(tt.overlap))
			serve := func(at time.Time) {
				for _, c := range w.clocks {
					c.Serve(t.Context(), at)
				}
			}
			serve(at(0, 8, 0))
			serve(at(0, 9, 0))
			first := w.newestRun()
			if !first.Brief.Unattended || first.Brief.Goal != "water the plants" || first.Brief.Requester != bottest.Requester.ID {
				t.Errorf("the run is %+v", first.Brief)
			}
			serve(at(1, 9, 0)) // it has not ended
			if tt.overlap == OverlapReplace {
				if old, err := w.desk.Load(t.Context(), first.ID); err != nil || old.Cancelled == nil {
					t.Errorf("the old run goes on: %v", err)
				}
			} else {
				w.Happen(t, first.ID, agent.Main, agent.RunEnded{State: agent.RunDone})
				serve(at(1, 9, 30))
				if r := w.newestRun(); r.ID != first.ID {
					w.Happen(t, r.ID, agent.Main, agent.RunEnded{State: agent.RunDone})
				}
				serve(at(2, 9, 0))
			}
			if got := w.turns(); !slices.Equal(got, tt.want) {
				t.Errorf("turns %v, want %v", got, tt.want)
			}
		})
	}
}

func TestASkippedTurnIsTold(t *testing.T) {
	w := clocks(t, 1, recurs(OverlapSkip))
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	c.Serve(t.Context(), at(0, 9, 0))
	c.Serve(t.Context(), at(1, 9, 0))
	w.Happen(t, w.newestRun().ID, agent.Main, agent.RunEnded{State: agent.RunDone})
	c.Serve(t.Context(), at(2, 9, 0))
	said := w.newestRun().Said
	if len(said) != 1 || !strings.Contains(said[0].Text, "1 turn before this one") || !said[0].Trusted {
		t.Errorf("the run was told %+v", said)
	}
}

func TestAClockWithoutAStoreCatchesUp(t *testing.T) {
	w := clocks(t, 1, daily())
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	w.Down = errors.New("no route to host")
	c.Serve(t.Context(), at(0, 9, 0))
	w.Down = nil
	c.Serve(t.Context(), at(0, 9, 1))
	if got := w.turns(); !slices.Equal(got, []string{"daily 23T09:00"}) {
		t.Errorf("turns %v", got)
	}
}

func TestAScheduleThatCannotBeServedIsRaised(t *testing.T) {
	s := recurs(OverlapSkip)
	s.To = "slack:T1:CLOSED"
	w := clocks(t, 1, s, daily(func(s *Schedule) { s.Name = "other" }))
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	c.Serve(t.Context(), at(0, 9, 0))
	if len(w.alerts) != 0 {
		t.Errorf("raised at once: %+v", w.alerts)
	}
	c.Serve(t.Context(), at(0, 9, 10))
	c.Serve(t.Context(), at(0, 9, 11))
	if len(w.alerts) != 1 || !strings.Contains(w.alerts[0].Text, "no price") || !strings.Contains(bottest.Named(w.alerts[0].Text), "23 November, 09:00 UTC") {
		t.Errorf("raised %+v", w.alerts)
	}
	if got := w.turns(); !slices.Equal(got, []string{"other 23T09:00"}) {
		t.Errorf("the other one: %v", got)
	}
}

func TestPausedAndChangedSchedules(t *testing.T) {
	w := clocks(t, 1, daily())
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	w.Names[NamePaused+"daily"] = bottest.Requester.ID
	c.Serve(t.Context(), at(0, 9, 0))
	if got := w.turns(); len(got) != 0 {
		t.Errorf("a paused schedule was served: %v", got)
	}
	delete(w.Names, NamePaused+"daily")
	c.cfg.Recurring.Fixed[0].When = "0 6 * * *" // as the file says from now on
	c.Serve(t.Context(), at(0, 12, 0))
	c.Serve(t.Context(), at(1, 6, 0))
	if got := w.turns(); !slices.Equal(got, []string{"daily 24T06:00"}) {
		t.Errorf("turns %v, want none of the time before the change", got)
	}
}

func TestABrokenScheduleHoldsUpNobody(t *testing.T) {
	w := clocks(t, 1, daily(), daily(func(s *Schedule) { s.Name, s.When = "odd", "at teatime" }))
	w.Names[NameSchedule+"worse"] = "{"
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	c.Serve(t.Context(), at(0, 9, 0))
	if got := w.turns(); !slices.Equal(got, []string{"daily 23T09:00"}) {
		t.Errorf("turns %v", got)
	}
	for _, said := range []string{"odd", "worse"} {
		if !strings.Contains(w.log.String(), said) {
			t.Errorf("nothing is said about %s: %s", said, w.log)
		}
	}
}

// A week of thirty schedules over three clocks that look at odd times, one of
// which dies: every turn of every schedule, once, also on the day of the change.
func TestAWeekOfSchedules(t *testing.T) {
	zones := []string{"Europe/Berlin", "America/New_York", "UTC"}
	var fixed []Schedule
	for i := range 30 {
		when := []string{fmt.Sprintf("%d %d * * *", i, i%24), fmt.Sprintf("%d * * * 1-5", 2*i), "30 2 * * *", "@every 7h", "0 9 * * 1"}[i%5]
		fixed = append(fixed, daily(func(s *Schedule) {
			s.Name, s.When, s.Zone, s.Since = fmt.Sprintf("s%d", i), when, zones[i%3], time.Unix(0, 0)
		}))
	}
	for _, week := range []time.Time{time.Date(2027, 3, 24, 12, 0, 0, 0, time.UTC), time.Date(2026, 10, 21, 12, 0, 0, 0, time.UTC)} {
		w := clocks(t, 3, fixed...)
		end := week.Add(7 * 24 * time.Hour)
		for _, c := range w.clocks {
			c.Serve(t.Context(), week)
		}
		for now, i := week, 0; !now.After(end); now, i = now.Add(100*time.Second), i+1 {
			if c := i % 3; c != 2 || now.Before(week.Add(80*time.Hour)) { // the third one is dead from then on
				w.clocks[c].Serve(t.Context(), now)
			}
		}
		var want []string
		for _, s := range fixed {
			when, err := s.Timing()
			if err != nil {
				t.Fatal(err)
			}
			for tick := when.Next(week); !tick.After(end.Add(-2 * time.Minute)); tick = when.Next(tick) {
				want = append(want, s.Name+" "+tick.UTC().Format("02T15:04"))
			}
		}
		got := slices.DeleteFunc(w.turns(), func(s string) bool { return !slices.Contains(want, s) && strings.Contains(s, end.Format("02T")) })
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("week of %s: %d turns, want %d", week.Format(time.DateOnly), len(got), len(want))
		}
	}
}
