package intake

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
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// room is a chat with its store.
type room struct {
	*testing.T
	*bottest.Memory
	chat  *Chat
	desk  *runs.Client
	log   *strings.Builder
	count int
}

func opened(t *testing.T, change ...func(c *Config)) *room {
	t.Helper()
	m := bottest.NewMemory()
	s := &room{T: t, Memory: m, log: &strings.Builder{}}
	s.desk = &runs.Client{Journals: m, Authority: authority.Authority{Operators: []string{bottest.Operator.ID}, Approvers: []string{bottest.Approver.ID},
		AllowBots: []string{bottest.Robot.ID}}}
	cfg := Config{Runs: s.desk, Store: m, Log: slog.New(slog.NewTextHandler(s.log, nil)), CatchUp: 24 * time.Hour,
		Brief: func(place string) (agent.RunStarted, error) {
			if place == "slack:T1:CLOSED" {
				return agent.RunStarted{}, errors.New("no price")
			}
			return agent.RunStarted{Limits: agent.Limits{USD: 5 * agent.Dollar}, Autonomy: agent.AskRisky, Slots: 4}, nil
		}}
	for _, f := range change {
		f(&cfg)
	}
	s.chat = New(cfg)
	return s
}

// event is something that a person does in the thread, under keys of its own.
func (s *room) event(by bot.Person, act bot.Act) bot.Inbound {
	s.count++
	in := bot.Inbound{Keys: []string{fmt.Sprintf("event/%d", s.count), fmt.Sprintf("message/%d", s.count)}, At: time.Now(),
		By: by, Where: bottest.Thread, Act: act}
	if _, said := act.(bot.Said); said {
		in.Message = bottest.Thread.At(fmt.Sprintf("17.%d", s.count+1))
	}
	return in
}

func (s *room) hear(by bot.Person, act bot.Act) bot.Answer {
	s.Helper()
	return s.hears(s.event(by, act))
}

func (s *room) hears(in bot.Inbound) bot.Answer {
	s.Helper()
	a, err := s.chat.Receive(s.Context(), in)
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range []*bot.Card{a.Public, a.Instead} { // whatever any test does: a person's own word pings nobody
		if c != nil && len(c.Mentions) > 0 {
			s.Errorf("%+v notifies %q", in.Act, c.Mentions)
		}
	}
	return a
}

func say(text string) bot.Said { return bot.Said{Text: text} }
func to(text string) bot.Said  { return bot.Said{Text: text, To: true} }

// live starts a run of the requester in the thread, in which the questions are open.
func (s *room) live(questions ...agent.CheckpointOpened) (agent.RunID, []agent.CheckpointID) {
	s.Helper()
	a := s.hear(bottest.Requester, to("count the lines"))
	if !a.Started {
		s.Fatalf("no run: %+v", a)
	}
	var ids []agent.CheckpointID
	for i, q := range questions {
		q.ID = agent.CheckpointID(fmt.Sprintf("%s-%d", a.Run, i))
		s.Happen(s.T, a.Run, "task/a", q)
		s.put(q.ID)
		ids = append(ids, q.ID)
	}
	return a.Run, ids
}

// put is what the voice journals of a question that it posts.
func (s *room) put(id agent.CheckpointID) {
	s.Helper()
	p := agent.Post{Key: agent.KeyAsk(id), Kind: agent.PostCheckpoint, About: string(id)}
	s.Happen(s.T, id.Run(), agent.Voice, p.Intent(time.Time{}))
	s.posted(id, s.fold(id.Run()).Checks[id].Opened)
}

// posted is what came of it: the message has the platform's stamp.
func (s *room) posted(id agent.CheckpointID, at time.Time) {
	s.Helper()
	ask := agent.Post{Key: agent.KeyAsk(id)}
	s.Happen(s.T, id.Run(), agent.Voice, agent.ToolOutcome{Effect: ask.Effect(), State: agent.OutcomeOK,
		Text: agent.Shown{Message: bottest.Thread.At("18." + string(id)).String(), Thread: bottest.Thread.String(), At: at}.Text()})
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
	in := s.event(bottest.Requester, bot.Said{Text: "  count the lines ", To: true, Files: []agent.Attachment{file}})
	a := s.hears(in)
	if want := (bot.Answer{Mark: bot.MarkSeen, Run: a.Run, Started: true}); a != want || a.Run == "" {
		t.Fatalf("answer %+v", a)
	}
	c := s.Newest()
	want := agent.RunStarted{Goal: "count the lines", Requester: bottest.Requester.ID, ReplyTo: "slack:T1:C1:17.1", Folder: "slack-C1",
		Limits: agent.Limits{USD: 5 * agent.Dollar}, Autonomy: agent.AskRisky, Slots: 4, Files: []agent.Attachment{file}, Zone: "UTC"}
	if diff := cmp.Diff([]agent.Event{{Strand: agent.Main, Body: want}}, c.Events); diff != "" {
		t.Error(diff)
	}
	if len(c.Wake) != 2 || !c.Wake[agent.Voice].Equal(agent.AtOnce) || c.Set[agent.ThreadName(bottest.Thread.String())] != string(a.Run) {
		t.Errorf("wakes %v, sets %v", c.Wake, c.Set)
	}
	if err := s.Together(a.Run); err != nil {
		t.Error(err)
	}
	for _, key := range in.Keys {
		if !slices.Contains(c.Once, key) {
			t.Errorf("%s is not among the keys %v", key, c.Once)
		}
	}
	if again := s.hears(in); again != (bot.Answer{}) || len(s.Order) != 1 {
		t.Errorf("the same message again: %+v, %d runs", again, len(s.Order))
	}
}

