package intake

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// field is a field of a form by its id.
func fieldOf(t *testing.T, f *bot.Form, id string) bot.Field {
	t.Helper()
	if f == nil {
		t.Fatalf("there is no form with a field %q", id)
	}
	for _, field := range f.Fields {
		if field.ID == id {
			return field
		}
	}
	t.Fatalf("there is no field %q in %+v", id, f.Fields)
	return bot.Field{}
}

// A form with a value that cannot be taken comes back with everything that was
// typed and the reason beside the field, as often as it takes.
func TestAFormKeepsWhatWasTyped(t *testing.T) {
	for name, tt := range map[string]struct {
		values map[string]string
		field  string
	}{
		"the budget":          {map[string]string{bot.FieldBudget: "a lot"}, bot.FieldBudget},
		"more than allowed":   {map[string]string{bot.FieldBudget: "usd=9000"}, bot.FieldBudget},
		"too long a deadline": {map[string]string{bot.FieldDeadline: "900h"}, bot.FieldDeadline},
		"the deadline":        {map[string]string{bot.FieldDeadline: "tomorrow"}, bot.FieldDeadline},
		"the autonomy":        {map[string]string{bot.FieldAutonomy: "all"}, bot.FieldAutonomy},
		"an approver":         {map[string]string{bot.FieldApprovers: "slack:U99"}, bot.FieldApprovers},
		"no goal":             {map[string]string{bot.FieldGoal: "  "}, bot.FieldGoal},
		"too long a goal":     {map[string]string{bot.FieldGoal: strings.Repeat("x", maxGoal+1)}, bot.FieldGoal},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t, func(c *Config) {
				c.Brief = func(string) (agent.RunStarted, error) {
					return agent.RunStarted{Slots: 4, Limits: agent.Limits{USD: agent.Dollar, Time: 3600e9}, Approvers: []string{"slack:U5"}}, nil
				}
			})
			opens := s.hear(bottest.Requester, bot.Pressed{Button: bot.Button{Act: bot.ActStart}}).Form
			sent := map[string]string{bot.FieldGoal: "count the lines", bot.FieldBudget: "0.5", bot.FieldApprovers: "slack:U5", bot.FieldDeadline: "30m"}
			maps.Copy(sent, tt.values)
			in := s.event(bottest.Requester, bot.Filled{Form: opens.ID, Values: sent})
			for range 2 { // the same submission once more is answered once more
				a := s.hears(in)
				if a.Started || a.Form == nil || a.Form.ID != opens.ID {
					t.Fatalf("answer %+v", a)
				}
				for id, value := range sent {
					if got := fieldOf(t, a.Form, id); got.Value != value || (got.Problem != "") != (id == tt.field) {
						t.Errorf("the field %s: %+v", id, got)
					}
				}
				if a.Private == "" || a.Buttons == nil {
					t.Errorf("where no form can be kept open: %+v", a)
				}
			}
			a := s.hears(in)
			again := s.hear(bottest.Requester, bot.Pressed{Button: a.Buttons.List[0]})
			if got := fieldOf(t, again.Form, bot.FieldGoal); got.Value != sent[bot.FieldGoal] {
				t.Errorf("opened again: %+v", got)
			}
			if other := s.hear(bottest.Operator, bot.Pressed{Button: a.Buttons.List[0]}); other.Form != nil {
				t.Errorf("somebody else is shown what was typed: %+v", other.Form)
			}
			for id := range tt.values {
				sent[id] = map[string]string{bot.FieldGoal: "count the lines"}[id]
			}
			if a := s.hear(bottest.Requester, bot.Filled{Form: opens.ID, Values: sent}); !a.Started || a.Form != nil {
				t.Errorf("mended: %+v", a)
			}
			if a := s.hear(bottest.Requester, bot.Pressed{Button: a.Buttons.List[0]}); a.Form != nil || a.Private == "" {
				t.Errorf("what was typed is kept after all: %+v", a)
			}
		})
	}
}

// conversation is where somebody talks to the bot alone, on a platform whose
// conversations have no threads.
func (s *room) alone(by bot.Person, act bot.Act) bot.Answer {
	s.Helper()
	in := s.event(by, act)
	in.Where = bot.Address{Platform: "slack", Workspace: "T1", Channel: "D1", ID: "D1"}
	if _, said := act.(bot.Said); said {
		in.Message = in.Where.At("m" + in.Keys[0])
	}
	return s.hears(in)
}

