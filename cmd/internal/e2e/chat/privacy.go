package chat

// This file holds the scenarios of what lives in one place and is asked about in
// another: it is told to the asker alone, and to nobody who may not see it.

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

const secret = "look for another berth"

// privacies are about who hears of a run that lives elsewhere.
var privacies = []scenario{
	{"privacy/a direct run", harmless, nil, func(h *harness) {
		run := h.secretly()
		for i, word := range []string{"status", "plan", "budget", "permissions"} {
			h.Mention(Ann, h.Channel(), word+" "+string(run))
			h.sees("Ann alone is told", func() bool { return h.aloneTold(Ann) > i })
		}
		h.Mention(Ben, h.Channel(), "status "+string(run))
		h.told(Ben, 1)
		if got := h.aloneRead(Ann); !strings.Contains(got, secret) {
			h.Errorf("Ann does not read what she asked for: %s", got)
		}
		h.secrecy()
		if got := strings.Join(h.Whispers(Ben), "\n"); strings.Contains(got, secret) {
			h.Errorf("Ben is told %s", got)
		}
	}},
	{"privacy/a list", harmless, nil, func(h *harness) {
		h.secretly()
		h.Mention(Ann, h.Channel(), "runs")
		h.sees("Ann alone is told", func() bool { return strings.Contains(h.aloneRead(Ann), secret) })
		h.secrecy()
	}},
}

// secretly lets Ann have something done in the conversation with the bot.
func (h *harness) secretly() agent.RunID {
	h.Helper()
	h.Direct(Ann, secret)
	card, run := h.card(1)
	if !card.Private {
		h.Fatalf("the card of a direct conversation stands elsewhere: %+v", card)
	}
	h.ends(run, agent.RunDone)
	return run
}

// aloneTold is how many answers the person got where nobody else reads them.
func (h *harness) aloneTold(w Who) int {
	direct := slices.DeleteFunc(h.kinds(agent.PostAnswer), func(p Post) bool { return !p.Private })
	return max(len(direct), len(h.Whispers(w)))
}

// aloneRead is what the person was told where nobody else reads it.
func (h *harness) aloneRead(w Who) string {
	list := h.Whispers(w)
	for _, p := range h.kinds(agent.PostAnswer) {
		if p.Private {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

// secrecy wants nobody else to read of what lives in Ann's conversation.
func (h *harness) secrecy() {
	h.Helper()
	for _, p := range h.Posts() {
		if !p.Private && (strings.Contains(p.Text, secret) || p.Kind == agent.PostAnswer && strings.Contains(p.Text, "6*7")) {
			h.Errorf("everybody reads %s\n%s", p.Text, h.scene())
		}
	}
}