// What a message does, by who says it and what lives in the thread.
func TestRouting(t *testing.T) {
	none, alive, over := "none", "live", "over"
	for _, tt := range []struct {
		in   string // what lives in the thread
		by   bot.Person
		act  bot.Act
		want string // run, trusted, untrusted, nothing, a control word, or part of the private answer
	}{
		{none, bottest.Requester, to("fix the build"), "run"},
		{none, bottest.Requester, say("fix the build"), "nothing"},
		{none, bottest.Requester, say("stop"), "nothing"},
		{none, bottest.Requester, to(""), "I am Deckhand"},
		{none, bottest.Requester, bot.Said{To: true, Files: []agent.Attachment{{ID: "F1"}}}, "I am Deckhand"},
		{none, bottest.Requester, to("stop"), "No run of yours is at work here"},
		{none, bottest.Requester, to("help"), "`stop`"},
		{none, bottest.Requester, to("HELP !"), "`help all`"},
		{none, bottest.Requester, bot.Said{Text: "fix it", Direct: true}, "run"},
		{none, bottest.Guest, to("fix the build"), "You may not start"},
		{none, bottest.Stranger, to("fix the build"), "run"},
		{none, bottest.Robot, to("fix the build"), "run"},
		{none, bot.Person{ID: "slack:B9", Bot: true}, to("fix the build"), "nothing"},
		{none, bot.Person{Full: true}, to("fix the build"), "nothing"},
		{none, bottest.Requester, to("plan a party"), "run"},
		{none, bottest.Requester, to("report on sales"), "run"},
		{none, bottest.Requester, to("approve the invoice 17"), "run"},
		{none, bottest.Requester, to("cancel my subscription"), "run"},
		{none, bottest.Requester, to("plan internationalise"), "run"},
		{none, bottest.Requester, to("run: fix the build"), "run"},
		{none, bottest.Requester, to("runs"), "no runs yet"},
		{none, bottest.Requester, to("report daily 9:00"), "Kept as `report-"},
		{none, bottest.Requester, to("memory"), "Nothing is remembered in this"},
		{none, bottest.Requester, to("remember to call the dentist"), "run"},
		{none, bottest.Requester, to(strings.Repeat("ä", maxGoal)), "run"},
		{none, bottest.Requester, to(strings.Repeat("ä", maxGoal+1)), "at most 40,000"},
		{none, bottest.Requester, to("a \x00\xff b"), "run"},
		{over, bottest.Requester, to("and now fix it"), "run"},
		{over, bottest.Requester, say("thanks all"), "nothing"},
		{over, bottest.Requester, say("cancel"), "nothing"},
		{over, bottest.Requester, to("pause"), "has ended"},
		{over, bottest.Requester, to("status"), "all counted"},
		{alive, bottest.Requester, say("also count the tests"), "trusted"},
		{alive, bottest.Requester, to("also count the tests"), "trusted"},
		{alive, bottest.Requester, to("steer also count the tests"), "trusted"},
		{alive, bottest.Operator, say("hurry"), "trusted"},
		{alive, bottest.Stranger, say("hurry"), "untrusted"},
		{alive, bottest.Stranger, to("hurry"), "untrusted"},
		{alive, bottest.Approver, say("hurry"), "untrusted"},
		{alive, bottest.Guest, say("hurry"), "untrusted"},
		{alive, bottest.Robot, say("hurry"), "untrusted"},
		{alive, bottest.Robot, to("stop"), "Only"},
		{alive, bottest.Requester, say("STOP!"), "pause"},
		{alive, bottest.Requester, say(" pause. "), "pause"},
		{alive, bottest.Requester, say("Resume"), "resume"},
		{alive, bottest.Operator, say("cancel…"), "cancel"},
		{alive, bottest.Requester, say("stop it please"), "pause"},
		{alive, bottest.Requester, say("Arrête, s’il te plaît !"), "pause"},
		{alive, bottest.Requester, say("mach bitte weiter"), "trusted"},
		{alive, bottest.Requester, say("bitte weiter"), "resume"},
		{alive, bottest.Requester, say("don't stop"), "trusted"},
		{alive, bottest.Requester, to("cancel it"), "trusted"},
		{alive, bottest.Stranger, say("stop"), "Only"},
		{alive, bottest.Stranger, say("status"), "run.watched"},
		{alive, bottest.Requester, say("status?"), "run.watched"},
		{alive, bottest.Requester, to("budget"), "of $5.00"},
		{alive, bottest.Requester, to("plan"), "There is no plan yet"},
		{alive, bottest.Requester, to("permissions"), "I ask before the first write"},
		{alive, bottest.Requester, say("plan"), "trusted"},
		{alive, bottest.Requester, to("approve"), "No open question here"},
		{alive, bottest.Requester, say("run the tests"), "trusted"},
		{alive, bottest.Requester, bot.Said{Files: []agent.Attachment{{ID: "F1", Name: "x"}}}, "trusted"},
		{alive, bottest.Requester, say(" "), "nothing"},
		{alive, bottest.Requester, bot.Stopped{}, "pause"},
		{alive, bottest.Stranger, bot.Stopped{}, "Only"},
		{none, bottest.Requester, bot.Stopped{}, "No run of yours is at work here"},
		{none, bottest.Requester, bot.Commanded{Text: "fix the build"}, "I do not know the command fix"},
		{none, bottest.Requester, bot.Commanded{Text: "run fix the build"}, "run"},
		{none, bottest.Requester, bot.Commanded{Text: " RUN  fix the build"}, "run"},
		{none, bottest.Guest, bot.Commanded{Text: "run fix the build"}, "You may not start"},
		{none, bottest.Guest, bot.Commanded{Text: "run"}, "You may not start"},
		{none, bottest.Requester, bot.Commanded{Text: ""}, "`help all`"},
		{none, bottest.Requester, bot.Commanded{Text: "schedule every day: x"}, "needs a time of day"},
		{alive, bottest.Requester, bot.Commanded{Text: "stop"}, "pause"},
		{alive, bottest.Requester, bot.Commanded{Text: "watch"}, "Say which run"},
		{alive, bottest.Stranger, bot.Commanded{Text: "watch abcdefghijklmnop"}, "no such run"},
		{alive, bottest.Requester, bot.Commanded{Text: "steer count the tests"}, "trusted"},
		{alive, bottest.Stranger, bot.Commanded{Text: "steer count the tests"}, "Only"},
		{alive, bottest.Requester, bot.Commanded{Text: "steer"}, "Say what I should know"},
		{alive, bottest.Requester, bot.Commanded{Text: "run fix the build"}, "run"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%.60v", tt.in, tt.by.ID, tt.act), func(t *testing.T) {
			s := opened(t)
			var old agent.RunID
			if tt.in != none {
				old, _ = s.live()
			}
			if tt.in == over {
				s.Happen(t, old, agent.Main, agent.Reported{Headline: "all counted"})
				s.Happen(t, old, agent.Main, agent.RunEnded{State: agent.RunDone})
			}
			before := len(s.Journals[old])
			in := s.event(tt.by, tt.act)
			a := s.hears(in)
			got := what(a, s.events2(old, before))
			if got != tt.want && !strings.Contains(answerOf(a), tt.want) {
				t.Errorf("%s: %+v", got, a)
			}
			if again := s.hears(in); again != (bot.Answer{}) || len(s.Journals[old]) > before+1 {
				t.Errorf("the second time: %+v", again)
			}
		})
	}
}

