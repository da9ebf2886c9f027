package bot

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

// The people of the tests: who asks, an operator, an approver, somebody of the
// workspace, and a guest of it.
var (
	requester = Person{ID: "slack:U1", Name: "Ada", Full: true}
	operator  = Person{ID: "slack:U7", Full: true}
	approver  = Person{ID: "slack:U5", Full: true}
	stranger  = Person{ID: "slack:U9", Full: true}
	guest     = Person{ID: "slack:U8"}
	robot     = Person{ID: "slack:B1", Bot: true}
)

var (
	thread  = Address{"slack", "T1", "C1", "17.1"}
	channel = thread.At("")
)

// room is a chat with its store.
type room struct {
	*testing.T
	*memory
	chat  *Chat
	desk  *Desk
	log   *strings.Builder
	count int
}

func opened(t *testing.T, change ...func(c *ChatConfig)) *room {
	t.Helper()
	m := newMemory()
	s := &room{T: t, memory: m, log: &strings.Builder{}}
	s.desk = &Desk{Journals: m, Authority: Authority{Operators: []string{operator.ID}, Approvers: []string{approver.ID},
		AllowBots: []string{robot.ID}}}
	cfg := ChatConfig{Desk: s.desk, Store: m, Log: slog.New(slog.NewTextHandler(s.log, nil)), CatchUp: 24 * time.Hour,
		Brief: func(place string) (agent.RunStarted, error) {
			if place == "slack:T1:CLOSED" {
				return agent.RunStarted{}, errors.New("no price")
			}
			return agent.RunStarted{Limits: agent.Limits{USD: 5 * agent.Dollar}, Autonomy: agent.AskRisky, Slots: 4}, nil
		}}
	for _, f := range change {
		f(&cfg)
	}
	s.chat = NewChat(cfg)
	return s
}

// event is something that a person does in the thread, under keys of its own.
func (s *room) event(by Person, act Act) Inbound {
	s.count++
	in := Inbound{Keys: []string{fmt.Sprintf("event/%d", s.count), fmt.Sprintf("message/%d", s.count)}, At: time.Now(),
		By: by, Where: thread, Act: act}
	if _, said := act.(Said); said {
		in.Message = thread.At(fmt.Sprintf("17.%d", s.count+1))
	}
	return in
}

func (s *room) hear(by Person, act Act) Answer {
	s.Helper()
	return s.hears(s.event(by, act))
}

func (s *room) hears(in Inbound) Answer {
	s.Helper()
	a, err := s.chat.Hear(s.Context(), in)
	if err != nil {
		s.Fatal(err)
	}
	return a
}

func say(text string) Said { return Said{Text: text} }

func to(text string) Said { return Said{Text: text, To: true} }

// live starts a run of the requester in the thread, in which the questions are open.
func (s *room) live(questions ...agent.CheckpointOpened) (agent.RunID, []agent.CheckpointID) {
	s.Helper()
	a := s.hear(requester, to("count the lines"))
	if !a.Started {
		s.Fatalf("no run: %+v", a)
	}
	var ids []agent.CheckpointID
	for i, q := range questions {
		q.ID = agent.CheckpointID(fmt.Sprintf("%s-%d", a.Run, i))
		s.happen(s.T, a.Run, "task/a", q)
		s.put(q.ID)
		ids = append(ids, q.ID)
	}
	return a.Run, ids
}

// put is what the voice journals before it posts a question.
func (s *room) put(id agent.CheckpointID) {
	s.Helper()
	p := agent.Post{Key: keyAsk + string(id), Kind: agent.PostCheckpoint, About: string(id)}
	s.happen(s.T, id.Run(), agent.Voice, p.Intent(time.Time{}))
}

func (s *room) fold(run agent.RunID) agent.Run {
	s.Helper()
	r, err := s.desk.Load(s.Context(), run)
	if err != nil {
		s.Fatal(err)
	}
	return r
}

// events are the bodies of a run's journal after the seq.
func (s *room) events(run agent.RunID, after int) []agent.Body {
	s.Helper()
	events, err := s.Read(s.Context(), run, uint64(after))
	if err != nil {
		s.Fatal(err)
	}
	var list []agent.Body
	for _, e := range events {
		list = append(list, e.Body)
	}
	return list
}

