package intake

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/card"
)

// library is a platform that only remembers what was said in threads, and whom
// to talk to directly.
type library struct {
	bot.Platform
	lines []bot.Line
	err   error
	hang  bool
	asked int
}

func (*library) Name() string { return "slack" }

func (l *library) History(ctx context.Context, _ bot.Address, limit int) ([]bot.Line, error) {
	l.asked = limit
	if l.hang {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return l.lines, l.err
}

func (*library) Direct(_ context.Context, principal string) (bot.Address, error) {
	return bot.Address{Platform: "slack", Workspace: "T1", Channel: "D" + strings.TrimPrefix(principal, "slack:"), ID: ""}, nil
}

func knowing(l *library) func(c *Config) {
	return func(c *Config) { c.Platforms = []bot.Platform{l} }
}

// A mention in a thread brings along what was said there; none of it is trusted.
func TestHistory(t *testing.T) {
	l := &library{lines: []bot.Line{
		{By: "slack:U2", At: bottest.Noon, Text: "the build is red\nsince monday"},
		{By: "slack:U3", At: bottest.Noon.Add(time.Minute), Text: strings.Repeat("x", bounds.Words+1)},
		{By: "slack:U2", At: bottest.Noon.Add(time.Minute)},
		{By: bottest.Requester.ID, At: bottest.Noon.Add(time.Hour), Text: "fix it"},
	}}
	s := opened(t, knowing(l))
	in := s.event(bottest.Requester, to("fix it"))
	in.At = bottest.Noon.Add(time.Hour)
	a := s.hears(in)
	want := []agent.Body{
		agent.PersonSaid{By: "slack:U2", Text: "Said in the thread before the goal:\n> the build is red\n> since monday"},
		agent.PersonSaid{By: "slack:U3", Text: "Said in the thread before the goal:\n> " + strings.Repeat("x", bounds.Words) + "\n> [shortened]"},
	}
	if diff := cmp.Diff(want, s.events(a.Run, 1)); diff != "" || l.asked != maxHistory {
		t.Errorf("%d lines were asked for\n%s", l.asked, diff)
	}
	l.asked = 0
	in = s.event(bottest.Requester, to("fix that"))
	in.Where = bottest.Channel.At("18.1")
	in.Message = in.Where
	if a := s.hears(in); len(s.events(a.Run, 1)) > 0 || l.asked != 0 {
		t.Error("the beginning of a thread has a history")
	}
}

// A history that fails or hangs is noted, and keeps nobody waiting.
func TestHistoryFails(t *testing.T) {
	for name, l := range map[string]*library{"fails": {err: errors.New("ratelimited")}, "hangs": {hang: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t, knowing(l))
				begun := time.Now()
				a := s.hear(bottest.Requester, to("fix it"))
				said := s.events(a.Run, 1)
				if took := time.Since(begun); took > historyTime || len(said) != 1 {
					t.Fatalf("after %s: %+v", took, said)
				}
				if b, is := said[0].(agent.PersonSaid); !is || b.By != agent.Deckhand || !b.Trusted || strings.Contains(b.Text, "ratelimited") {
					t.Errorf("the model is told %+v", said[0])
				}
			})
		})
	}
}

// After a run's end the thread goes on with a run of its own, which knows what
// the last one was about.
func TestFollowUp(t *testing.T) {
	s := opened(t, knowing(&library{err: errors.New("is not asked")}))
	first, _ := s.live()
	s.Happen(t, first, agent.Main, agent.Reported{Headline: "12 lines", Body: "12 lines\nin 2 files", Artifacts: agent.Texts{"out.csv"}})
	a := s.hear(bottest.Stranger, to("and the tests?")) // it reported, and its last event is on its way
	if !a.Started || a.Run == first {
		t.Fatalf("answer %+v", a)
	}
	want := []agent.Body{
		agent.PersonSaid{By: bottest.Requester.ID, Text: "An earlier goal in this thread (run " + string(first) + "):\n> count the lines"},
		agent.PersonSaid{By: agent.Deckhand, Text: "What was reported about it:\n> 12 lines\n> 12 lines\n> in 2 files\n> Files: out.csv"},
	}
	if diff := cmp.Diff(want, s.events(a.Run, 1)); diff != "" {
		t.Error(diff)
	}
	r := s.fold(a.Run)
	if r.Brief.Requester != bottest.Stranger.ID || s.Names[agent.ThreadName(bottest.Thread.String())] != string(a.Run) || r.Strands.Len() != 2 {
		t.Errorf("run %+v", r.Brief)
	}
	s.hear(bottest.Stranger, say("all of them"))
	if got := s.events(a.Run, 3); len(got) != 1 {
		t.Errorf("the new run was told %+v", got)
	}
}