// answerOf is what an answer says to somebody.
func answerOf(a bot.Answer) string {
	if a.Public != nil {
		return bot.Markdown(*a.Public)
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
func what(a bot.Answer, written []agent.Body) string {
	switch {
	case a.Started:
		return "run"
	case len(written) == 0 && a == bot.Answer{}:
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
		by        bot.Person
		act       bot.Said
		want      string // decision or what() or part of the private answer
		text      string // of the decision
	}{
		{"a word", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, say("Approve"), agent.DecideApprove, ""},
		{"a word with a mention", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, to("approve!"), agent.DecideApprove, ""},
		{"a short word with a mention", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, to("ok"), agent.DecideApprove, ""},
		{"a short word among people", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, say("ok"), "Did you mean to decide", ""},
		{"a number with a mention", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, to("2"), agent.DecideDeny, ""},
		{"a denial", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, say("deny: too risky"), agent.DecideDeny, "too risky"},
		{"the button's words", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, say("Always in this run"), agent.DecideAlways, ""},
		{"an edit needs a form", []agent.CheckpointOpened{bottest.Approval}, bottest.Approver, say("edit"), "press Edit", ""},
		{"a stranger", []agent.CheckpointOpened{bottest.Approval}, bottest.Stranger, say("approve"), "untrusted", ""},
		{"a stranger with a mention", []agent.CheckpointOpened{bottest.Approval}, bottest.Stranger, to("approve"), "Only \ue000slack:U5\ue001 can decide this.", ""},
		{"the requester, who is no approver", []agent.CheckpointOpened{bottest.Approval}, bottest.Requester, say("approve"), "Only \ue000slack:U5\ue001 can decide this.", ""},
		{"more words than one", []agent.CheckpointOpened{bottest.Approval}, bottest.Requester, say("approve of nothing"), "trusted", ""},
		{"money", []agent.CheckpointOpened{bottest.Budget}, bottest.Approver, say("+25 %"), agent.DecideMore25, ""},
		{"stuck", []agent.CheckpointOpened{bottest.Stuck}, bottest.Requester, say("try again"), agent.DecideRetry, ""},
		{"stuck, and a hint", []agent.CheckpointOpened{bottest.Stuck}, bottest.Requester, say("use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint with a mention", []agent.CheckpointOpened{bottest.Stuck}, bottest.Operator, to("steer: use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint as steering", []agent.CheckpointOpened{bottest.Stuck}, bottest.Operator, to("steer use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint behind an approval", []agent.CheckpointOpened{bottest.Approval, bottest.Stuck}, bottest.Requester, say("use the other file"), agent.DecideRetry, "use the other file"},
		{"a hint of a stranger", []agent.CheckpointOpened{bottest.Stuck}, bottest.Stranger, say("use the other file"), "untrusted", ""},
		{"a slip of the pen", []agent.CheckpointOpened{bottest.Stuck}, bottest.Requester, say("cancle"), "Did you mean to decide", ""},
		{"agreement with nothing", []agent.CheckpointOpened{bottest.Stuck}, bottest.Requester, say("ok"), "Did you mean to decide", ""},
		{"agreement with a mention", []agent.CheckpointOpened{bottest.Stuck}, bottest.Requester, to("yes"), "Did you mean to decide", ""},
		{"cancel controls", []agent.CheckpointOpened{bottest.Stuck}, bottest.Requester, say("cancel"), "cancel", ""},
		{"a choice", []agent.CheckpointOpened{bottest.Clarify}, bottest.Requester, say("blue"), "Blue", ""},
		{"a choice's number", []agent.CheckpointOpened{colours}, bottest.Requester, say("2"), "Blue", ""},
		{"the number of no choice", []agent.CheckpointOpened{colours}, bottest.Requester, say("5"), agent.DecideAnswer, "5"},
		{"a number for several questions", []agent.CheckpointOpened{twoPoints}, bottest.Requester, say("3"), agent.DecideAnswer, "3"},
		{"a number behind an approval", []agent.CheckpointOpened{bottest.Approval, colours}, bottest.Requester, say("1"), "Red", ""},
		{"free text", []agent.CheckpointOpened{bottest.Clarify}, bottest.Requester, say("green, like grass"), agent.DecideAnswer, "green, like grass"},
		{"what looks like a command", []agent.CheckpointOpened{bottest.Clarify}, bottest.Requester, say("plan"), agent.DecideAnswer, "plan"},
		{"the word answer", []agent.CheckpointOpened{bottest.Clarify}, bottest.Requester, say("answer"), agent.DecideAnswer, "answer"},
		{"decide for me", []agent.CheckpointOpened{bottest.Clarify}, bottest.Operator, say("Decide for me."), agent.DecideForMe, ""},
		{"a stranger's answer", []agent.CheckpointOpened{bottest.Clarify}, bottest.Stranger, say("blue"), "untrusted", ""},
		{"approve behind a question", []agent.CheckpointOpened{bottest.Clarify, bottest.Approval}, bottest.Approver, say("approve"), agent.DecideApprove, ""},
		{"an answer in front of an approval", []agent.CheckpointOpened{bottest.Approval, bottest.Clarify}, bottest.Requester, say("blue"), "Blue", ""},
		{"one of two", []agent.CheckpointOpened{bottest.Approval, bottest.Planned}, bottest.Approver, say("approve"), "Which one do you mean?", ""},
		{"done", []agent.CheckpointOpened{bottest.Uncertain}, bottest.Approver, say("done"), agent.DecideDone, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := opened(t)
			run, _ := s.live(tt.questions...)
			before := len(s.Journals[run])
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
			if len(written) > 0 && tt.want != "untrusted" && a.Mark != bot.MarkNoted {
				t.Errorf("answer %+v, want a mark", a)
			}
		})
	}
}
