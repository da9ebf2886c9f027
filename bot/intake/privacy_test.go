package intake

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// elsewhere is another channel than the one in which the requester's run lives.
var elsewhere = bot.Address{Platform: "slack", Workspace: "T1", Channel: "C2", ID: "18.1"}

// at is an event at a place.
func (s *room) at(where bot.Address, by bot.Person, act bot.Act) bot.Answer {
	s.Helper()
	in := s.event(by, act)
	in.Where = where
	if _, said := act.(bot.Said); said {
		in.Message = where.At(where.ID + "1")
	}
	return s.hears(in)
}

// aloud reports whether everybody at the place sees the answer: it is posted, or
// the run shows its card there.
func (s *room) aloud(a bot.Answer) bool {
	watched, is := s.Newest().Events, false
	if len(watched) == 1 {
		var w agent.RunWatched
		w, is = watched[0].Body.(agent.RunWatched)
		is = is && w.CardOnly
	}
	return a.Public != nil || is && a.Private == ""
}

// What does not live here is told to the asker alone, and to nobody who may not
// see it; what lives here is answered aloud.
func TestWhatLivesElsewhereIsToldToTheAskerAlone(t *testing.T) {
	s := opened(t)
	run := string(s.begun(bottest.Requester, 1, bottest.Approval))
	check := string(s.fold(agent.RunID(run)).OpenCheckpoint().ID)
	for _, text := range []string{"status " + run, "plan " + run, "budget " + run, "permissions " + run} {
		a := s.at(elsewhere, bottest.Requester, to(text))
		if a.Public != nil || a.Private == "" || !a.Confidential {
			t.Errorf("%q elsewhere: %+v", text, a)
		}
		if a := s.at(bottest.Channel.At("30.1"), bottest.Requester, to(text)); !s.aloud(a) || a.Confidential {
			t.Errorf("%q at home: %+v", text, a)
		}
		if a := s.at(bottest.Channel.At("99.9"), bottest.Stranger, to(text)); !s.aloud(a) || a.Confidential {
			t.Errorf("%q in the same channel: %+v", text, a)
		}
		if a := s.at(elsewhere, bottest.Stranger, to(text)); a.Public != nil || strings.Contains(a.Private, "goal 1") {
			t.Errorf("%q by a stranger: %+v", text, a)
		}
		alone := bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU1", ID: "1.1"}
		if a := s.at(alone, bottest.Requester, bot.Said{Text: text, Direct: true}); a.Public == nil || a.Confidential {
			t.Errorf("%q where nobody else listens: %+v", text, a)
		}
	}
	if a := s.at(elsewhere, bottest.Requester, to("runs")); a.Public != nil || !a.Confidential || !strings.Contains(a.Private, "goal 1") {
		t.Errorf("the list: %+v", a)
	}
	if a := s.hear(bottest.Requester, to("runs")); a.Confidential {
		t.Errorf("a list of what lives here: %+v", a)
	}
	if a := s.at(elsewhere, bottest.Operator, to("approve "+check)); strings.Contains(a.Private, "May I?") && !a.Confidential {
		t.Errorf("about its question: %+v", a)
	}
}

// A run is shown to everybody of another place by who may steer it, and one of a
// direct conversation by its requester alone.
func TestWhoShowsARunElsewhere(t *testing.T) {
	s := opened(t)
	open := string(s.begun(bottest.Requester, 1))
	alone := bot.Address{Platform: "slack", Workspace: "T1", Channel: "DU1", ID: "1.1"}
	private := string(s.at(alone, bottest.Requester, bot.Said{Text: "look for another job", Direct: true}).Run)
	for _, tt := range []struct {
		by   bot.Person
		run  string
		may  bool
		what string
	}{
		{bottest.Approver, open, false, "an approver"}, {bottest.Operator, private, false, "an operator, of a conversation"},
		{bottest.Operator, open, true, "an operator"}, {bottest.Requester, private, true, "the requester"},
	} {
		a := s.at(elsewhere, tt.by, bot.Commanded{Text: "watch " + tt.run})
		if shown := len(s.fold(agent.RunID(tt.run)).Watched) > 0; shown != tt.may || a.Private == "" {
			t.Errorf("%s: shown %t, %+v", tt.what, shown, a)
		}
	}
	if a := s.at(elsewhere, bottest.Requester, to("status "+open)); !s.aloud(a) {
		t.Errorf("what was shown here is answered here: %+v", a)
	}
}