// Whoever makes somebody's message a goal is its requester; the author is named.
func TestQuotedGoal(t *testing.T) {
	s := opened(t)
	live, _ := s.live()
	a := s.hear(bottest.Requester, bot.Said{Text: "stop", To: true, Quote: "slack:U2"})
	r := s.fold(a.Run)
	if !a.Started || a.Run == live || r.Brief.Goal != "stop" {
		t.Errorf("goal %q, answer %+v", r.Brief.Goal, a)
	}
	if want := []agent.Body{agent.PersonSaid{By: agent.Deckhand, Trusted: true, Text: "The goal is a message of slack:U2; " + bottest.Requester.ID + " made it a goal."}}; !cmp.Equal(want, s.events(a.Run, 1)) {
		t.Error(cmp.Diff(want, s.events(a.Run, 1)))
	}
	if r.Brief.ReplyTo != bottest.Channel.String() || s.Names[agent.ThreadName(bottest.Thread.String())] != string(live) {
		t.Error("the thread of a live run was given to another")
	}
	if a := s.hear(bottest.Requester, bot.Said{To: true, Quote: "slack:U2"}); a.Started || a.Private == "" {
		t.Errorf("an empty message as goal: %+v", a)
	}
}

// A goal that is older than the catch-up age waits for a person's word.
func TestMissedGoals(t *testing.T) {
	for _, tt := range []struct {
		age   time.Duration
		said  []bot.Act
		state string // cancelled, open, going
	}{
		{23 * time.Hour, nil, "going"},
		{25 * time.Hour, nil, "open"},
		{25 * time.Hour, []bot.Act{say("Start now")}, "going"},
		{25 * time.Hour, []bot.Act{say("1")}, "going"},
		{25 * time.Hour, []bot.Act{say("2")}, "cancelled"},
		{25 * time.Hour, []bot.Act{to("no")}, "cancelled"},
		{25 * time.Hour, []bot.Act{to("deny")}, "cancelled"},
		{25 * time.Hour, []bot.Act{say("I don't think so")}, "open"},
		{25 * time.Hour, []bot.Act{say("decide for me")}, "open"},
		{25 * time.Hour, []bot.Act{say("cancel")}, "cancelled"},
		{25 * time.Hour, []bot.Act{bot.Pressed{Button: bot.Button{Act: bot.ActDecide, Word: "1"}}}, "going"},
		{25 * time.Hour, []bot.Act{bot.Pressed{Button: bot.Button{Act: bot.ActDecide, Word: "2"}}}, "cancelled"},
		{25 * time.Hour, []bot.Act{bot.Pressed{Button: bot.Button{Act: bot.ActDecide, Word: card.WordOther}}}, "open"},
	} {
		t.Run(fmt.Sprint(tt.age, tt.said), func(t *testing.T) {
			s := opened(t)
			in := s.event(bottest.Requester, to("count the lines"))
			in.Missed, in.At = true, time.Now().Add(-tt.age)
			a := s.hears(in)
			for _, id := range s.fold(a.Run).Asked {
				s.put(id)
			}
			for _, act := range tt.said {
				if p, is := act.(bot.Pressed); is {
					p.Button.ID = string(s.fold(a.Run).Asked[0])
					act = p
				}
				s.hear(bottest.Requester, act)
			}
			r := s.fold(a.Run)
			got := "going"
			switch {
			case r.Cancelled != nil:
				got = "cancelled"
			case r.OpenCheckpoint() != nil:
				got = "open"
			}
			if got != tt.state || (got == "going") != (len(r.Next(agent.Main).Steps) > 0 && r.Cancelled == nil) {
				t.Errorf("the run is %s, next %+v", got, r.Next(agent.Main))
			}
		})
	}
}

// Two replicas hear two goals in one thread at once: one run, and the other
// words steer it or are kept as a stranger's.
func TestRacingGoals(t *testing.T) {
	s := opened(t)
	other := New(s.chat.cfg)
	var all sync.WaitGroup
	started := make([]bool, 8)
	for i := range started {
		chat := []*Chat{s.chat, other}[i%2]
		in := s.event(bottest.Requester, to(fmt.Sprint("goal ", i)))
		all.Go(func() {
			a, err := chat.Receive(t.Context(), in)
			if err != nil {
				t.Error(err)
			}
			started[i] = a.Started
		})
	}
	all.Wait()
	n := 0
	for _, is := range started {
		if is {
			n++
		}
	}
	if n != 1 || len(s.Order) != 1 || s.Size() != len(started) {
		t.Errorf("%d runs, %d events", len(s.Order), s.Size())
	}
}

