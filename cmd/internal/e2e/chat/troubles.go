package chat

import (
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// endless is a model that makes the same call for ever.
func endless() *play {
	m := harmless()
	m.endless = true
	return m
}

// troubles are about runs that cannot go on by themselves.
var troubles = []scenario{
	// The work takes six steps, and one more for each that a worker lost.
	{"trouble/budget", harmless, func(h *harness) { h.rules.Limits.Steps = 5 }, func(h *harness) {
		run, ask := h.begin()
		for _, want := range []string{"+25 %", "+100 %", "Finish with what you have", "Cancel"} {
			if !named(ask.Buttons, want) {
				h.Errorf("there is no %q among %q", want, ask.Buttons)
			}
		}
		h.click(Ben, ask, "+100 %")
		h.told(Ben, 1)
		h.waits(run)
		h.click(Ann, ask, "+100 %")
		h.ends(run, agent.RunDone)
		h.closed(ask, "+100 %")
	}},
	{"trouble/budget finished", harmless, func(h *harness) { h.rules.Limits.Steps = 2 }, func(h *harness) {
		run, ask := h.begin()
		h.click(Ann, ask, "Finish with what you have")
		h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
		h.sees("its end is told", func() bool { return len(h.kinds(agent.PostReport)) == 1 })
	}},
	{"trouble/stuck", endless, nil, func(h *harness) {
		run, ask := h.begin()
		if !named(ask.Buttons, "Try again") || !named(ask.Buttons, "Cancel") || !strings.Contains(ask.Text, "calculator") {
			h.Errorf("the ways out are %q, the evidence: %s", ask.Buttons, ask.Text)
		}
		if strings.Join(ask.Pings, " ") != h.Principal(Ann) {
			h.Errorf("the question notifies %q, want Ann", ask.Pings)
		}
		h.click(Ben, ask, "Try again")
		h.told(Ben, 1)
		h.click(Ann, ask, "Cancel")
		h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
	}},
	{"trouble/expired", nil, func(h *harness) { h.rules.Expires = expiry }, func(h *harness) {
		run, ask := h.begin()
		h.ends(run, agent.RunDone)
		h.absent("berth.md")
		h.closed(ask, "Expired")
		if n := len(h.kinds(agent.PostCheckpoint)); n > 2 {
			h.Errorf("%d messages about one question: itself and one reminder were due", n)
		}
		if err := h.Click(Ann, ask.Message, "Approve"); err == nil {
			h.Error("an expired question can still be clicked")
		}
	}},
}
