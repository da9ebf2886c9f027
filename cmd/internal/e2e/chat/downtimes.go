package chat

import (
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// expiry is short enough to be waited for, and long enough for the question to
// be put before it on a busy machine.
const expiry = 10 * time.Second

// downtimes are about what happens while nobody works.
var downtimes = []scenario{
	{"downtime/goal missed", harmless, nil, func(h *harness) {
		whileAway(h, func() { h.Mention(Ann, h.Channel(), "Get the lighthouse ready") })
		_, run := h.card(2)
		h.ends(run, agent.RunDone)
		h.Release(false) // and now the platform delivers it, too
		h.whole()
		if n := len(h.runs()); n != 2 {
			h.Errorf("%d runs, want 2\n%s", n, h.scene())
		}
	}},
	{"downtime/old goal", harmless, func(h *harness) { h.rules.CatchUp = time.Nanosecond }, func(h *harness) {
		whileAway(h, func() { h.Mention(Ann, h.Channel(), "Get the lighthouse ready") })
		ask := h.asked(1)
		h.card(2)
		if !strings.Contains(ask.Text, "away") {
			h.Errorf("an old goal is asked about with %s", ask.Text)
		}
		run := h.runs()[1]
		if r := h.load(run); r.Plans != 0 {
			h.Error("the old goal was begun before anybody said so")
		}
		h.click(Ann, ask, "Start now")
		h.ends(run, agent.RunDone)
	}},
	{"downtime/old goal forgotten", harmless, func(h *harness) { h.rules.CatchUp = time.Nanosecond }, func(h *harness) {
		whileAway(h, func() { h.Mention(Ann, h.Channel(), "Get the lighthouse ready") })
		ask := h.asked(1)
		run := h.runs()[1]
		h.click(Ann, ask, "Cancel")
		h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
		if r := h.load(run); r.Plans != 0 {
			h.Error("the old goal was worked on")
		}
	}},
	{"downtime/answer missed", unclear, nil, func(h *harness) {
		run, ask := askUnclear(h)
		h.leave()
		h.Hold()
		h.Mention(Ann, ask.Thread, "the one in the west")
		h.join()
		h.ends(run, agent.RunDone)
		h.Release(false)
	}},
	{"downtime/command", harmless, nil, func(h *harness) {
		h.leave()
		if err := h.Slash(Ann, "run Get the harbour ready"); err == nil {
			h.Error("a command was acknowledged that nobody took")
		}
		h.join()
		h.does("Ann gives a command", func() error { return h.Slash(Ann, "run Get the harbour ready") })
		_, run := h.card(1)
		h.ends(run, agent.RunDone)
		if n := len(h.runs()); n != 1 {
			h.Errorf("%d runs, want the one that Ann was told of\n%s", n, h.scene())
		}
	}},
	{"downtime/restart while it waits", nil, nil, func(h *harness) {
		run, ask := h.begin()
		h.leave()
		h.join()
		h.clicks(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.each(run, ask)
	}},
}

// whileAway lets a first run end, so that the channel is known, and lets people do
// something while nobody works that the platform does not deliver.
func whileAway(h *harness, meanwhile func()) {
	h.Helper()
	h.Mention(Ann, h.Channel(), "Get the harbour ready")
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	h.sees("every event is acknowledged", func() bool { return h.Owed() == 0 })
	h.leave()
	h.Hold()
	meanwhile()
	h.join()
}

// replicas are two processes on one Redis.
var replicas = []scenario{
	{"replicas/many runs", nil, distributed, func(h *harness) {
		h.join()
		h.Double(3)
		const many = 4
		for range many {
			h.Mention(Ann, h.Channel(), "Get the harbour ready")
		}
		h.sees("all questions are there", func() bool { return len(h.kinds(agent.PostCheckpoint)) == many })
		// All write one file: what was shown as new and is there by now is asked once
		// more.
		taken := map[bot.Address]bool{}
		fresh := func() []Post {
			return slices.DeleteFunc(decidable(h), func(p Post) bool { return taken[p.Message] })
		}
		for len(h.kinds(agent.PostReport)) < many {
			h.sees("all reports are there", func() bool { return len(fresh()) > 0 || len(h.kinds(agent.PostReport)) == many })
			for _, ask := range fresh() {
				taken[ask.Message] = true
				h.click(Ann, ask, "Approve")
			}
		}
		asked := 0
		for _, run := range h.runs() {
			r := h.ends(run, agent.RunDone)
			h.decided(run, len(r.Asked))
			asked += len(r.Asked)
		}
		if n := len(h.kinds(agent.PostCheckpoint)); n != asked || asked > 2*many-1 {
			h.Errorf("%d questions were posted, %d asked", n, asked)
		}
		if n := len(h.runs()); n != many {
			h.Errorf("%d runs, want %d", n, many)
		}
	}},
	{"replicas/commands", harmless, distributed, func(h *harness) {
		h.join()
		const many = 3
		for n := range many {
			h.does("Ann gives a command", func() error { return h.Slash(Ann, "run Get the harbour ready") })
			h.sees("the run is reported", func() bool { return len(h.kinds(agent.PostReport)) == n+1 })
		}
		h.whole()
		if n := len(h.runs()); n != many {
			h.Errorf("%d runs, want %d", n, many)
		}
		if told := h.Whispers(Ann); len(told) > 0 {
			h.Errorf("Ann is told %q\n%s", told, h.scene())
		}
	}},
	{"replicas/two clicks", nil, distributed, func(h *harness) {
		h.join()
		run, ask := h.begin()
		taken := make(chan error, 2)
		for _, label := range []string{"Approve", "Always in this run"} {
			if !named(ask.Buttons, label) {
				label = "Approve"
			}
			go func() { taken <- h.Click(Ann, ask.Message, label) }()
		}
		if a, b := <-taken, <-taken; a != nil && b != nil {
			h.Errorf("neither click was taken: %v, %v", a, b)
		}
		h.ends(run, agent.RunDone)
		h.decided(run, 1)
	}},
	{"replicas/one leaves", nil, distributed, func(h *harness) {
		h.join()
		run, ask := h.begin()
		gone := h.living[0]
		h.living = slices.Delete(h.living, 0, 1)
		h.end(gone)
		h.part()
		h.clicks(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.each(run, ask)
	}},
}
