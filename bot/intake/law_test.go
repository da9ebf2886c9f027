package intake

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/form"
)

// Whatever is open and however it is written: an exact control word is one.
func TestControlWordsWin(t *testing.T) {
	words := map[string]agent.Word{"stop": agent.WordPause, "pause": agent.WordPause, "resume": agent.WordResume, "cancel": agent.WordCancel}
	for _, questions := range [][]agent.CheckpointOpened{nil, {bottest.Clarify}, {bottest.Approval}, {bottest.Planned}, {bottest.Budget}, {bottest.Stuck}, {bottest.Clarify, bottest.Planned}} {
		for word, want := range words {
			for _, text := range []string{word, strings.ToUpper(word), " " + word + "\n", word + "!!!", word + " .", word + " 🛑"} {
				for _, said := range []bot.Said{say(text), to(text)} {
					s := opened(t)
					run, _ := s.live(questions...)
					before := len(s.Journals[run])
					s.hear(bottest.Requester, said)
					if diff := cmp.Diff([]agent.Body{agent.RunControlled{Word: want, By: bottest.Requester.ID}}, s.events(run, before)); diff != "" {
						t.Errorf("%q: %s", text, diff)
					}
				}
			}
		}
	}
}

// everything is what a person could do to a run.
func everything(run agent.RunID, checks []agent.CheckpointID) []bot.Act {
	acts := []bot.Act{bot.Stopped{}, bot.Commanded{Text: "stop"}, bot.Commanded{Text: "cancel " + string(run)}, bot.Commanded{Text: "resume"}, bot.Commanded{Text: "steer hurry"},
		bot.Commanded{Text: "status"}, bot.Commanded{Text: "budget " + string(run)}, say("hurry"), to("hurry"), to("deny no"), say("deny: no"), to(`{"decision":"approve"}`)}
	for _, w := range []string{"pause", "resume", "cancel", "leave", "wake", ""} {
		acts = append(acts, bot.Pressed{Button: bot.Button{Act: bot.ActControl, ID: string(run), Word: w}}, say(w), to(w))
	}
	words := []string{"approve", "deny", "edit", "always", "cancel", "answer", "other", "decide for me", "+25 %", "+100 %",
		"finish with what you have", "try again", "repeat", "skip", "done", "expired", "1", "2", "q1=1", "Red", "y", ""}
	for _, w := range words {
		acts = append(acts, say(w), to(w))
		for _, id := range checks {
			acts = append(acts, bot.Pressed{Button: bot.Button{Act: bot.ActDecide, ID: string(id), Word: w}}, bot.Commanded{Text: w + " " + string(id)})
		}
	}
	for _, id := range checks {
		for _, kind := range []string{form.Deny, form.Edit, form.Answer} {
			acts = append(acts, bot.Filled{Form: kind + " " + string(id), Values: map[string]string{form.FieldReason: "no", form.FieldJSON: `{"x":1}`, form.FieldOf(0): "Red", form.FieldText: "x"}})
		}
	}
	return acts
}

var allQuestions = []agent.CheckpointOpened{bottest.Approval, bottest.Planned, bottest.Clarify, bottest.Budget, bottest.Stuck, bottest.Uncertain}

// Who has no part in a run changes nothing of it, whatever they do: at most
// their words are there, as words that are not trusted.
func TestStrangersChangeNothing(t *testing.T) {
	for _, by := range []bot.Person{bottest.Stranger, bottest.Guest, bottest.Robot, {ID: "slack:U1x", Full: true}, {ID: "discord:U7", Also: []string{"discord:U9"}, Full: true}} {
		s := opened(t, func(c *Config) { c.Runs.Authority.Operators = []string{"slack:U7"} })
		run, checks := s.live(allQuestions...)
		before := len(s.Journals[run])
		acts := append(everything(run, checks), bot.Pressed{Button: bot.Button{Act: bot.ActRate, ID: string(run), Word: "+1"}}, bot.Filled{Form: form.Rate + " " + string(run), Values: nil})
		for _, act := range acts {
			s.Names["bots/"+bottest.Thread.String()] = ""
			a := s.hear(by, act)
			if a.Form != nil || a.Mark == bot.MarkNoted || a.Started {
				t.Errorf("%s, %+v: answer %+v", by.ID, act, a)
			}
		}
		for _, b := range s.events(run, before) {
			if said, is := b.(agent.PersonSaid); !is || said.Trusted || said.By != by.ID {
				t.Errorf("%s: %+v was written", by.ID, b)
			}
		}
		if got := s.fold(run).OpenCheckpoints(); len(got) != len(allQuestions) {
			t.Errorf("%s: %d questions are open", by.ID, len(got))
		}
		if strings.Contains(s.log.String(), "hurry") {
			t.Error("the log holds what people wrote")
		}
		if by.ID == bottest.Stranger.ID && !strings.Contains(s.log.String(), "principal=slack:U9") {
			t.Errorf("the log does not say who was refused: %s", s.log)
		}
	}
}