func TestGoal(t *testing.T) {
	s := opened(t)
	file := agent.Attachment{ID: "F1", Name: "a.csv", Size: 7}
	in := s.event(requester, Said{Text: "  count the lines ", To: true, Files: []agent.Attachment{file}})
	a := s.hears(in)
	if want := (Answer{Mark: MarkSeen, Run: a.Run, Started: true}); a != want || a.Run == "" {
		t.Fatalf("answer %+v", a)
	}
	c := s.newest()
	want := agent.RunStarted{Goal: "count the lines", Requester: requester.ID, ReplyTo: "slack:T1:C1:17.1", Folder: "slack-C1",
		Limits: agent.Limits{USD: 5 * agent.Dollar}, Autonomy: agent.AskRisky, Slots: 4, Files: []agent.Attachment{file}}
	if diff := cmp.Diff([]agent.Event{{Strand: agent.Main, Body: want}}, c.Events); diff != "" {
		t.Error(diff)
	}
	if len(c.Wake) != 2 || !c.Wake[agent.Voice].Equal(agent.AtOnce) || c.Set[agent.ThreadName(thread.String())] != string(a.Run) {
		t.Errorf("wakes %v, sets %v", c.Wake, c.Set)
	}
	for _, key := range in.Keys {
		if !slices.Contains(c.Once, key) {
			t.Errorf("%s is not among the keys %v", key, c.Once)
		}
	}
	if again := s.hears(in); again != (Answer{}) || len(s.order) != 1 {
		t.Errorf("the same message again: %+v, %d runs", again, len(s.order))
	}
}

// What a message does, by who says it and what lives in the thread.
func TestRouting(t *testing.T) {
	none, alive, over := "none", "live", "over"
	for _, tt := range []struct {
		in   string // what lives in the thread
		by   Person
		act  Act
		want string // run, trusted, untrusted, nothing, a control word, or part of the private answer
	}{
		{none, requester, to("fix the build"), "run"},
		{none, requester, say("fix the build"), "nothing"},
		{none, requester, say("stop"), "nothing"},
		{none, requester, to(""), "I am Deckhand"},
		{none, requester, Said{To: true, Files: []agent.Attachment{{ID: "F1"}}}, "I am Deckhand"},
		{none, requester, to("stop"), "No run lives here"},
		{none, requester, to("help"), "`run GOAL`"},
		{none, requester, to("HELP !"), "`run GOAL`"},
		{none, requester, Said{Text: "fix it", Direct: true}, "run"},
		{none, guest, to("fix the build"), "You may not start"},
		{none, stranger, to("fix the build"), "run"},
		{none, robot, to("fix the build"), "run"},
		{none, Person{ID: "slack:B9", Bot: true}, to("fix the build"), "nothing"},
		{none, Person{Full: true}, to("fix the build"), "nothing"},
		{none, requester, to("plan a party"), "run"},
		{none, requester, to("report on sales"), "run"},
		{none, requester, to("approve the invoice 17"), "run"},
		{none, requester, to("cancel my subscription"), "run"},
		{none, requester, to("plan internationalise"), "run"},
		{none, requester, to("run: fix the build"), "run"},
		{none, requester, to("runs"), "No runs"},
		{none, requester, to("report daily 9:00"), "I keep it as `report-"},
		{none, requester, to("memory"), "Memory cannot be looked at"},
		{none, requester, to(strings.Repeat("ä", maxGoal)), "run"},
		{none, requester, to(strings.Repeat("ä", maxGoal+1)), "at most 40,000"},
		{none, requester, to("a \x00\xff b"), "run"},
		{over, requester, to("and now fix it"), "run"},
		{over, requester, say("thanks all"), "nothing"},
		{over, requester, say("cancel"), "nothing"},
		{over, requester, to("pause"), "has ended"},
		{over, requester, to("status"), "all counted"},
		{alive, requester, say("also count the tests"), "trusted"},
		{alive, requester, to("also count the tests"), "trusted"},
		{alive, requester, to("steer also count the tests"), "trusted"},
		{alive, operator, say("hurry"), "trusted"},
		{alive, stranger, say("hurry"), "untrusted"},
		{alive, stranger, to("hurry"), "untrusted"},
		{alive, approver, say("hurry"), "untrusted"},
		{alive, guest, say("hurry"), "untrusted"},
		{alive, robot, say("hurry"), "untrusted"},
		{alive, robot, to("stop"), "Only"},
		{alive, requester, say("STOP!"), "pause"},
		{alive, requester, say(" pause. "), "pause"},
		{alive, requester, say("Resume"), "resume"},
		{alive, operator, say("cancel…"), "cancel"},
		{alive, requester, say("stop it please"), "trusted"},
		{alive, requester, to("cancel it"), "trusted"},
		{alive, stranger, say("stop"), "Only"},
		{alive, stranger, say("status"), "count the lines"},
		{alive, requester, say("status?"), "count the lines"},
		{alive, requester, to("budget"), "of $5.00"},
		{alive, requester, to("plan"), "There is no plan yet"},
		{alive, requester, to("permissions"), "ask-risky"},
		{alive, requester, say("plan"), "trusted"},
		{alive, requester, to("approve"), "Nothing that this word decides"},
		{alive, requester, say("run the tests"), "trusted"},
		{alive, requester, Said{Files: []agent.Attachment{{ID: "F1", Name: "x"}}}, "trusted"},
		{alive, requester, say(" "), "nothing"},
		{alive, requester, Stopped{}, "pause"},
		{alive, stranger, Stopped{}, "Only"},
		{none, requester, Stopped{}, "No run lives here"},
		{none, requester, Commanded{Text: "fix the build"}, "I do not know the command fix"},
		{none, requester, Commanded{Text: "run fix the build"}, "run"},
		{none, requester, Commanded{Text: " RUN  fix the build"}, "run"},
		{none, guest, Commanded{Text: "run fix the build"}, "You may not start"},
		{none, guest, Commanded{Text: "run"}, "You may not start"},
		{none, requester, Commanded{Text: ""}, "`run GOAL`"},
		{none, requester, Commanded{Text: "schedule every day: x"}, "needs a time of day"},
		{alive, requester, Commanded{Text: "stop"}, "pause"},
		{alive, requester, Commanded{Text: "watch"}, "Say which run"},
		{alive, stranger, Commanded{Text: "watch abcdefghijklmnop"}, "no such run"},
		{alive, requester, Commanded{Text: "steer count the tests"}, "trusted"},
		{alive, stranger, Commanded{Text: "steer count the tests"}, "Only"},
		{alive, requester, Commanded{Text: "steer"}, "Say what I should know"},
		{alive, requester, Commanded{Text: "run fix the build"}, "run"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%.60v", tt.in, tt.by.ID, tt.act), func(t *testing.T) {
			s := opened(t)
			var old agent.RunID
			if tt.in != none {
				old, _ = s.live()
			}
			if tt.in == over {
				s.happen(t, old, agent.Main, agent.Reported{Headline: "all counted"})
				s.happen(t, old, agent.Main, agent.RunEnded{State: agent.RunDone})
			}
			before := len(s.journals[old])
			in := s.event(tt.by, tt.act)
			a := s.hears(in)
			got := what(a, s.events2(old, before))
			if got != tt.want && !strings.Contains(answerOf(a), tt.want) {
				t.Errorf("%s: %+v", got, a)
			}
			if again := s.hears(in); again != (Answer{}) || len(s.journals[old]) > before+1 {
				t.Errorf("the second time: %+v", again)
			}
		})
	}
}

