package chat

// This file holds the scenarios of who may start and approve: requesters,
// approvers, guests and bots, with four eyes and with a quorum; and of what lives
// in one place and is asked about in another: it is told to the asker alone, and
// to nobody who may not see it.

import (
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/audit"
)

// permissions are about who may do what.
var permissions = []scenario{
	{"authority/others may not approve", nil, nil, func(h *harness) {
		run, ask := h.begin()
		for _, w := range []Who{Ben, Gus, Eve} {
			h.click(w, ask, "Approve")
			h.told(w, 1)
		}
		h.click(Ben, ask, "Deny")
		h.told(Ben, 2)
		if _, open := h.Form(Ben); open {
			h.Errorf("Ben is asked for a reason of what he may not do")
		}
		h.waits(run)
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.decided(run, 1)
	}},
	{"authority/a guest may not start", nil, nil, func(h *harness) {
		h.Mention(Gus, h.Channel(), "Get the harbour ready")
		h.sees("Gus is answered", func() bool { return len(h.Whispers(Gus))+len(h.kinds(agent.PostAnswer)) > 0 })
		h.Mention(Eve, h.Channel(), "Get the harbour ready")
		h.sees("Eve is answered", func() bool { return len(h.Whispers(Eve)) > 0 || len(h.kinds(agent.PostAnswer)) > 1 })
		if n := len(h.runs()); n != 0 {
			h.Errorf("%d runs were started by guests", n)
		}
	}},
	{"authority/a guest's run", nil, func(h *harness) {
		h.rules.Authority.Start = []string{h.Principal(Gus)}
		h.rules.Authority.Approvers = []string{h.Principal(Ben)}
	}, func(h *harness) {
		h.Mention(Gus, h.Channel(), "Get the harbour ready")
		_, run := h.card(1)
		ask := h.asked(1)
		h.click(Gus, ask, "Approve")
		h.told(Gus, 1)
		h.waits(run)
		h.click(Ben, ask, "Approve")
		h.ends(run, agent.RunDone)
	}},
	{"authority/four eyes", nil, func(h *harness) {
		h.rules.Authority.RequesterMayApprove = false
		h.rules.Authority.Approvers = []string{h.Principal(Ann), h.Principal(Ben)}
	}, func(h *harness) {
		run, ask := h.begin()
		if got := strings.Join(ask.Pings, " "); got != h.Principal(Ben) {
			h.Errorf("the question notifies %s, want Ben alone", got)
		}
		h.click(Ann, ask, "Approve")
		h.told(Ann, 1)
		h.waits(run)
		h.click(Ben, ask, "Approve")
		h.ends(run, agent.RunDone)
	}},
	{"authority/quorum", nil, func(h *harness) {
		h.rules.Authority.Approvers = []string{h.Principal(Ben), h.Principal(Cleo)}
		h.rules.Authority.Quorum = 2
	}, func(h *harness) {
		run, ask := h.begin()
		h.click(Ben, ask, "Approve")
		h.sees("the question counts", func() bool { return strings.Contains(h.find(ask).Text, "1 of 2") })
		h.told(Ben, 1) // that another one is needed
		h.click(Ben, ask, "Approve")
		h.told(Ben, 2)
		h.waits(run)
		h.absent("berth.md")
		h.click(Cleo, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.file("berth.md", "ready\n")
	}},
	{"authority/a bot", nil, func(h *harness) {
		h.robots = []string{h.Principal(Robot)}
		h.rules.Authority.AllowBots = h.robots
	}, func(h *harness) {
		run, ask := h.begin()
		h.Mention(Robot, ask.Thread, "approve")
		h.Mention(Robot, ask.Thread, "please approve this")
		h.heard(run, Robot, "please approve this", false)
		h.waits(run)
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
	}},
	{"authority/a bot that is not allowed", harmless, nil, func(h *harness) {
		h.Mention(Robot, h.Channel(), "Get the harbour ready")
		h.Mention(Ann, h.Channel(), "Get the harbour ready")
		_, run := h.card(1)
		h.ends(run, agent.RunDone)
		if n := len(h.runs()); n != 1 {
			h.Errorf("%d runs, want Ann's alone", n)
		}
	}},
}

// audited is about what administrators see of their own decisions.
var audited = scenario{"authority/audit", nil, func(h *harness) {
	h.rules.Authority.Approvers = []string{h.Principal(Cleo)}
	h.rules.Authority.Admins = []string{h.Principal(Cleo), h.Principal(Ben)}
}, func(h *harness) {
	run, ask := h.begin()
	h.click(Cleo, ask, "Approve")
	h.ends(run, agent.RunDone)
	h.sealed(Cleo)
	for who, want := range map[Who]string{Cleo: "write_to_file", Ben: "no newer decision of yours", Ann: "Only the administrators"} {
		h.Mention(who, h.Channel(), "audit")
		h.sees(want, func() bool { return strings.Contains(strings.ReplaceAll(aloneRead(h, who), `\_`, "_"), want) })
	}
	for _, p := range h.Posts() {
		if !p.Private && strings.Contains(p.Text, "arguments ") {
			h.Errorf("everybody reads %s", p.Text)
		}
	}
}}

// sealed waits until a decision of the person stands in the audit chain.
func (h *harness) sealed(w Who) {
	h.Helper()
	ctx, cancel := h.bounded()
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		lines, err := audit.Decisions(ctx, h.store, h.Principal(w), 1)
		if err != nil {
			h.Fatal(err)
		}
		if len(lines) > 0 {
			return
		}
		<-tick.C
	}
}

