package moments

import (
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Moments in which somebody asks the bot about its work.

func answering() []entry {
	return []entry{
		{"help", "Somebody asks what the bot understands", func(s *scene) { s.asks(s.Ann, "help") }},
		{"status", "Somebody asks how a run stands", func(s *scene) {
			writeAsked(s)
			s.quietly(func() {
				s.says(s.Ann, "status")
				if !s.terminal() {
					s.card() // the run shows one more
				}
			})
		}},
		{"plan-shown", "Somebody asks for the plan", func(s *scene) {
			s.works()
			s.quietly(func() { s.says(s.Ann, "plan") })
		}},
		{"budget-shown", "Somebody asks what the run has spent", func(s *scene) {
			s.works()
			s.quietly(func() { s.says(s.Ann, "budget") })
		}},
		{"permissions", "Somebody asks what the run may do", func(s *scene) {
			writeAsked(s)
			s.decides(s.Alice, agent.DecideAlways, "")
			s.quietly(func() { s.says(s.Ann, "permissions") })
		}},
		{"runs", "Somebody asks for their runs", func(s *scene) {
			s.several()
			s.quietly(func() { s.asks(s.Ann, "runs") })
		}},
		{"runs-none", "Somebody who has none asks for their runs", func(s *scene) { s.asks(s.Ann, "runs") }},
		{"status-cancelled", "Somebody asks about a run that was cancelled", func(s *scene) {
			s.works()
			s.happens(agent.Main, agent.RunControlled{Word: agent.WordCancel, By: s.Ann.ID})
			s.settle()
			s.quietly(func() { s.says(s.Ann, "status") })
		}},
		{"status-nowhere", "Somebody asks how a run stands where none lives", func(s *scene) { s.asks(s.Ben, "status") }},
		{"status-unknown", "Somebody names a run that is not there", func(s *scene) { s.asks(s.Ben, "status abcdefghijklmnop") }},
		{"command-unknown", "Somebody approves where nothing is asked", func(s *scene) {
			s.works()
			s.quietly(func() { s.says(s.Ann, "approve") })
		}},
		{"home", "Somebody looks at the bot's own page", func(s *scene) {
			s.several()
			s.quietly(func() { s.visits(s.Alice) })
		}},
	}
}

// quietly leaves out what was shown before: the moment is what follows.
func (s *scene) quietly(show func()) {
	s.steps = nil
	if s.terminal() {
		s.run = "" // a command of the program answers, and the run says nothing
	}
	show()
}

// several are three runs of Ann's: one done, one that works, one that asks.
func (s *scene) several() {
	finished(s)
	s.goal = "Sort the open issues by what they cost us"
	s.later(2 * time.Hour)
	s.elsewhere("17.2")
	s.works()
	s.goal = theGoal
	s.later(time.Hour)
	s.elsewhere("17.3")
	writeAsked(s)
}

// elsewhere puts the next run into another thread.
func (s *story) elsewhere(thread string) { s.at = thread }
