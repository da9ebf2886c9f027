package moments

import (
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/card"
	"github.com/deckhand-bot/deckhand/bot/digest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// Moments of what comes again: schedules, and reports about many runs.

func recurringGoals() []entry {
	return []entry{
		{"schedule-made", "Somebody schedules a goal", func(s *scene) { s.asks(s.Ann, "schedule every monday 8:00: sort the new issues") }},
		{"report-made", "Somebody schedules a report", func(s *scene) { s.asks(s.Ann, "report every weekday 9:00") }},
		{"schedule-list", "Somebody asks what is scheduled", func(s *scene) {
			s.asks(s.Ann, "schedule every monday 8:00: sort the new issues")
			s.quietly(func() { s.asks(s.Ann, "schedule list") })
		}},
		{"schedule-none", "Nothing is scheduled", func(s *scene) { s.asks(s.Ann, "schedule list") }},
		{"schedule-paused", "Somebody pauses a schedule", func(s *scene) {
			s.asks(s.Ann, "schedule every monday 8:00: sort the new issues")
			if !s.terminal() {
				name := s.scheduleName()
				s.quietly(func() {
					s.asks(s.Ann, "schedule pause "+name)
					s.asks(s.Ann, "schedule resume "+name)
					s.asks(s.Ben, "schedule remove "+name)
					s.asks(s.Ann, "schedule remove "+name)
				})
			}
		}},
		{"schedule-refused", "Somebody manages a schedule that is not there", func(s *scene) { s.asks(s.Ann, "schedule pause goal-abcde") }},
		{"recurring-report", "A scheduled report", recurringReport},
		{"recurring-undelivered", "A scheduled report could not be posted", undelivered},
	}
}

// scheduleName is the name of the only schedule.
func (s *story) scheduleName() string {
	for name := range s.store.names {
		if rest, is := strings.CutPrefix(name, recurring.NameSchedule); is {
			return rest
		}
	}
	return ""
}

// reports makes a report about the runs of the scene, of a schedule.
func (s *scene) reports() {
	s.several()
	var all []agent.Run
	for _, run := range s.store.order {
		s.run = run
		all = append(all, s.fold())
	}
	d := digest.New(digest.Source{Runs: all, Audience: s.desk.Authority.Audience, Reader: s.Place.Platform,
		Period: digest.Period{Since: noon.Add(-time.Hour), Until: s.store.now, Zone: time.UTC}})
	b := agent.RunStarted{Goal: "Report", Requester: s.Ann.ID, ReplyTo: s.Place.At("").String(), Tick: &agent.Tick{Schedule: "report-daily", At: s.store.now}}
	s.opens(runs.ReportRun(b, d.Headline, d.Body))
	s.steps = nil
}

func recurringReport(s *scene) {
	if s.terminal() {
		return
	}
	s.reports()
	r := s.fold()
	s.posts(card.Scheduled(r, agent.Post{Key: agent.KeyCard, Kind: agent.PostScheduled}))
	s.posts(card.Scheduled(r, agent.Post{Key: agent.KeyReport, Kind: agent.PostScheduled}))
}

func undelivered(s *scene) {
	if s.terminal() {
		return
	}
	s.reports()
	s.happens(agent.Voice, agent.ToolOutcome{Effect: agent.EffectID("post/" + agent.KeyCard), State: agent.OutcomeError, Trust: agent.Trusted,
		Text: "error: post card to slack:T1:C1: not_in_channel: the bot may not post there now"})
	r := s.fold()
	s.posts(card.Scheduled(r, agent.Post{Key: "raise/0", Kind: agent.PostScheduled, To: s.Dana.ID}))
}
