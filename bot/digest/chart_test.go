package digest

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// over is a run that ended at the time and cost so much.
func over(id agent.RunID, end time.Time, cost *agent.Nano) agent.Run {
	r := lived(id, end.Add(-3*time.Minute), agent.RunStarted{Goal: "g"}, paid(1, cost)...)
	return after(r, time.Minute, bottest.On(agent.Main, agent.RunEnded{State: agent.RunDone}))
}

func TestSpendChart(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(day, hour, minute int) time.Time { return time.Date(2026, 3, day, hour, minute, 0, 0, berlin) }
	today := over("today", at(30, 8, 0), cents(25))
	for _, tt := range []struct {
		name  string
		since time.Time
		runs  []agent.Run
		want  string
	}{
		{"one day", at(29, 9, 0), []agent.Run{today}, "none"},
		{"two days around a short one", at(29, 9, 0), []agent.Run{today, over("a", at(28, 23, 59), cents(50)), over("b", at(28, 12, 0), cents(50))},
			"Spend by the day that runs ended: 28 Mar 1, 29 Mar 0, 30 Mar 0.25; $1.25 in 3 days"},
		{"the last minutes of a short day", at(29, 9, 0), []agent.Run{today, over("a", at(29, 23, 59), cents(50))},
			"Spend by the day that runs ended: 29 Mar 0.5, 30 Mar 0.25; $0.75 in 2 days"},
		{"too long ago", at(29, 9, 0), []agent.Run{today, over("a", at(16, 23, 59), cents(50))}, "none"},
		{"just not too long ago", at(29, 9, 0), []agent.Run{over("b", at(29, 10, 0), cents(5)), over("a", at(17, 0, 1), cents(50)), over("c", at(18, 0, 1), cents(50))},
			"Spend by the day that runs ended: 17 Mar 0.5, 18 Mar 0.5, 19 Mar 0, 20 Mar 0, 21 Mar 0, 22 Mar 0, 23 Mar 0, 24 Mar 0, 25 Mar 0, 26 Mar 0, 27 Mar 0, 28 Mar 0, 29 Mar 0.05, 30 Mar 0; $1.05 in 14 days"},
		{"an unknown price", at(29, 9, 0), []agent.Run{today, over("a", at(28, 12, 0), cents(50)), over("b", at(28, 12, 0), nil)},
			"Spend by the day that runs ended, known prices only: 28 Mar 0.5, 29 Mar 0, 30 Mar 0.25; $0.75 in 3 days"},
		{"nothing ended since", at(30, 8, 30), []agent.Run{today, over("a", at(28, 12, 0), cents(50))}, "none"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := New(Source{Period: Period{Since: tt.since, Until: at(30, 9, 0), Zone: berlin}, Runs: tt.runs})
			if diff := cmp.Diff(tt.want, charted(d.Chart)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// charted is a chart in one line.
func charted(c *Chart) string {
	if c == nil {
		return "none"
	}
	points := make([]string, len(c.Labels))
	for i, l := range c.Labels {
		points[i] = fmt.Sprintf("%s %g", l, c.Values[i])
	}
	return c.Title + ": " + strings.Join(points, ", ") + "; " + c.Text
}

func TestBurndown(t *testing.T) {
	begun := ago(100 * time.Minute)
	plan := func(n int) agent.PlanAccepted {
		var p agent.PlanAccepted
		for i := range n {
			p.Plan.Tasks = append(p.Plan.Tasks, agent.Task{ID: agent.TaskID(strconv.Itoa(i)), Title: "t"})
		}
		return p
	}
	four := after(lived("four", begun, agent.RunStarted{Goal: "g", Slots: 4}), 0, bottest.On(agent.Main, plan(4)), bottest.Starts("0"))
	moved := after(after(four, 40*time.Minute, bottest.Ends("0", agent.TaskDone, "")), 0, bottest.Starts("1"))
	closed := after(moved, 30*time.Minute, bottest.On(agent.Main, agent.RunEnded{State: agent.RunFailed}))
	small := after(lived("small", begun, agent.RunStarted{Goal: "g", Slots: 4}), 0, bottest.On(agent.Main, plan(3)), bottest.Starts("0"))
	smaller := after(small, 40*time.Minute, bottest.Ends("0", agent.TaskDone, ""))
	for _, tt := range []struct {
		name  string
		since time.Time
		runs  []agent.Run
		want  string
	}{
		{"nothing ended", begun, []agent.Run{four}, "none"},
		{"small plans", begun, []agent.Run{smaller}, "none"},
		{"a task ended", begun, []agent.Run{moved},
			"Open tasks: 10:20 4, 10:30 4, 10:40 4, 10:50 4, 11:00 3, 11:10 3, 11:20 3, 11:30 3, 11:40 3, 11:50 3, 12:00 3; 4 tasks open at Tue 3 Mar 10:20, 3 at Tue 3 Mar 12:00"},
		{"the run ended", begun, []agent.Run{closed},
			"Open tasks: 10:20 4, 10:30 4, 10:40 4, 10:50 4, 11:00 3, 11:10 3, 11:20 3, 11:30 0, 11:40 0, 11:50 0, 12:00 0; 4 tasks open at Tue 3 Mar 10:20, 0 at Tue 3 Mar 12:00"},
		{"small plans beside it count", ago(70 * time.Minute), []agent.Run{moved, smaller},
			"Open tasks: 10:50 7, 11:00 5, 11:10 5, 11:20 5, 11:30 5, 11:40 5, 11:50 5, 12:00 5; 7 tasks open at Tue 3 Mar 10:50, 5 at Tue 3 Mar 12:00"},
		{"it ended before", ago(30 * time.Minute), []agent.Run{moved}, "none"},
		{"the first report", time.Time{}, []agent.Run{moved},
			"Open tasks: 10:20 4, 10:30 4, 10:40 4, 10:50 4, 11:00 3, 11:10 3, 11:20 3, 11:30 3, 11:40 3, 11:50 3, 12:00 3; 4 tasks open at Tue 3 Mar 10:20, 3 at Tue 3 Mar 12:00"},
		{"a week", ago(7 * 24 * time.Hour), []agent.Run{moved},
			"Open tasks: 24 Feb 12:00 0, 25 Feb 12:00 0, 26 Feb 12:00 0, 27 Feb 12:00 0, 28 Feb 12:00 0, 1 Mar 12:00 0, 2 Mar 12:00 0, 3 Mar 12:00 3; 0 tasks open at Tue 24 Feb 12:00, 3 at Tue 3 Mar 12:00"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := New(Source{Period: Period{Since: tt.since, Until: digestNoon}, Runs: tt.runs})
			if diff := cmp.Diff(tt.want, charted(d.Chart)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// However long the time is, a chart has few points.
func TestSamples(t *testing.T) {
	for _, span := range []time.Duration{0, time.Second, 7 * time.Minute, time.Hour, 25 * time.Hour, 31 * 24 * time.Hour, 366 * 24 * time.Hour, 5 * 366 * 24 * time.Hour} {
		list := samples(digestNoon, digestNoon.Add(span))
		if n := len(list); n > chartPoints+1 || !list[n-1].Equal(digestNoon.Add(span)) || (span > 0 && !list[0].Equal(digestNoon)) {
			t.Errorf("%s has %d points, from %s to %s", span, n, list[0], list[n-1])
		}
	}
}