// A run that ends while something is said to it: the words become the next goal.
func TestEndWhileSpeaking(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	s.Before = func() { s.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone}) }
	if a := s.hear(bottest.Requester, to("and the tests")); !a.Started || a.Run == run {
		t.Errorf("answer %+v", a)
	}
}

func TestPlaces(t *testing.T) {
	s := opened(t, knowing(&library{}))
	in := s.event(bottest.Requester, bot.Commanded{Text: "run count the lines"})
	in.Where = bottest.Channel
	a := s.hears(in)
	if b := s.fold(a.Run).Brief; b.ReplyTo != "slack:T1:C1:" || b.Folder != "slack-C1" || len(s.Names) != 0 {
		t.Errorf("from a command: %+v, names %v", b, s.Names)
	}
	in = s.event(bottest.Requester, bot.Filled{Form: bot.FormRun, Values: map[string]string{bot.FieldGoal: "count"}})
	in.Where = bot.Address{}
	if b := s.fold(s.hears(in).Run).Brief; b.ReplyTo != "slack:T1:DU1:" {
		t.Errorf("from the bot's own page: %+v", b)
	}
	in = s.event(bottest.Requester, bot.Filled{Form: bot.FormRun + " slack:T1:C2:", Values: map[string]string{bot.FieldGoal: "count"}})
	in.Where = bot.Address{}
	if b := s.fold(s.hears(in).Run).Brief; b.ReplyTo != "slack:T1:C2:" {
		t.Errorf("from a form of a channel: %+v", b)
	}
	in = s.event(bottest.Requester, to("count"))
	in.Where = bot.Address{Platform: "slack", Workspace: "T1", Channel: "CLOSED", ID: "1"}
	if a := s.hears(in); a.Started || !strings.Contains(a.Private, "no price") || !strings.Contains(s.log.String(), "level=ERROR") {
		t.Errorf("where no run can start: %+v", a)
	}
	homeless := opened(t)
	in = homeless.event(bottest.Requester, bot.Filled{Form: bot.FormRun, Values: map[string]string{bot.FieldGoal: "count"}})
	in.Where = bot.Address{}
	if a := homeless.hears(in); a.Started || a.Private == "" {
		t.Errorf("nowhere: %+v", a)
	}
}