// answerOf is what an answer says to somebody.
func answerOf(a Answer) string {
	if a.Public != nil {
		return Markdown(*a.Public)
	}
	return a.Private
}

// events2 is events for a run that may not be there.
func (s *room) events2(run agent.RunID, after int) []agent.Body {
	s.Helper()
	if run == "" {
		return nil
	}
	return s.events(run, after)
}

// what names what came of an event.
func what(a Answer, written []agent.Body) string {
	switch {
	case a.Started:
		return "run"
	case len(written) == 0 && a == Answer{}:
		return "nothing"
	case len(written) == 0:
		return "an answer"
	}
	switch b := written[0].(type) {
	case agent.PersonSaid:
		if b.Trusted {
			return "trusted"
		}
		return "untrusted"
	case agent.RunControlled:
		return string(b.Word)
	case agent.CheckpointDecided:
		return b.Decision
	case agent.CheckpointVoted:
		return "vote"
	}
	return string(written[0].Kind())
}

// colours is a question with choices, as the loop asks it.
var colours = agent.CheckpointOpened{Ask: agent.CheckClarify, Title: "I have a question",
	Questions: []agent.Question{{ID: "q1", Question: "Which colour?", Choices: []string{"Red", "Blue"}}},
	Choices:   []string{"Red", "Blue", agent.DecideAnswer, agent.DecideForMe, agent.DecideCancel}}

