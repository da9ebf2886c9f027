package intake

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// What cannot be taken in is answered in words, once over all processes, and
// the administrators are told. Nothing else comes of it.
func TestWhatIsInVainIsAnsweredInWords(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(s *room, run agent.RunID)
		cause  error // beside a journal that cannot be read
		says   string
	}{
		"a newer journal": {func(s *room, run agent.RunID) { s.Newer = run }, nil, "newer version"},
		"a panic":         {func(*room, agent.RunID) {}, errors.New("an internal error: poison"), "however often I tried"},
	} {
		t.Run(name, func(t *testing.T) {
			var alarms []string
			s := opened(t, func(c *Config) {
				c.Runs.Authority.Admins = []string{"slack:U4"}
				c.Alarmed = func(kind string) { alarms = append(alarms, kind) }
			})
			s.chat.Join(&bottest.Persons{Stage: &bottest.Stage{ID: "slack", DM: bot.Address{Platform: "slack", Workspace: "T1", Channel: "D"}}})
			run, _ := s.live()
			c.damage(s, run)
			before := len(s.Journals[run])
			in := bot.Inbound{Keys: []string{"event/poison"}, By: bottest.Requester, Where: bottest.Thread, Message: bottest.Thread.At("m9"), Act: to("hurry")}
			if c.cause == nil {
				_, c.cause = s.chat.Receive(t.Context(), in)
			}
			if c.cause == nil {
				t.Fatal("it was taken in")
			}
			in.InVain = c.cause
			for try, want := range []string{c.says, ""} { // the second time another process finds it
				a, err := s.chat.Receive(t.Context(), in)
				if err != nil || !strings.Contains(a.Private, want) || (a.Private == "") != (want == "") {
					t.Errorf("answer %d is %+v, %v", try, a, err)
				}
			}
			s.Newer = ""
			if n := len(s.Journals[run]); n != before {
				t.Errorf("%d events came of it", n-before)
			}
			told := s.fold(s.Order[len(s.Order)-1])
			if told.Brief.Requester != "slack:U4" || told.Report == nil || !strings.Contains(told.Report.Body, "came to nothing") || strings.Join(alarms, " ") != AlertMessage {
				t.Errorf("the administrators are told %+v, alarms %v", told.Report, alarms)
			}
			s.Down = io.ErrClosedPipe
			in.Keys = []string{"event/next"}
			if _, err := s.chat.Receive(t.Context(), in); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("without a store it counts as answered: %v", err)
			}
		})
	}
}

// Words that people say to each other are not commented on.
func TestChatterInVainIsNotAnswered(t *testing.T) {
	s := opened(t)
	a, err := s.chat.Receive(t.Context(), bot.Inbound{Keys: []string{"event/poison"}, By: bottest.Requester, Where: bottest.Thread.At("other"), Act: say("lunch?"), InVain: io.EOF})
	if err != nil || a != (bot.Answer{}) {
		t.Errorf("%+v, %v", a, err)
	}
}

// A damaged journal will not get better: it is said at the first attempt, and
// the administrators are told.
func TestADamagedJournalIsAnAlert(t *testing.T) {
	s := opened(t, func(c *Config) { c.Runs.Authority.Admins = []string{"slack:U4"} })
	s.chat.Join(&bottest.Persons{Stage: &bottest.Stage{ID: "slack", DM: bot.Address{Platform: "slack", Workspace: "T1", Channel: "D"}}})
	s.Damaged, _ = s.live()
	a := s.hear(bottest.Requester, to("hurry"))
	if !strings.Contains(a.Private, "damaged") {
		t.Errorf("answer %+v", a)
	}
	told := s.fold(s.Order[len(s.Order)-1])
	if told.Brief.Requester != "slack:U4" || !strings.Contains(told.Report.Body, "deckhand journal") {
		t.Errorf("the administrators are told %+v", told.Report)
	}
}