// waits wants the run to wait for a decision still.
func (h *harness) waits(run agent.RunID) {
	h.Helper()
	if r := h.load(run); r.State() != agent.RunWaiting || r.OpenCheckpoint() == nil {
		h.Errorf("it is %s, and should wait for a decision\n%s", r.State(), h.scene())
	}
}

const secret = "look for another berth"

// privacies are about who hears of a run that lives elsewhere.
var privacies = []scenario{
	{"privacy/a direct run", harmless, nil, func(h *harness) {
		run := secretRun(h)
		for i, word := range []string{"status", "plan", "budget", "permissions"} {
			h.Mention(Ann, h.Channel(), word+" "+string(run))
			h.sees("Ann alone is told", func() bool { return aloneTold(h, Ann) > i })
		}
		h.Mention(Ben, h.Channel(), "status "+string(run))
		h.told(Ben, 1)
		if got := aloneRead(h, Ann); !strings.Contains(got, secret) {
			h.Errorf("Ann does not read what she asked for: %s", got)
		}
		secrecy(h)
		if got := strings.Join(h.Whispers(Ben), "\n"); strings.Contains(got, secret) {
			h.Errorf("Ben is told %s", got)
		}
	}},
	{"privacy/a private place", harmless, func(h *harness) { h.rules.Authority.Operators = []string{h.Principal(Cleo)} }, func(h *harness) {
		h.Mention(Ann, h.Hidden(), secret)
		card, run := h.card(1)
		h.ends(run, agent.RunDone)
		for i, word := range []string{"status", "plan", "budget", "permissions"} {
			h.Mention(Ann, h.Channel(), word+" "+string(run))
			h.sees("Ann alone is told", func() bool { return aloneTold(h, Ann) > i })
		}
		h.Mention(Ben, h.Channel(), "status "+string(run))
		h.told(Ben, 1)
		for _, p := range h.Posts() {
			if !p.Private && p.Thread.Place() != card.Thread.Place() && (strings.Contains(p.Text, secret) || p.Kind == agent.PostAnswer) {
				h.Errorf("everybody reads %s\n%s", p.Text, h.scene())
			}
		}
		if card.Thread.Place() == h.Channel().Place() {
			h.Errorf("the private place is the channel itself: %+v", card)
		}
		if got := strings.Join(h.Whispers(Ben), "\n"); strings.Contains(got, secret) {
			h.Errorf("Ben is told %s", got)
		}
	}},
	{"privacy/a list", harmless, nil, func(h *harness) {
		secretRun(h)
		h.Mention(Ann, h.Channel(), "runs")
		h.sees("Ann alone is told", func() bool { return strings.Contains(aloneRead(h, Ann), secret) })
		secrecy(h)
	}},
}

// secretRun lets Ann have something done in the conversation with the bot.
func secretRun(h *harness) agent.RunID {
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
func aloneTold(h *harness, w Who) int {
	direct := slices.DeleteFunc(h.kinds(agent.PostAnswer), func(p Post) bool { return !p.Private })
	return max(len(direct), len(h.Whispers(w)))
}

// aloneRead is what the person was told where nobody else reads it.
func aloneRead(h *harness, w Who) string {
	list := h.Whispers(w)
	for _, p := range h.kinds(agent.PostAnswer) {
		if p.Private {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n")
}

// secrecy wants nobody else to read of what lives in Ann's conversation.
func secrecy(h *harness) {
	h.Helper()
	for _, p := range h.Posts() {
		if !p.Private && (strings.Contains(p.Text, secret) || p.Kind == agent.PostAnswer && strings.Contains(p.Text, "6*7")) {
			h.Errorf("everybody reads %s\n%s", p.Text, h.scene())
		}
	}
}
