package reach

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
	"github.com/deckhand-bot/deckhand/bot/runs"
)

// harbour is a store with runs in threads, and the places over it.
type harbour struct {
	*testing.T
	*bottest.Memory
	places *Places
	alerts []bot.Alert
}

func opened(t *testing.T) *harbour {
	t.Helper()
	h := &harbour{T: t, Memory: bottest.NewMemory()}
	h.places = &Places{Runs: &runs.Client{Journals: h}, Store: h, Log: slog.New(slog.DiscardHandler),
		Alert: func(_ context.Context, a bot.Alert) { h.alerts = append(h.alerts, a) }}
	return h
}

// live is a run in a thread, with a question that stands there.
func (h *harbour) live(thread, question string) agent.RunID {
	h.Helper()
	run, err := h.places.Runs.Start(h.Context(), agent.RunStarted{Goal: "count", Requester: "slack:U1", ReplyTo: thread})
	if err != nil {
		h.Fatal(err)
	}
	id := agent.CheckpointID(string(run) + "-1")
	h.Happen(h.T, run, agent.Main, agent.CheckpointOpened{ID: id, Ask: agent.CheckClarify, Questions: []agent.Question{{ID: "q"}}})
	h.Happen(h.T, run, agent.Voice, agent.ToolOutcome{Effect: agent.Post{Key: agent.KeyAsk(id)}.Effect(), State: agent.OutcomeOK,
		Text: agent.Shown{Message: question, Thread: thread}.Text()})
	return run
}

// woken are the wake-ups of a run: what became of which place.
func (h *harbour) woken(run agent.RunID) string {
	h.Helper()
	events, err := h.Read(h.Context(), run, 0)
	if err != nil {
		h.Fatal(err)
	}
	var list []string
	for _, e := range events {
		if c, is := e.Body.(agent.RunControlled); is {
			list = append(list, fmt.Sprint(c.Word, " ", c.Place, " ", c.Gone))
		}
	}
	return strings.Join(list, ", ")
}

func at(address string) bot.Address {
	a, err := bot.ParseAddress(address)
	if err != nil {
		panic(err)
	}
	return a
}

var errBarred = fmt.Errorf("not_in_channel: %w", bot.ErrBarred)

// The administrators hear of a place once until it takes posts again, and then
// the runs of that place go on.
func TestAwayAndBack(t *testing.T) {
	h := opened(t)
	here, there := h.live("slack:T1:C1:17.1", "slack:T1:C1:18"), h.live("slack:T1:C11:17.1", "slack:T1:C11:18")
	old := h.live("slack:T1:C1:9.1", "slack:T1:C1:9.2")
	h.Happen(t, old, agent.Main, agent.RunEnded{State: agent.RunDone}) // long ago
	if err := h.places.Back(t.Context(), at("slack:T1:C1")); err != nil || h.woken(here) != "" {
		t.Errorf("where nothing was away: %s, %v", h.woken(here), err)
	}
	for range 2 {
		h.places.Away(t.Context(), at("slack:T1:C1:17.1"), errBarred)
		h.places.Away(t.Context(), at("slack:T1:C1:9.1"), errBarred)
	}
	if len(h.alerts) != 1 || h.alerts[0].Kind != AlertPlace || !strings.Contains(h.alerts[0].Text, "Invite me") || !strings.Contains(h.alerts[0].Text, "not_in_channel") {
		t.Errorf("the administrators hear %+v", h.alerts)
	}
	for _, place := range []string{"slack:T1:C2", "slack:T2:C1", "slack:T1:C11"} {
		if err := h.places.Back(t.Context(), at(place)); err != nil || h.woken(here) != "" {
			t.Errorf("%s is back: %s, %v", place, h.woken(here), err)
		}
	}
	for range 2 {
		if err := h.places.Back(t.Context(), at("slack:T1:C1:17.1")); err != nil {
			t.Fatal(err)
		}
	}
	if h.woken(here) != "wake slack:T1:C1: false" || h.woken(there) != "" || h.woken(old) != "" {
		t.Errorf("woken are %q, %q and %q", h.woken(here), h.woken(there), h.woken(old))
	}
	h.places.Away(t.Context(), at("slack:T1:C1"), errBarred)
	if len(h.alerts) != 2 {
		t.Errorf("a second outage: %d alerts", len(h.alerts))
	}
}

// Where the bot is let into a server again, all of its channels are back.
func TestAWholeServerIsBack(t *testing.T) {
	h := opened(t)
	one, two, other := h.live("discord:1:5:50", "discord:1:50:51"), h.live("discord:1:6:60", "discord:1:60:61"), h.live("discord:11:7:70", "discord:11:70:71")
	for _, place := range []string{"discord:1:5", "discord:1:6", "discord:11:7"} {
		h.places.Away(t.Context(), at(place), errBarred)
	}
	if err := h.places.Back(t.Context(), bot.Address{Platform: "discord", Workspace: "1"}); err != nil {
		t.Fatal(err)
	}
	if h.woken(one) == "" || h.woken(two) == "" || h.woken(other) != "" {
		t.Errorf("woken are %q, %q and %q", h.woken(one), h.woken(two), h.woken(other))
	}
}

// A question is asked again whose message, thread or channel was deleted, once
// over all processes.
func TestGone(t *testing.T) {
	for _, tt := range []struct{ at, message, want string }{
		{"discord:1:5:50", "", "wake discord:1:5:50 true"},
		{"discord:1:5:50", "discord:1:50:51", "wake discord:1:50:51 true"},
		{"discord:1:5:50", "discord:1:50:52", ""},
		{"discord:1:5", "", "wake discord:1:5: true"},
		{"discord:1:5:5", "", ""},
		{"discord:1:50", "", ""},
	} {
		h := opened(t)
		run := h.live("discord:1:5:50", "discord:1:50:51")
		message := bot.Address{}
		if tt.message != "" {
			message = at(tt.message)
		}
		for range 2 {
			if err := h.places.Gone(t.Context(), at(tt.at), message); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.woken(run); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.at, tt.message, got, tt.want)
		}
		h.Happen(t, run, agent.Main, agent.RunEnded{State: agent.RunDone})
		before := h.Size()
		if err := h.places.Gone(t.Context(), at("discord:1:5"), bot.Address{}); err != nil || h.Size() != before {
			t.Errorf("after its end: %v", err)
		}
	}
}

// A store that is away is told to whoever asked, and nobody is told anything
// that is not known.
func TestTheStoreIsAway(t *testing.T) {
	h := opened(t)
	h.live("slack:T1:C1:17.1", "slack:T1:C1:18")
	h.Down = errors.New("away")
	h.places.Away(t.Context(), at("slack:T1:C1"), errBarred)
	back, gone := h.places.Back(t.Context(), at("slack:T1:C1")), h.places.Gone(t.Context(), at("slack:T1:C1:17.1"), bot.Address{})
	if len(h.alerts) > 0 || !errors.Is(back, h.Down) || !errors.Is(gone, h.Down) {
		t.Errorf("alerts %+v; %v, %v", h.alerts, back, gone)
	}
	h.Down = nil
	h.places.Away(t.Context(), at("slack:T1:C1"), errBarred)
	if since, err := time.Parse(time.RFC3339, h.Names["away/slack:T1:C1"]); err != nil || time.Since(since) > time.Minute {
		t.Errorf("it is noted since %s, %v", since, err)
	}
}
