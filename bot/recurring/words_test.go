package recurring

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// inBerlin is 18 November 2026, 16:30 in Berlin, a Wednesday.
var inBerlin = time.Date(2026, 11, 18, 15, 30, 0, 0, time.UTC)

func keeps(change ...func(s *Schedule)) Schedule {
	s := Schedule{Name: "report-x7k2q", Report: OfChannel, When: "every weekday at 9:00 Europe/Berlin", Zone: "Europe/Berlin",
		Since: inBerlin, To: "slack:T1:C1:", By: bottest.Requester.ID, Missed: schedule.Late, Overlap: OverlapSkip}
	for _, f := range change {
		f(&s)
	}
	return s
}

func TestScheduleTexts(t *testing.T) {
	to := Reader{By: bottest.Requester.ID, At: bottest.Thread, Now: inBerlin}
	kept := func(s Schedule) bot.Card {
		when, err := s.Timing()
		if err != nil {
			t.Fatal(err)
		}
		return to.Confirmation(s, when)
	}
	goal := keeps(func(s *Schedule) {
		s.Name, s.Report, s.Goal, s.When = "goal-b3c4d", "", "Look for *open* issues that nobody answered, and say which", "every Monday at 8:00 Europe/Berlin"
	})
	queued, replaced := goal, goal
	queued.Name, queued.Overlap, queued.By = "goal-c3c4d", OverlapQueue, bottest.Operator.ID
	replaced.Name, replaced.Overlap, replaced.When, replaced.Goal = "goal-d3c4d", OverlapReplace, "0 0 29 2 *", strings.Repeat("count ", 50)
	reports := []Schedule{
		keeps(),
		keeps(func(s *Schedule) { s.Name, s.Fixed, s.By, s.Report, s.Always = "daily", true, "", OfWorkspace, true }),
		keeps(func(s *Schedule) { s.Name, s.Paused, s.By = "report-paused", bottest.Operator.ID, bottest.Operator.ID }),
		keeps(func(s *Schedule) {
			s.Name, s.To, s.Label, s.When = "report-ops", "slack:T1:C2:", "#ops_and_more", "@every 1h30m Europe/Berlin"
		}),
		keeps(func(s *Schedule) {
			s.Name, s.To, s.Report, s.Direct, s.By = "report-mine", "slack:T1:DU9:", OfPerson, true, bottest.Stranger.ID
		}),
		keeps(func(s *Schedule) { s.Name, s.To = "report-far", "slack:T1:C9:" }),
		keeps(func(s *Schedule) { s.Name, s.When = "report-odd", "at teatime" }),
	}
	many := make([]Schedule, maxSchedules+3)
	for i := range many {
		many[i] = keeps(func(s *Schedule) { s.Name = fmt.Sprint("report-", i) })
	}
	for name, c := range map[string]bot.Card{
		"schedule-report":  kept(keeps()),
		"schedule-goal":    kept(goal),
		"schedule-changed": kept(keeps(func(s *Schedule) { s.Always, s.Paused, s.Report = true, bottest.Requester.ID, OfPerson })),
		"schedule-reports": to.List(ReportKind, reports, true),
		"schedule-goals":   to.List(GoalKind, []Schedule{goal, queued, replaced}, false),
		"schedule-one":     to.List(GoalKind, []Schedule{goal}, false),
		"schedule-none":    to.List(ReportKind, nil, false),
	} {
		t.Run(name, func(t *testing.T) { bottest.Golden(t, name, c) })
	}
	if c := to.List(ReportKind, many, false); !strings.Contains(bottest.Drawn(c), "and 3 more") || strings.Contains(bottest.Drawn(c), "report-30`") {
		t.Errorf("a long list:\n%s", bottest.Drawn(c))
	}
}

func TestNextTurn(t *testing.T) {
	for when, want := range map[string]string{
		"every weekday at 9:00 Europe/Berlin": "Next: Thursday, 19 November, 08:00 UTC (in 16h 30m)",
		"daily 9:00 America/New_York":         "Next: Thursday, 19 November, 14:00 UTC (in 22h 30m)",
		"0 9 1 1 * Europe/Berlin":             "Next: Friday, 1 January, 08:00 UTC (in 43d 16h)",
		"30 31 15 * * * UTC":                  "Next: Wednesday, 18 November, 15:31 UTC (in 1m)",
		"@every 90m Asia/Kolkata":             "Next: Wednesday, 18 November, 17:00 UTC (in 1h 30m)",
	} {
		w, err := schedule.Parse(when, nil, inBerlin)
		if err != nil {
			t.Fatal(err)
		}
		if got := bottest.Named(NextTurn(w, inBerlin)); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
}
