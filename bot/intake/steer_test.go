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
	if got := fill(bottest.Requester, " "); !strings.Contains(got.Private, "told nothing") {
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
