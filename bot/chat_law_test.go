package bot

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// Whatever is open and however it is written: an exact control word is one.
func TestControlWordsWin(t *testing.T) {
	words := map[string]agent.Word{"stop": agent.WordPause, "pause": agent.WordPause, "resume": agent.WordResume, "cancel": agent.WordCancel}
	for _, questions := range [][]agent.CheckpointOpened{nil, {clarify}, {approval}, {planned}, {budget}, {stuck}, {clarify, planned}} {
		for word, want := range words {
			for _, text := range []string{word, strings.ToUpper(word), " " + word + "\n", word + "!!!", word + " .", word + " 🛑"} {
				for _, said := range []Said{say(text), to(text)} {
					s := opened(t)
					run, _ := s.live(questions...)
					before := len(s.journals[run])
					s.hear(requester, said)
					if diff := cmp.Diff([]agent.Body{agent.RunControlled{Word: want, By: requester.ID}}, s.events(run, before)); diff != "" {
						t.Errorf("%q: %s", text, diff)
					}
				}
			}
		}
	}
}

// everything is what a person could do to a run.
func everything(run agent.RunID, checks []agent.CheckpointID) []Act {
	acts := []Act{Stopped{}, Commanded{Text: "stop"}, Commanded{Text: "cancel " + string(run)}, Commanded{Text: "resume"}, Commanded{Text: "steer hurry"},
		Commanded{Text: "status"}, Commanded{Text: "budget " + string(run)}, say("hurry"), to("hurry"), to("deny no"), say("deny: no"), to(`{"decision":"approve"}`)}
	for _, w := range []string{"pause", "resume", "cancel", "leave", "wake", ""} {
		acts = append(acts, Pressed{Button{Act: ActControl, ID: string(run), Word: w}}, say(w), to(w))
	}
	words := []string{"approve", "deny", "edit", "always", "cancel", "answer", "other", "decide for me", "+25 %", "+100 %",
		"finish with what you have", "try again", "repeat", "skip", "done", "expired", "1", "2", "q1=1", "Red", "y", ""}
	for _, w := range words {
		acts = append(acts, say(w), to(w))
		for _, id := range checks {
			acts = append(acts, Pressed{Button{Act: ActDecide, ID: string(id), Word: w}}, Commanded{Text: w + " " + string(id)})
		}
	}
	for _, id := range checks {
		for _, form := range []string{formDeny, formEdit, formAnswer} {
			acts = append(acts, Filled{Form: form + " " + string(id), Values: map[string]string{fieldReason: "no", fieldJSON: `{"x":1}`, fieldQuestion + "0": "Red", fieldText: "x"}})
		}
	}
	return acts
}

var allQuestions = []agent.CheckpointOpened{approval, planned, clarify, budget, stuck, uncertain}

