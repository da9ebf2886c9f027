package intake

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/recurring"
)

// A report on somebody's runs tells of those in direct conversations only
// there, and of those at every place of the platform.
func TestPrivateRunsInReports(t *testing.T) {
	s := scheduler(t)
	own := bot.Address{Platform: "slack", Workspace: "@me", Channel: "DU1", ID: "DU1"} // as where direct conversations are a workspace of their own
	secret := s.event(bottest.Requester, bot.Said{Text: "look for another job", Direct: true})
	secret.Where = own
	if a := s.hears(secret); !a.Started || !s.fold(a.Run).Brief.Direct {
		t.Fatalf("%+v", a)
	}
	s.begun(bottest.Requester, 1)
	s.begun(bottest.Stranger, 2)
	body := func(at bot.Address, direct bool, options string) string {
		in := s.event(bottest.Requester, bot.Commanded{Text: "report now " + options, Direct: direct})
		in.Where = at
		if a := s.hears(in); !strings.Contains(a.Private, "on its way") {
			t.Fatalf("%+v", a)
		}
		return s.fold(s.Order[len(s.Order)-1]).Report.Body
	}
	if text := body(own, true, ""); !strings.Contains(text, "another job") || !strings.Contains(text, "goal 1") || strings.Contains(text, "goal 2") {
		t.Errorf("alone:\n%s", text)
	}
	if text := body(bottest.Channel, false, "mine"); strings.Contains(text, "another job") || !strings.Contains(text, "in a private conversation") || !strings.Contains(text, "goal 1") {
		t.Errorf("in the channel:\n%s", text)
	}
	if text := body(bottest.Channel, false, ""); strings.Contains(text, "another job") || !strings.Contains(text, "goal 1") || !strings.Contains(text, "goal 2") {
		t.Errorf("about the channel:\n%s", text)
	}
}

// A goal that recurs in a direct conversation is as private as one that is
// given there.
func TestRecurringGoalsInPrivate(t *testing.T) {
	w := scheduler(t)
	w.desk.Authority.Admins = nil
	clock := recurring.NewClock(recurring.ClockConfig{Reporter: w.chat.cfg.Reporter, Recurring: recurring.Schedules{Store: w.Memory}, Brief: w.chat.cfg.Brief})
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for _, way := range []string{"a direct message", "a command"} {
		w.made(bottest.Requester, way, "schedule hourly: count")
	}
	for name := range w.Names {
		if strings.HasPrefix(name, recurring.NameServed) {
			delete(w.Names, name) // they count from the clock's first look
		}
	}
	clock.Serve(t.Context(), monday.Add(8*time.Hour+30*time.Minute))
	clock.Serve(t.Context(), monday.Add(9*time.Hour))
	direct := 0
	for _, run := range w.Order {
		r := w.fold(run)
		if r.Brief.Direct != strings.HasPrefix(r.Brief.ReplyTo, "slack:T1:D") {
			t.Errorf("the run at %s is private: %t", r.Brief.ReplyTo, r.Brief.Direct)
		}
		if r.Brief.Direct {
			direct++
		}
	}
	if len(w.Order) != 2 || direct != 1 {
		t.Errorf("%d runs, %d private", len(w.Order), direct)
	}
}

// An order that comes to several replicas at once makes one schedule, or one
// report, and one of them answers.
func TestOneOrderAtSeveralReplicas(t *testing.T) {
	for _, order := range []string{"report daily 9:00", "schedule daily 9:00: count", "report now"} {
		s := scheduler(t)
		in := s.event(bottest.Requester, to(order))
		answers := make([]bot.Answer, 4)
		var all sync.WaitGroup
		for i := range answers {
			replica := New(s.chat.cfg)
			all.Go(func() {
				a, err := replica.Receive(t.Context(), in)
				if err != nil {
					t.Error(err)
				}
				answers[i] = a
			})
		}
		all.Wait()
		said := 0
		for _, a := range answers {
			if a != (bot.Answer{}) {
				said++
			}
		}
		if n := len(s.schedules()) + len(s.Order); n != 1 || said != 1 {
			t.Errorf("%s: %d schedules and reports, %d answers", order, n, said)
		}
	}
}

// What is said under a report begins a run that knows it.
func TestAReplyUnderAReport(t *testing.T) {
	for _, tt := range []struct {
		name  string
		say   bot.Said
		where string
		runs  bool
	}{
		{"a mention in its thread", to("and who is late?"), "m1", true},
		{"words to others in its thread", say("thanks all"), "m1", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scheduler(t)
			s.live()
			s.hear(bottest.Requester, to("report now here"))
			run := s.Order[len(s.Order)-1]
			for _, p := range []agent.Post{{Key: agent.KeyCard, Kind: agent.PostScheduled}, {Key: agent.KeyReport, Kind: agent.PostScheduled}} {
				s.Happen(t, run, agent.Voice, p.Intent(time.Time{}))
				s.Happen(t, run, agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: agent.OutcomeOK,
					Text: agent.Shown{Message: "slack:T1:C1:m1", Thread: "slack:T1:C1:m1"}.Text()})
			}
			s.Names[agent.ThreadName("slack:T1:C1:m1")] = string(run)
			in := s.event(bottest.Stranger, tt.say)
			in.Where, in.Message = bottest.Channel.At(tt.where), bottest.Channel.At("m9")
			a := s.hears(in)
			if a.Started != tt.runs {
				t.Fatalf("answer %+v", a)
			}
			if !tt.runs {
				return
			}
			r := s.fold(a.Run)
			knows := fmt.Sprint(r.Said)
			if r.Brief.ReplyTo != "slack:T1:C1:m1" || !strings.Contains(knows, "count the lines") || !strings.Contains(knows, "Blocked") || !strings.Contains(knows, string(run)) {
				t.Errorf("it answers at %s and knows\n%s", r.Brief.ReplyTo, knows)
			}
			for _, said := range r.Said {
				if said.Trusted {
					t.Errorf("the report is trusted: %+v", said)
				}
			}
		})
	}
}