// Words in a conversation in which two runs live do nothing until the person has
// said which one they mean.
func TestTwoRunsInOneConversation(t *testing.T) {
	for words, did := range map[string]func(r agent.Run) bool{
		"stop":             func(r agent.Run) bool { return r.Paused != "" },
		"cancel":           func(r agent.Run) bool { return r.Cancelled != nil },
		"approve":          func(r agent.Run) bool { return len(r.OpenCheckpoints()) == 0 },
		"deny not now":     func(r agent.Run) bool { return len(r.Denied) > 0 },
		"only the Go ones": func(r agent.Run) bool { return len(r.Said) > 0 && r.Said[len(r.Said)-1].Trusted },
	} {
		t.Run(words, func(t *testing.T) {
			s := opened(t, func(c *Config) { c.Runs.Authority.RequesterMayApprove = true; c.Runs.Authority.Approvers = nil })
			var list []agent.RunID
			for _, goal := range []string{"count the lines", "sum the bills"} {
				run := s.alone(bottest.Requester, bot.Commanded{Text: "run " + goal, Direct: true}).Run
				s.Happen(t, run, agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: agent.KeyCard}.Effect(), State: agent.OutcomeOK,
					Text: agent.Shown{Message: "slack:T1:D1:c" + goal[:1], Thread: "slack:T1:D1:D1"}.Text()})
				q := bottest.Approval
				q.ID, q.Tool = agent.CheckpointID(string(run)+"-1"), "write_file"
				s.Happen(t, run, agent.Main, q)
				s.Happen(t, run, agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: agent.KeyAsk(q.ID)}.Effect(), State: agent.OutcomeOK,
					Text: agent.Shown{Message: "slack:T1:D1:q" + goal[:1], Thread: "slack:T1:D1:D1", At: bottest.Noon}.Text()})
				list = append(list, run)
			}
			before := s.Size()
			a := s.alone(bottest.Requester, bot.Said{Text: words, Direct: true})
			if a.Buttons == nil || len(a.Buttons.List) != 2 || s.Size() != before {
				t.Fatalf("answer %+v, %d new events", a, s.Size()-before)
			}
			labels := []string{a.Buttons.List[0].Label, a.Buttons.List[1].Label}
			if !slices.Equal(labels, []string{"sum the bills", "count the lines"}) {
				t.Errorf("buttons %q", labels)
			}
			chosen := a.Buttons.List[1]
			b := s.alone(bottest.Requester, bot.Pressed{Button: chosen})
			if !did(s.fold(list[0])) || did(s.fold(list[1])) || b.Instead == nil {
				t.Errorf("after choosing: %+v; it happened %t, to the other %t", b, did(s.fold(list[0])), did(s.fold(list[1])))
			}
			before = s.Size()
			if b = s.alone(bottest.Requester, bot.Pressed{Button: a.Buttons.List[0]}); s.Size() != before || b.Private == "" {
				t.Errorf("chosen twice: %+v", b)
			}
		})
	}
}

// A question that came after the words is not decided by them.
func TestChoosingDecidesNothingNewer(t *testing.T) {
	s := opened(t)
	a := bottest.Approval
	list := []agent.RunID{s.alone(bottest.Requester, bot.Commanded{Text: "run one", Direct: true}).Run, s.alone(bottest.Requester, bot.Commanded{Text: "run two", Direct: true}).Run}
	for _, run := range list {
		s.Happen(t, run, agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: agent.KeyCard}.Effect(), State: agent.OutcomeOK,
			Text: agent.Shown{Message: "slack:T1:D1:c", Thread: "slack:T1:D1:D1"}.Text()})
	}
	in := s.event(bottest.Requester, bot.Said{Text: "approve", Direct: true})
	in.Where = bot.Address{Platform: "slack", Workspace: "T1", Channel: "D1", ID: "D1"}
	in.Message, in.At = in.Where.At("m1"), bottest.Noon.AddDate(0, 0, -1)
	asked := s.hears(in)
	a.ID = agent.CheckpointID(string(list[0]) + "-1")
	s.Happen(t, list[0], agent.Main, a)
	s.Happen(t, list[0], agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: agent.KeyAsk(a.ID)}.Effect(), State: agent.OutcomeOK,
		Text: agent.Shown{Message: "slack:T1:D1:q", Thread: "slack:T1:D1:D1"}.Text()})
	s.alone(bottest.Requester, bot.Pressed{Button: asked.Buttons.List[1]})
	if len(s.fold(list[0]).OpenCheckpoints()) != 1 {
		t.Error("a question was decided by words that are older")
	}
}

// A colleague's note becomes steering by one click of somebody who may steer,
// once, in both names and as it was shown.
func TestUseANote(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	a := s.hear(bottest.Stranger, to("count the tests, too\n@here"))
	if a.Public == nil || a.Private != "" {
		t.Fatalf("answer %+v", a)
	}
	var use bot.Button
	for _, p := range a.Public.Parts {
		if b, is := p.(bot.Buttons); is {
			use = b.List[0]
		}
	}
	if use.Act != bot.ActUse || use.Label != "Use \ue000"+bottest.Stranger.ID+"\ue001's note" || len(a.Public.Mentions) > 0 {
		t.Fatalf("button %+v, mentions %q", use, a.Public.Mentions)
	}
	if b := s.hear(bottest.Stranger, bot.Pressed{Button: use}); !strings.HasPrefix(b.Private, "Only") || b.Instead != nil {
		t.Errorf("by its author: %+v", b)
	}
	trusted := func() (list []agent.Note) {
		for _, n := range s.fold(run).Said {
			if n.Trusted {
				list = append(list, n)
			}
		}
		return list
	}
	if n := trusted(); len(n) != 0 {
		t.Fatalf("trusted before anybody pressed: %+v", n)
	}
	for range 2 {
		b := s.hear(bottest.Requester, bot.Pressed{Button: use})
		if b.Instead == nil || !strings.Contains(bot.Markdown(*b.Instead), "**Used** by \ue000slack:U1\ue001") {
			t.Errorf("pressed: %+v", b)
		}
	}
	want := agent.Note{By: "slack:U1", Author: bottest.Stranger.ID, Text: "count the tests, too\n@here", Trusted: true}
	if n := trusted(); len(n) != 1 || n[0] != want {
		t.Errorf("steering %+v, want %+v", n, want)
	}
	if b := s.hear(bottest.Requester, pressing(bot.ActUse, run, noteWord(bottest.Stranger.ID, "rm -rf"))); b.Private == "" || len(trusted()) != 1 {
		t.Errorf("a note that nobody wrote: %+v", b)
	}
}