// The same event, heard twice, is one event and one visible answer, also where
// the run has moved on meanwhile.
func TestHeardTwice(t *testing.T) {
	both := bot.Person{ID: bottest.Requester.ID, Full: true}
	s := opened(t, func(c *Config) {
		c.Runs.Authority = authority.Authority{RequesterMayApprove: true}
	})
	run, checks := s.live(allQuestions...)
	acts := everything(run, checks)
	acts = append(acts, bot.Commanded{Text: "help"}, bot.Commanded{Text: "runs"}, to("runs"), to(""), bot.Commanded{Text: "run"}, bot.Commanded{Text: "run x"}, to("another goal"), to("status"))
	for i, act := range acts {
		in := s.event(both, act)
		first, err := s.chat.Receive(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			s.Happen(t, run, agent.Main, agent.TimePassed{})
		}
		written := s.Size()
		again, err := s.chat.Receive(t.Context(), in)
		if err != nil || again != (bot.Answer{}) || s.Size() != written {
			t.Errorf("%+v: first %+v, then %+v, %v, %d more events", act, first, again, err, s.Size()-written)
		}
	}
}

// While the store is away nothing is answered: the event has to come again.
func TestStoreAway(t *testing.T) {
	s := opened(t)
	run, checks := s.live(allQuestions...)
	away := errors.New("connection refused")
	for _, act := range append(everything(run, checks), to("help"), bot.Visited{}) {
		in := s.event(bottest.Operator, act)
		s.Down = away
		if a, err := s.chat.Receive(t.Context(), in); a != (bot.Answer{}) || (err != nil && !errors.Is(err, away)) {
			t.Errorf("%+v: %+v, %v", act, a, err)
		}
		s.Down = nil
		s.hears(in)
	}
}

func TestCancelledContext(t *testing.T) {
	s := opened(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.Down = ctx.Err()
	if _, err := s.chat.Receive(ctx, s.event(bottest.Requester, to("x"))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A word decides no question that its author cannot have seen: it was said
// about the one before, or before the bot was back.
func TestWordsDecideOnlyWhatWasAsked(t *testing.T) {
	for _, act := range []bot.Act{say("approve"), to("approve"), bot.Commanded{Text: "approve"}} {
		s := opened(t)
		run, checks := s.live(bottest.Approval)
		next := bottest.Approval
		next.ID = agent.CheckpointID(string(run) + "-next")
		s.hear(bottest.Approver, pressing(bot.ActDecide, checks[0], "approve"))
		s.Happen(t, run, "task/b", next)
		in := s.event(bottest.Approver, act)
		s.hears(in)
		if c := s.fold(run).Checks[next.ID]; !c.Open() {
			t.Errorf("%+v: decided a question that was not put yet: %+v", act, c.Decision)
		}
		s.put(next.ID)
		in = s.event(bottest.Approver, act)
		in.At, in.Missed = s.fold(run).Checks[next.ID].Opened.Add(-time.Second), true
		s.hears(in)
		if c := s.fold(run).Checks[next.ID]; !c.Open() {
			t.Errorf("%+v: decided a question that came after it: %+v", act, c.Decision)
		}
		in = s.event(bottest.Approver, act)
		in.Missed = true
		s.hears(in)
		if s.fold(run).Checks[next.ID].Open() {
			t.Errorf("%+v: did not decide the question that was put", act)
		}
	}
	s := opened(t)
	run, _ := s.live()
	early := bottest.Clarify
	early.ID = agent.CheckpointID(string(run) + "-next")
	s.Happen(t, run, agent.Main, early)
	s.hear(bottest.Requester, say("mind the tests"))
	if !s.fold(run).Checks[early.ID].Open() {
		t.Error("words answered a question that was not put yet")
	}
}

// What strangers attach is not brought into the workspace: their words are
// kept, and the files' names among them.
func TestStrangersBringNoFiles(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	before := len(s.Journals[run])
	files := []agent.Attachment{{ID: "F1", Name: "a.csv"}, {ID: "F2", Name: "b\nc.csv"}}
	s.hear(bottest.Stranger, bot.Said{Text: "look", Files: files})
	s.hear(bottest.Stranger, bot.Said{Files: files[:1]})
	want := []agent.Body{
		agent.PersonSaid{By: bottest.Stranger.ID, Text: "look\n[attached, not fetched: a.csv]\n[attached, not fetched: b c.csv]"},
		agent.PersonSaid{By: bottest.Stranger.ID, Text: "[attached, not fetched: a.csv]"},
	}
	if diff := cmp.Diff(want, s.events(run, before), cmpopts.IgnoreFields(agent.PersonSaid{}, "Message")); diff != "" {
		t.Error(diff)
	}
	s.hear(bottest.Requester, bot.Said{Files: files[:1]})
	if r := s.fold(run); len(r.Files) != 1 || r.Files[0].By != bottest.Requester.ID {
		t.Errorf("files %+v", r.Files)
	}
}