// What is said while questions are open.
func TestRoutingOfDecisions(t *testing.T) {
	for _, tt := range []struct {
		name      string
		questions []agent.CheckpointOpened
		by        Person
		act       Said
		want      string // decision or what() or part of the private answer
		text      string // of the decision
	}{
		{"a word", []agent.CheckpointOpened{approval}, approver, say("Approve"), agent.DecideApprove, ""},
		{"a word with a mention", []agent.CheckpointOpened{approval}, approver, to("approve!"), agent.DecideApprove, ""},
		{"a short word with a mention", []agent.CheckpointOpened{approval}, approver, to("ok"), agent.DecideApprove, ""},
		{"a short word among people", []agent.CheckpointOpened{approval}, approver, say("ok"), "Did you mean to decide", ""},
		{"a number with a mention", []agent.CheckpointOpened{approval}, approver, to("2"), agent.DecideDeny, ""},
		{"a denial", []agent.CheckpointOpened{approval}, approver, say("deny: too risky"), agent.DecideDeny, "too risky"},
		{"the button's words", []agent.CheckpointOpened{approval}, approver, say("Always in this run"), agent.DecideAlways, ""},
		{"an edit needs a form", []agent.CheckpointOpened{approval}, approver, say("edit"), "press Edit", ""},
		{"a stranger", []agent.CheckpointOpened{approval}, stranger, say("approve"), "untrusted", ""},
		{"a stranger with a mention", []agent.CheckpointOpened{approval}, stranger, to("approve"), "You may not decide", ""},
		{"the requester, who is no approver", []agent.CheckpointOpened{approval}, requester, say("approve"), "You may not decide", ""},
		{"more words than one", []agent.CheckpointOpened{approval}, requester, say("approve of nothing"), "trusted", ""},
		{"money", []agent.CheckpointOpened{budget}, approver, say("+25 %"), agent.DecideMore25, ""},
		{"stuck", []agent.CheckpointOpened{stuck}, requester, say("try again"), agent.DecideRetry, ""},
		{"stuck, and a hint", []agent.CheckpointOpened{stuck}, requester, say("use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint with a mention", []agent.CheckpointOpened{stuck}, operator, to("steer: use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint as steering", []agent.CheckpointOpened{stuck}, operator, to("steer use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint behind an approval", []agent.CheckpointOpened{approval, stuck}, requester, say("use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint of a stranger", []agent.CheckpointOpened{stuck}, stranger, say("use the other file"), "untrusted", ""},
		{"a slip of the pen", []agent.CheckpointOpened{stuck}, requester, say("cancle"), "Did you mean to decide", ""},
		{"agreement with nothing", []agent.CheckpointOpened{stuck}, requester, say("ok"), "Did you mean to decide", ""},
		{"agreement with a mention", []agent.CheckpointOpened{stuck}, requester, to("yes"), "Did you mean to decide", ""},
		{"cancel controls", []agent.CheckpointOpened{stuck}, requester, say("cancel"), "cancel", ""},
		{"a choice", []agent.CheckpointOpened{clarify}, requester, say("blue"), "Blue", ""},
		{"a choice's number", []agent.CheckpointOpened{colours}, requester, say("2"), "Blue", ""},
		{"the number of no choice", []agent.CheckpointOpened{colours}, requester, say("5"), agent.DecideAnswer, "5"},
		{"a number for several questions", []agent.CheckpointOpened{twoPoints}, requester, say("3"), agent.DecideAnswer, "3"},
		{"a number behind an approval", []agent.CheckpointOpened{approval, colours}, requester, say("1"), "Red", ""},
		{"free text", []agent.CheckpointOpened{clarify}, requester, say("green, like grass"), agent.DecideAnswer, "green, like grass"},
		{"what looks like a command", []agent.CheckpointOpened{clarify}, requester, say("plan"), agent.DecideAnswer, "plan"},
		{"the word answer", []agent.CheckpointOpened{clarify}, requester, say("answer"), agent.DecideAnswer, "answer"},
		{"decide for me", []agent.CheckpointOpened{clarify}, operator, say("Decide for me."), agent.DecideForMe, ""},
		{"a stranger's answer", []agent.CheckpointOpened{clarify}, stranger, say("blue"), "untrusted", ""},
		{"approve behind a question", []agent.CheckpointOpened{clarify, approval}, approver, say("approve"), agent.DecideApprove, ""},
		{"an answer in front of an approval", []agent.CheckpointOpened{approval, clarify}, requester, say("blue"), "Blue", ""},
		{"the oldest of two", []agent.CheckpointOpened{approval, planned}, approver, say("approve"), agent.DecideApprove, ""},
		{"done", []agent.CheckpointOpened{uncertain}, approver, say("done"), agent.DecideDone, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := opened(t)
			run, _ := s.live(tt.questions...)
			before := len(s.journals[run])
			a := s.hear(tt.by, tt.act)
			written := s.events(run, before)
			if got := what(a, written); got != tt.want && (a.Private == "" || !strings.Contains(a.Private, tt.want)) {
				t.Fatalf("%s: %+v, want %s", got, a, tt.want)
			}
			if len(written) > 0 {
				if d, is := written[0].(agent.CheckpointDecided); is && (d.Text != tt.text || d.By != tt.by.ID) {
					t.Errorf("decided %+v", d)
				}
			}
			if len(written) > 0 && tt.want != "untrusted" && a.Mark != MarkNoted {
				t.Errorf("answer %+v, want a mark", a)
			}
		})
	}
}
