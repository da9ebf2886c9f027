package slacktest

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
)

func TestOutage(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	connect(t, s, nil)
	s.Outage(true)
	wait(t, s, "no socket is left", func() bool { return s.Connections() == 0 })
	if _, err := client(s).AuthTest(); err == nil {
		t.Error("the Web API answered during an outage")
	}
	s.Outage(false)
	if _, err := client(s).AuthTest(); err != nil {
		t.Errorf("after the outage: %v", err)
	}
}

func TestEventFaults(t *testing.T) {
	t.Parallel()
	s := open(t, Config{AckWithin: 500 * time.Millisecond}) // long enough for a busy machine
	events := connect(t, s, nil)
	text := func(m *slackevents.MessageEvent) string { return m.Text }

	s.FailEvents(1, EventFault{Twice: true})
	s.DM(Ann, "twice")
	a, b := next(t, events), next(t, events)
	if string(a.Request.Payload) != string(b.Request.Payload) || a.Request.EnvelopeID == b.Request.EnvelopeID {
		t.Errorf("a double is another event: %s, %s", a.Request.Payload, b.Request.Payload)
	}

	s.FailEvents(1, EventFault{After: 20 * time.Millisecond})
	s.DM(Ann, "late")
	s.DM(Ann, "early")
	if one, two := text(as[slackevents.MessageEvent](t, events)), text(as[slackevents.MessageEvent](t, events)); one != "early" || two != "late" {
		t.Errorf("got %q, then %q", one, two)
	}

	s.FailEvents(1, EventFault{LostAck: true})
	s.DM(Ann, "acknowledged in vain")
	next(t, events)
	if ev := next(t, events); ev.Request.RetryAttempt != 1 {
		t.Errorf("no redelivery: %+v", ev.Request)
	}

	s.HoldEvents()
	s.DM(Ann, "1")
	s.DM(Ann, "2")
	s.ReleaseEvents(true)
	if one, two := text(as[slackevents.MessageEvent](t, events)), text(as[slackevents.MessageEvent](t, events)); one != "2" || two != "1" {
		t.Errorf("got %q, then %q", one, two)
	}
}

func TestBotHearsItself(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	events := connect(t, s, nil)
	if _, _, err := client(s).PostMessage(General, slack.MsgOptionText("hello <@UBOT>", false)); err != nil {
		t.Fatal(err)
	}
	if m := as[slackevents.MessageEvent](t, events); m.BotID != Bot || m.User != BotUser || m.Text != "hello <@UBOT>" {
		t.Errorf("echo: %+v", m)
	}
	s.Say(Ann, General, "", "next")
	if m := as[slackevents.MessageEvent](t, events); m.Text != "next" {
		t.Errorf("the bot's own mention of itself is an event: %+v", m)
	}
}

// However the events are treated, each of them arrives in the end.
func TestChaosLosesNoEvent(t *testing.T) {
	t.Parallel()
	s := open(t, Config{
		AckWithin: 200 * time.Millisecond,
		// A busy machine takes long to connect again: what is given up meanwhile is lost.
		Redeliver: append([]time.Duration{time.Millisecond, 20 * time.Millisecond, 300 * time.Millisecond}, slices.Repeat([]time.Duration{time.Second}, 30)...),
		Chaos:     Chaos{Seed: 7, TwiceEvent: 0.2, LateEvent: 0.3, LostAck: 0.2, DropSocket: 0.05, Delay: 20 * time.Millisecond},
	})
	events := connect(t, s, nil)
	connect(t, s, nil)
	const sent = 50
	for i := range sent {
		s.DM(Ann, strconv.Itoa(i))
	}
	wait(t, s, "every event is acknowledged", func() bool {
		done := map[string]bool{}
		for _, d := range s.Deliveries() {
			if !d.Acked.IsZero() {
				done[d.EventID] = true
			}
		}
		return len(done) == sent
	})
	if n := len(s.Deliveries()); n <= sent {
		t.Errorf("%d deliveries of %d events: where is the chaos?", n, sent)
	}
	next(t, events)
}

func TestAnotherBotSpeaks(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	s.AddUser(User{ID: "U7", Name: "alerts", Bot: true, BotID: "B7"})
	events := connect(t, s, nil)
	s.Mention("U7", General, "", "disk is full")
	if m := as[slackevents.AppMentionEvent](t, events); m.BotID != "B7" || m.User != "U7" {
		t.Errorf("mention by a bot: %+v", m)
	}
	if m := as[slackevents.MessageEvent](t, events); m.BotID != "B7" {
		t.Errorf("message of a bot: %+v", m)
	}
}
