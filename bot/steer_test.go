package bot

import (
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

// The button works where the bot cannot read what is said in a thread.
func TestSteerByButton(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	press := Pressed{Button{Act: ActSteer, ID: string(run), Word: formSteer}}
	if a := s.hear(stranger, press); a.Form != nil || !strings.Contains(a.Private, "Only") {
		t.Errorf("a stranger's press: %+v", a)
	}
	a := s.hear(requester, press)
	if a.Form == nil || len(a.Form.Fields) != 1 {
		t.Fatalf("no form: %+v", a)
	}
	fill := func(by Person, text string) Answer {
		return s.hear(by, Filled{Form: a.Form.ID, Values: map[string]string{a.Form.Fields[0].ID: text}})
	}
	if got := fill(requester, " "); !strings.Contains(got.Private, "told nothing") {
		t.Errorf("an empty form: %+v", got)
	}
	if got := fill(stranger, "drop it"); !strings.Contains(got.Private, "Only") {
		t.Errorf("a stranger's form: %+v", got)
	}
	if got := fill(requester, "only the Go files"); got.Private != "Noted." {
		t.Errorf("the form: %+v", got)
	}
	said := s.newest().Events[0].Body
	if b, is := said.(agent.PersonSaid); !is || b.Text != "only the Go files" || !b.Trusted || b.By != requester.ID {
		t.Errorf("journalled %+v", said)
	}
	s.happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
	if got := s.hear(requester, press); !strings.Contains(got.Private, "has ended") {
		t.Errorf("after the end: %+v", got)
	}
}
