package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/schedule"
)

// postedReport is a report's run, in which some posts failed.
func postedReport(name string, failed ...string) agent.Run {
	return spokenReport(name, agent.OutcomeError, "error: post card to slack:T1:C1: not_in_channel", failed...)
}

// spokenReport is a report's run, after some of its posts with an outcome.
func spokenReport(name string, state agent.OutcomeState, text string, keys ...string) agent.Run {
	tick := &agent.Tick{Schedule: name, At: noon, Report: true, Raise: []string{"slack:U4", "U6"}}
	events := []agent.Body{
		agent.RunStarted{Goal: "Report " + name, ReplyTo: "slack:T1:C1:", Tick: tick},
		agent.Reported{Headline: "2 done, 1 needs you <!here>", Body: "## Done\n\n- ✓ `abcdefghijklmnop` · Count the lines\n\n## Needs you\n\nNothing."},
		agent.RunEnded{State: agent.RunDone},
	}
	var r agent.Run
	at := func(s agent.StrandID, b agent.Body) {
		r = r.Apply(agent.Event{Run: "abcdefghijklmnop", Strand: s, Seq: r.Seq + 1, At: noon, Body: b})
	}
	for _, b := range events {
		at(agent.Main, b)
	}
	for _, key := range keys {
		p := agent.Post{Key: key, Kind: agent.PostScheduled}
		at(agent.Voice, p.Intent(time.Time{}))
		at(agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: state, Text: text})
	}
	return r
}

func TestScheduledCards(t *testing.T) {
	head, body, raise := agent.Post{Key: keyCard}, agent.Post{Key: keyReport}, agent.Post{Key: keyRaise + "0", To: "slack:U4"}
	alert := postedReport("")
	alert.Brief.Direct = true
	own := postedReport("report-x7k2q", keyCard)
	own.Brief.Direct, own.Brief.Requester = true, "slack:U1"
	for name, c := range map[string]Card{
		"scheduled-head":        ScheduledCard(postedReport("daily"), head),
		"scheduled-body":        ScheduledCard(postedReport("daily"), body),
		"scheduled-now":         ScheduledCard(postedReport(""), head),
		"scheduled-alert":       ScheduledCard(alert, head),
		"scheduled-raise":       ScheduledCard(postedReport("daily", keyCard), raise),
		"scheduled-own":         ScheduledCard(own, head),
		"scheduled-raise-own":   ScheduledCard(own, agent.Post{Key: keyRaise + "0", To: "slack:U1"}),
		"scheduled-raise-shy":   ScheduledCard(own, raise),
		"scheduled-raise-now":   ScheduledCard(postedReport("", keyCard), agent.Post{Key: keyRaise + "1", To: "U6"}),
		"scheduled-status":      StatusCard(postedReport("daily"), noon),
		"scheduled-posted":      StatusCard(spokenReport("daily", agent.OutcomeOK, agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:m1"}.Text(), keyCard, keyReport), noon),
		"scheduled-undelivered": StatusCard(postedReport("daily", keyCard), noon),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, c) })
	}
	if s := StatusOf(postedReport("daily", keyCard)); !strings.Contains(s.WaitingFor, "not_in_channel") || s.State != agent.RunDone {
		t.Errorf("its status is %+v", s)
	}
}

// inBerlin is 18 November 2026, 16:30 in Berlin, a Wednesday.
var inBerlin = time.Date(2026, 11, 18, 15, 30, 0, 0, time.UTC)

func keeps(change ...func(s *Schedule)) Schedule {
	s := Schedule{Name: "report-x7k2q", Report: OfChannel, When: "every weekday at 9:00 Europe/Berlin", Zone: "Europe/Berlin",
		Since: inBerlin, To: "slack:T1:C1:", By: requester.ID, Missed: schedule.Late, Overlap: OverlapSkip}
	for _, f := range change {
		f(&s)
	}
	return s
}