func TestFormForGoals(t *testing.T) {
	for _, tt := range []struct {
		name   string
		by     bot.Person
		values map[string]string
		want   func(b *agent.RunStarted) // nil: refused
	}{
		{"goal alone", bottest.Requester, nil, func(b *agent.RunStarted) { b.Zone = "UTC" }},
		{"dollars", bottest.Requester, map[string]string{"budget": " $2.50"}, func(b *agent.RunStarted) { b.Limits.USD = 2_500_000_000 }},
		{"limits", bottest.Requester, map[string]string{"budget": "usd=1, tokens=1000,time=10m,steps=5"}, func(b *agent.RunStarted) {
			b.Limits = agent.Limits{USD: agent.Dollar, Tokens: 1000, Time: 10 * time.Minute, Steps: 5}
		}},
		{"deadline", bottest.Requester, map[string]string{"deadline": "1h 30m"}, func(b *agent.RunStarted) { b.Limits.Time = 90 * time.Minute }},
		{"less autonomy", bottest.Requester, map[string]string{"autonomy": "suggest"}, func(b *agent.RunStarted) { b.Autonomy = agent.Suggest }},
		{"an approver", bottest.Requester, map[string]string{"approvers": bottest.Approver.ID}, func(b *agent.RunStarted) { b.Approvers = []string{bottest.Approver.ID} }},
		{"the operator may", bottest.Operator, map[string]string{"budget": "9", "autonomy": "within-budget", "approvers": "slack:U2"}, func(b *agent.RunStarted) {
			b.Limits.USD, b.Autonomy, b.Approvers = 9*agent.Dollar, agent.WithinBudget, []string{"slack:U2"}
		}},
		{"more money", bottest.Requester, map[string]string{"budget": "6"}, nil},
		{"more autonomy", bottest.Requester, map[string]string{"autonomy": "within-budget"}, nil},
		{"another autonomy", bottest.Requester, map[string]string{"autonomy": "yolo"}, nil},
		{"an approver of one's own", bottest.Requester, map[string]string{"approvers": "slack:U5 slack:U1"}, nil},
		{"no amount", bottest.Requester, map[string]string{"budget": "much"}, nil},
		{"no money", bottest.Requester, map[string]string{"budget": "0"}, nil},
		{"less than no money", bottest.Requester, map[string]string{"budget": "-5"}, nil},
		{"another limit", bottest.Requester, map[string]string{"budget": "beer=2"}, nil},
		{"no time", bottest.Requester, map[string]string{"deadline": "tomorrow"}, nil},
		{"no goal", bottest.Requester, map[string]string{"goal": " "}, nil},
		{"a guest", bottest.Guest, nil, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := opened(t)
			values := map[string]string{"goal": "count"}
			maps.Copy(values, tt.values)
			in := s.event(tt.by, bot.Filled{Form: bot.FormRun, Values: values})
			in.Where = bottest.Channel
			a := s.hears(in)
			if tt.want == nil {
				if a.Started || a.Private == "" {
					t.Errorf("answer %+v", a)
				}
				return
			}
			want := agent.RunStarted{Goal: "count", Requester: tt.by.ID, ReplyTo: bottest.Channel.String(), Folder: "slack-C1",
				Limits: agent.Limits{USD: 5 * agent.Dollar}, Autonomy: agent.AskRisky, Slots: 4}
			tt.want(&want)
			if diff := cmp.Diff(want, s.fold(a.Run).Brief); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whom a requester may name as approver where the configuration names nobody.
func TestNameable(t *testing.T) {
	b := agent.RunStarted{}
	for _, tt := range []struct {
		a    authority.Authority
		who  string
		want bool
	}{
		{authority.Authority{RequesterMayApprove: true}, "slack:U2", true},
		{authority.Authority{}, "slack:U2", false},
		{authority.Authority{Operators: []string{"slack:U7"}}, "slack:U7", true},
		{authority.Authority{Approvers: []string{"U5"}, RequesterMayApprove: true}, "slack:U2", false},
		{authority.Authority{Approvers: []string{"U5"}}, "slack:U5", true},
	} {
		if got := nameable(b, tt.a, tt.who); got != tt.want {
			t.Errorf("%+v: %s nameable: %v", tt.a, tt.who, got)
		}
	}
}

// Two bots do not talk for ever.
func TestBotsInARow(t *testing.T) {
	s := opened(t)
	run, _ := s.live()
	before := len(s.Journals[run])
	for range maxBots + 3 {
		s.hear(bottest.Robot, to("pong"))
	}
	if got := len(s.events(run, before)); got != maxBots {
		t.Errorf("%d messages of a bot were heard, want %d", got, maxBots)
	}
	s.hear(bottest.Stranger, say("hm"))
	s.hear(bottest.Robot, to("pong"))
	if got := len(s.events(run, before)); got != maxBots+2 {
		t.Errorf("%d events after a person spoke, want %d", got, maxBots+2)
	}
	top := opened(t)
	started := 0
	for i := range maxBots + 3 {
		in := top.event(bottest.Robot, to("alert"))
		in.Where = bottest.Channel.At(fmt.Sprintf("20.%d", i))
		in.Message = in.Where
		if top.hears(in).Started {
			started++
		}
	}
	if started != maxBots {
		t.Errorf("a bot started %d runs in a row, want %d", started, maxBots)
	}
}

// A budget in money that nobody could count is refused before anything starts.
func TestUnpricedBudget(t *testing.T) {
	s := opened(t, func(c *Config) {
		c.Unpriced = "The model has no price."
		c.Brief = func(string) (agent.RunStarted, error) { return agent.RunStarted{Slots: 4}, nil }
	})
	form := bot.Filled{Form: bot.FormRun, Values: map[string]string{bot.FieldGoal: "count the lines", bot.FieldBudget: "5"}}
	if a := s.hear(bottest.Requester, form); a.Started || !strings.HasPrefix(a.Private, "The model has no price.") {
		t.Errorf("US$ 5: %+v", a)
	}
	form.Values[bot.FieldBudget] = "tokens=1000"
	if a := s.hear(bottest.Requester, form); !a.Started {
		t.Errorf("1,000 tokens: %+v", a)
	}
}