// Who has no part in a run changes nothing of it, whatever they do: at most
// their words are there, as words that are not trusted.
func TestStrangersChangeNothing(t *testing.T) {
	for _, by := range []Person{stranger, guest, robot, {ID: "slack:U1x", Full: true}, {ID: "discord:U7", Also: []string{"discord:U9"}, Full: true}} {
		s := opened(t, func(c *ChatConfig) { c.Desk.Authority.Operators = []string{"slack:U7"} })
		run, checks := s.live(allQuestions...)
		before := len(s.journals[run])
		acts := append(everything(run, checks), Pressed{Button{Act: ActRate, ID: string(run), Word: "+1"}}, Filled{Form: formRate + " " + string(run), Values: nil})
		for _, act := range acts {
			s.names["bots/"+thread.String()] = ""
			a := s.hear(by, act)
			if a.Form != nil || a.Mark == MarkNoted || a.Started {
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
		if by.ID == stranger.ID && !strings.Contains(s.log.String(), "principal=slack:U9") {
			t.Errorf("the log does not say who was refused: %s", s.log)
		}
	}
}

// The same event, heard twice, is one event and one visible answer, also where
// the run has moved on meanwhile.
func TestHeardTwice(t *testing.T) {
	both := Person{ID: requester.ID, Full: true}
	s := opened(t, func(c *ChatConfig) {
		c.Desk.Authority = Authority{RequesterMayApprove: true}
	})
	run, checks := s.live(allQuestions...)
	acts := everything(run, checks)
	acts = append(acts, Commanded{Text: "help"}, Commanded{Text: "runs"}, to("runs"), to(""), Commanded{Text: "run"}, Commanded{Text: "run x"}, to("another goal"), to("status"))
	for i, act := range acts {
		in := s.event(both, act)
		first, err := s.chat.Hear(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if i%3 == 0 {
			s.happen(t, run, agent.Main, agent.TimePassed{})
		}
		written := s.size()
		again, err := s.chat.Hear(t.Context(), in)
		if err != nil || again != (Answer{}) || s.size() != written {
			t.Errorf("%+v: first %+v, then %+v, %v, %d more events", act, first, again, err, s.size()-written)
		}
	}
}

func (m *memory) size() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, j := range m.journals {
		n += len(j)
	}
	return n
}

// While the store is away nothing is answered: the event has to come again.
func TestStoreAway(t *testing.T) {
	s := opened(t)
	run, checks := s.live(allQuestions...)
	away := errors.New("connection refused")
	for _, act := range append(everything(run, checks), to("help"), Visited{}) {
		in := s.event(operator, act)
		s.down = away
		if a, err := s.chat.Hear(t.Context(), in); a != (Answer{}) || (err != nil && !errors.Is(err, away)) {
			t.Errorf("%+v: %+v, %v", act, a, err)
		}
		s.down = nil
		s.hears(in)
	}
}

func TestCancelledContext(t *testing.T) {
	s := opened(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.down = ctx.Err()
	if _, err := s.chat.Hear(ctx, s.event(requester, to("x"))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A word decides no question that its author cannot have seen: it was said
// about the one before, or before the bot was back.
func TestWordsDecideOnlyWhatWasAsked(t *testing.T) {
	for _, act := range []Act{say("approve"), to("approve"), Commanded{Text: "approve"}} {
		s := opened(t)
		run, checks := s.live(approval)
		next := approval
		next.ID = agent.CheckpointID(string(run) + "-next")
		s.hear(approver, press(ActDecide, checks[0], "approve"))
		s.happen(t, run, "task/b", next)
		in := s.event(approver, act)
		s.hears(in)
		if c := s.fold(run).Checks[next.ID]; !c.Open() {
			t.Errorf("%+v: decided a question that was not put yet: %+v", act, c.Decision)
		}
		s.put(next.ID)
		in = s.event(approver, act)
		in.At, in.Missed = s.fold(run).Checks[next.ID].Opened.Add(-time.Second), true
		s.hears(in)
		if c := s.fold(run).Checks[next.ID]; !c.Open() {
			t.Errorf("%+v: decided a question that came after it: %+v", act, c.Decision)
		}
		in = s.event(approver, act)
		in.Missed = true
		s.hears(in)
		if s.fold(run).Checks[next.ID].Open() {
			t.Errorf("%+v: did not decide the question that was put", act)
		}
	}
	s := opened(t)
	run, _ := s.live()
	early := clarify
	early.ID = agent.CheckpointID(string(run) + "-next")
	s.happen(t, run, agent.Main, early)
	s.hear(requester, say("mind the tests"))
	if !s.fold(run).Checks[early.ID].Open() {
		t.Error("words answered a question that was not put yet")
	}
}

// What strangers attach is not brought into the workspace: their words are
// kept, and the files' names among them.
func TestStrangersBringNoFiles(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	before := len(s.journals[run])
	files := []agent.Attachment{{ID: "F1", Name: "a.csv"}, {ID: "F2", Name: "b\nc.csv"}}
	s.hear(stranger, Said{Text: "look", Files: files})
	s.hear(stranger, Said{Files: files[:1]})
	want := []agent.Body{
		agent.PersonSaid{By: stranger.ID, Text: "look\n[attached, not fetched: a.csv]\n[attached, not fetched: b c.csv]"},
		agent.PersonSaid{By: stranger.ID, Text: "[attached, not fetched: a.csv]"},
	}
	if diff := cmp.Diff(want, s.events(run, before)); diff != "" {
		t.Error(diff)
	}
	s.hear(requester, Said{Files: files[:1]})
	if r := s.fold(run); len(r.Files) != 1 || r.Files[0].By != requester.ID {
		t.Errorf("files %+v", r.Files)
	}
}
