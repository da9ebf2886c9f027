package moments

import (
	"context"
	"errors"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// Moments in which the bot itself is in trouble, and what administrators hear.

func troubles() []entry {
	return []entry{
		{"poisoned", "A message cannot be acted on, however often that is tried", poisoned},
		{"damaged", "A run's journal is damaged", damaged},
		{"alert", "Administrators hear of a schedule that is not served", func(s *scene) {
			s.alerts(bot.Alert{ID: "schedule/daily/1", Kind: "schedule",
				Text: "`daily` was due on Monday, 2 March 09:00 CET, and nothing came of it: no run can start there: no price for the model. I try it again. `report list` and `schedule list` show what is planned."})
		}},
	}
}

// alerts tells Dana, and shows what she is told.
func (s *scene) alerts(a bot.Alert) {
	if s.terminal() {
		return
	}
	before := len(s.store.order)
	s.chat.Alert(context.Background(), a)
	s.alerted(before)
}

// alerted shows the alerts that were posted since.
func (s *scene) alerted(before int) {
	for _, run := range s.store.order[before:] {
		s.run = run
		r := s.fold()
		s.posts(card.Scheduled(r, agent.Post{Key: agent.KeyCard, Kind: agent.PostScheduled}))
		s.posts(card.Scheduled(r, agent.Post{Key: agent.KeyReport, Kind: agent.PostScheduled}))
	}
}

func poisoned(s *scene) {
	if s.terminal() {
		return
	}
	s.works()
	before := len(s.store.order)
	a := s.receivesEvent(bot.Inbound{Keys: []string{"poison"}, At: s.store.now, By: s.Ann, Where: s.thread(), Message: s.thread().At("18.9"),
		Act: said("also look at the wiki"), InVain: errors.New("commit: field 3 of run.started does not encode")})
	s.steps = append(s.steps, Said{By: s.Ann, Text: "also look at the wiki", Answer: a})
	s.alerted(before)
}

func damaged(s *scene) {
	if s.terminal() {
		return
	}
	s.works()
	s.store.down = agent.ErrDamaged
	before := len(s.store.order)
	s.says(s.Ann, "status")
	s.store.down = nil
	s.alerted(before)
}