func TestScheduleTexts(t *testing.T) {
	to := reading{by: requester.ID, at: thread, now: inBerlin}
	kept := func(done string, s Schedule) Card {
		when, err := s.timing()
		if err != nil {
			t.Fatal(err)
		}
		return to.kept(done, s, when)
	}
	goal := keeps(func(s *Schedule) {
		s.Name, s.Report, s.Goal, s.When = "goal-b3c4d", "", "Look for *open* issues that nobody answered, and say which", "every Monday at 8:00 Europe/Berlin"
	})
	queued, replaced := goal, goal
	queued.Name, queued.Overlap, queued.By = "goal-c3c4d", OverlapQueue, operator.ID
	replaced.Name, replaced.Overlap, replaced.When, replaced.Goal = "goal-d3c4d", OverlapReplace, "0 0 29 2 *", strings.Repeat("count ", 50)
	reports := []Schedule{
		keeps(),
		keeps(func(s *Schedule) { s.Name, s.Fixed, s.By, s.Report, s.Always = "daily", true, "", OfWorkspace, true }),
		keeps(func(s *Schedule) { s.Name, s.Paused, s.By = "report-paused", operator.ID, operator.ID }),
		keeps(func(s *Schedule) {
			s.Name, s.To, s.Label, s.When = "report-ops", "slack:T1:C2:", "#ops_and_more", "@every 1h30m Europe/Berlin"
		}),
		keeps(func(s *Schedule) {
			s.Name, s.To, s.Report, s.Direct, s.By = "report-mine", "slack:T1:DU9:", OfPerson, true, stranger.ID
		}),
		keeps(func(s *Schedule) { s.Name, s.To = "report-far", "slack:T1:C9:" }),
		keeps(func(s *Schedule) { s.Name, s.When = "report-odd", "at teatime" }),
	}
	many := make([]Schedule, maxSchedules+3)
	for i := range many {
		many[i] = keeps(func(s *Schedule) { s.Name = fmt.Sprint("report-", i) })
	}
	for name, c := range map[string]Card{
		"schedule-report":  kept("I keep it as", keeps()),
		"schedule-goal":    kept("I keep it as", goal),
		"schedule-changed": kept("I changed", keeps(func(s *Schedule) { s.Always, s.Paused, s.Report = true, requester.ID, OfPerson })),
		"schedule-reports": to.list(sortReport, reports, true),
		"schedule-goals":   to.list(sortGoal, []Schedule{goal, queued, replaced}, false),
		"schedule-one":     to.list(sortGoal, []Schedule{goal}, false),
		"schedule-none":    to.list(sortReport, nil, false),
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, c) })
	}
	if c := to.list(sortReport, many, false); !strings.Contains(drawn(c), "and 3 more") || strings.Contains(drawn(c), "report-30`") {
		t.Errorf("a long list:\n%s", drawn(c))
	}
}

func TestNextTurn(t *testing.T) {
	for when, want := range map[string]string{
		"every weekday at 9:00 Europe/Berlin": "Next: Thursday, 19 November, 09:00 CET (in 16h 30m)",
		"daily 9:00 America/New_York":         "Next: Thursday, 19 November, 09:00 EST (in 22h 30m)",
		"0 9 1 1 * Europe/Berlin":             "Next: Friday, 1 January 2027, 09:00 CET (in 43d 16h)",
		"30 31 15 * * * UTC":                  "Next: Wednesday, 18 November, 15:31:30 UTC (in 1m)",
		"@every 90m Asia/Kolkata":             "Next: Wednesday, 18 November, 22:30 IST (in 1h 30m)",
	} {
		w, err := schedule.Parse(when, nil, inBerlin)
		if err != nil {
			t.Fatal(err)
		}
		if got := nextTurn(w, inBerlin); got != want {
			t.Errorf("%s: %s, want %s", when, got, want)
		}
	}
}
