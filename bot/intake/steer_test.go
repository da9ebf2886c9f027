package intake

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// The button works where the bot cannot read what is said in a thread.
func TestSteerByButton(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	press := bot.Pressed{Button: bot.Button{Act: bot.ActSteer, ID: string(run), Word: bot.FormSteer}}
	if a := s.hear(bottest.Stranger, press); a.Form != nil || !strings.Contains(a.Private, "Only") {
		t.Errorf("a stranger's press: %+v", a)
	}
	a := s.hear(bottest.Requester, press)
	if a.Form == nil || len(a.Form.Fields) != 1 {
		t.Fatalf("no form: %+v", a)
	}
	fill := func(by bot.Person, text string) bot.Answer {
		return s.hear(by, bot.Filled{Form: a.Form.ID, Values: map[string]string{a.Form.Fields[0].ID: text}})
	}
	if got := fill(bottest.Requester, " "); got.Form == nil || got.Form.Fields[0].Problem == "" {
		t.Errorf("an empty form: %+v", got)
	}
	if got := fill(bottest.Stranger, "drop it"); !strings.Contains(got.Private, "Only") {
		t.Errorf("a stranger's form: %+v", got)
	}
	if got := fill(bottest.Requester, "only the Go files"); got.Private != "Noted." {
		t.Errorf("the form: %+v", got)
	}
	said := s.Newest().Events[0].Body
	if b, is := said.(agent.PersonSaid); !is || b.Text != "only the Go files" || !b.Trusted || b.By != bottest.Requester.ID {
		t.Errorf("journalled %+v", said)
	}
	s.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
	if got := s.hear(bottest.Requester, press); !strings.Contains(got.Private, "has ended") {
		t.Errorf("after the end: %+v", got)
	}
}

// A deleted message is taken back like an edited one: whoever deleted it, and once.
func TestDeletedWordsAreTakenBack(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	said := s.event(bottest.Requester, say("only the Go files"))
	s.hears(said)
	deletes := func(message bot.Address, key string) {
		t.Helper()
		if a := s.hears(bot.Inbound{Keys: []string{key}, Where: said.Where, Message: message, Act: bot.Unsaid{}}); a != (bot.Answer{}) {
			t.Errorf("the deletion is answered: %+v", a)
		}
	}
	deletes(said.Message, "gone")
	deletes(said.Message, "gone")
	deletes(said.Message, "gone again")
	deletes(bot.Address{Platform: "slack", Workspace: "T1", Channel: "C1", ID: "99.2"}, "another")
	r, err := s.desk.Load(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Said) != 2 {
		t.Fatalf("the run heard %+v", r.Said)
	}
	back := r.Said[1]
	if !strings.HasPrefix(back.Text, "I took back a message") || !strings.Contains(back.Text, "“only the Go files”") || !back.Trusted || back.By != bottest.Requester.ID {
		t.Errorf("told %+v", back)
	}
	s.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
	deletes(said.Message, "late")
}

// Where commands are all that a platform brings, what stands behind steer is read as
// a message is: exact words count, the rest is found out by the model.
func TestSteerWhereOnlyCommandsCome(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		only   bool
		paused bool
		unread int
	}{
		"words":               {"could you be so kind and hold on", true, false, 1},
		"an exact word":       {"stop", true, true, 0},
		"beside messages":     {"could you be so kind and hold on", false, false, 0},
		"a word beside those": {"stop", false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t, func(c *Config) { c.Hear = true })
			run, _ := s.live()
			s.hear(bottest.Requester, bot.Commanded{Text: "steer " + tt.text, Only: tt.only})
			r := s.fold(run)
			if (r.Paused != "") != tt.paused || len(r.Unread) != tt.unread || tt.unread == 0 && !tt.paused && len(r.Said) != 1 {
				t.Errorf("paused by %q, unread %+v, noted %+v", r.Paused, r.Unread, r.Said)
			}
		})
	}
}
