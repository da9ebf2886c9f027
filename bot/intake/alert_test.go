package intake

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// Each administrator is told once, however many processes find the trouble.
func TestAlert(t *testing.T) {
	s := scheduler(t)
	s.desk.Authority.Admins = []string{"slack:U4", "slack:S1", "discord:1", "U5", "irc:x", "slack:U6"}
	stage := &bottest.Persons{Stage: &bottest.Stage{ID: "slack", DM: bot.Address{Platform: "slack", Workspace: "T1", Channel: "D", ID: "whole"}, Found: map[string]bot.Posted{}}}
	s.chat.Join(stage)
	other := New(s.chat.cfg)
	other.Join(stage)
	for _, c := range []*Chat{s.chat, other, s.chat} {
		c.Alert(t.Context(), bot.Alert{ID: "a", Kind: "schedule", Text: "The schedule `daily` was due."})
	}
	var told []string
	for _, run := range s.Order {
		r := s.fold(run)
		told = append(told, r.Brief.ReplyTo)
		if !r.Scheduled() || !r.Brief.Direct || r.Report == nil || !strings.Contains(r.Report.Body, "`daily`") {
			t.Errorf("the alert is %+v", r.Brief)
		}
	}
	if fmt.Sprint(told) != "[slack:T1:DU4: slack:T1:DU5: slack:T1:DU6:]" {
		t.Errorf("told %v", told)
	}
	for _, who := range []string{"slack:S1", "discord:1", "irc:x"} {
		if !strings.Contains(s.log.String(), "who="+who) {
			t.Errorf("nothing is said of %s", who)
		}
	}
	for name := range s.Names {
		if strings.HasPrefix(name, agent.ThreadName("")) {
			t.Errorf("an alert lives in %s", name)
		}
	}
	s.chat.Alert(t.Context(), bot.Alert{ID: "b", Kind: "schedule", Text: "Another one."})
	if len(s.Order) != 6 {
		t.Errorf("%d alerts", len(s.Order))
	}
	s.Down = errors.New("no route to host")
	s.chat.Alert(t.Context(), bot.Alert{ID: "c"})
	if !strings.Contains(s.log.String(), "no route to host") {
		t.Error("an alert that nobody got is not in the log")
	}
}
