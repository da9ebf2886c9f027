package chat

// This file holds the scenarios in which requests, answers, connections or
// places get lost: each run must still end, with every post there once.

import (
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// faults are about what goes wrong between Deckhand and the platform.
var faults = []scenario{
	{"fault/answers lost", nil, nil, func(h *harness) {
		h.LoseAnswers(1)
		run, ask := h.begin()
		h.LoseAnswers(1)
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.each(run, ask)
	}},
	{"fault/requests lost", nil, nil, func(h *harness) {
		h.LoseRequests(2)
		run, ask := h.begin()
		h.LoseRequests(1)
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.each(run, ask)
	}},
	{"fault/answers to questions lost", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		h.LoseAnswers(1)
		h.Mention(Ann, card.Thread, "status")
		told := func() int { return h.answers(Ann) + len(h.kinds(agent.PostCard)) - 1 } // a message is answered with another card
		h.sees("it is answered", func() bool { return told() > 0 })
		release()
		h.ends(run, agent.RunDone)
		if n := told(); n != 1 {
			h.Errorf("%d answers\n%s", n, h.scene())
		}
	}},
	{"fault/busy", nil, nil, func(h *harness) {
		h.Busy(2, time.Second)
		run, ask := h.begin()
		h.Busy(1, time.Second)
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.each(run, ask)
	}},
	{"fault/connection cut", nil, nil, func(h *harness) {
		run, ask := h.begin()
		h.Unacknowledged(1)
		said := h.Mention(Ann, ask.Thread, "mind the paint")
		h.Drop()
		h.heard(run, Ann, "mind the paint", true)
		h.clicks(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.each(run, ask)
		h.sees("the words are marked", func() bool { return len(h.Marks(said)) == 1 })
	}},
	{"fault/replies reordered", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		h.Hold()
		h.Mention(Ann, card.Thread, "first the keel")
		h.Mention(Ann, card.Thread, "then the mast")
		h.Release(true)
		h.heard(run, Ann, "first the keel", true)
		h.heard(run, Ann, "then the mast", true)
		release()
		h.ends(run, agent.RunDone)
	}},
	{"fault/goal after its reply", harmless, nil, func(h *harness) {
		h.Hold()
		top := h.Mention(Ann, h.Channel(), "Get the harbour ready")
		h.Mention(Ann, top, "mind the paint")
		h.Release(true)
		_, run := h.card(1)
		h.ends(run, agent.RunDone)
		h.sees("every event is acknowledged", func() bool { return h.Owed() == 0 })
		goals := 0
		for _, id := range h.runs() {
			goals++
			h.until(id, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
		}
		if goals > 2 {
			h.Errorf("two messages started %d runs", goals)
		}
	}},
	{"fault/thread deleted", harmless, nil, func(h *harness) {
		card, run, release := h.busy()
		if err := breaker(h).Delete(card.Thread); err != nil {
			h.Fatal(err)
		}
		release()
		h.ends(run, agent.RunDone)
		if n := len(h.kinds(agent.PostReport)); n != 1 {
			h.Errorf("%d reports\n%s", n, h.scene())
		}
	}},
	{"fault/thread deleted with a question", nil, nil, func(h *harness) {
		run, ask := standing(h)
		if err := breaker(h).Delete(ask.Thread); err != nil {
			h.Fatal(err)
		}
		h.sees("the question can be decided", func() bool { return len(decidable(h)) == 1 })
		h.click(Ann, decidable(h)[0], "Approve")
		h.ends(run, agent.RunDone)
	}},
	{"fault/question deleted", nil, nil, func(h *harness) {
		run, ask := standing(h)
		if err := breaker(h).Delete(ask.Message); err != nil {
			h.Fatal(err)
		}
		h.sees("it is asked again", func() bool { return len(decidable(h)) == 1 && decidable(h)[0].Message != ask.Message })
		h.click(Ann, decidable(h)[0], "Approve")
		h.ends(run, agent.RunDone)
	}},
	{"fault/bot removed and let in again", nil, func(h *harness) { h.rules.Authority.Admins = []string{h.Principal(Cleo)} }, func(h *harness) {
		card, run, release := h.busy()
		breaker(h).Expel()
		release()
		direct := h.asked(1)
		if !direct.Private || !named(direct.Buttons, "Approve") {
			h.Errorf("meanwhile Ann is asked %+v", direct)
		}
		h.sees("Cleo, who administers, is told once", func() bool {
			return len(slices.DeleteFunc(h.Posts(), func(p Post) bool { return !p.Private || !strings.Contains(p.Text, "I may not write in") })) == 1
		})
		breaker(h).Readmit()
		again := h.asked(2)
		if again.Thread != card.Thread {
			h.Errorf("it is asked again %+v, the run lives in %s", again, card.Thread)
		}
		h.click(Ann, again, "Approve")
		h.ends(run, agent.RunDone)
		h.sees("the report is where it belongs", func() bool {
			list := h.kinds(agent.PostReport)
			return len(list) == 1 && list[0].Thread == card.Thread
		})
	}},
	{"fault/key refused", keyless, func(h *harness) { h.rules.Authority.Admins = []string{h.Principal(Cleo)} }, func(h *harness) {
		for n := 1; n <= 2; n++ {
			h.Mention(Ann, h.Channel(), "Get the harbour ready")
			h.card(n)
			h.sees("the card says what is wrong, and when the model is asked again", func() bool {
				text := h.kinds(agent.PostCard)[n-1].Text
				return strings.Contains(text, "does not take the key") && strings.Contains(text, "again at")
			})
		}
		told := func() []Post {
			return slices.DeleteFunc(h.Posts(), func(p Post) bool { return !p.Private || !strings.Contains(p.Text, "does not take the key") })
		}
		h.sees("Cleo is told", func() bool { return len(told()) > 0 })
		for n := range 2 {
			card := h.kinds(agent.PostCard)[n]
			h.Mention(Ann, card.Thread, "cancel")
		}
		for _, run := range h.runs() {
			h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
		}
		if list := told(); len(list) != 1 || !strings.Contains(list[0].Text, "doctor") {
			h.Errorf("Cleo is told %+v", list)
		}
		for _, p := range h.Posts() {
			if strings.Contains(p.Text, "host.example") {
				h.Errorf("a host is named in %s", p.Text)
			}
		}
	}},
	{"fault/model away", func() *scriptedModel {
		m := harmless()
		m.fault = &llm.Error{Fault: llm.Away, Status: 503, Tries: 1, Reached: true, Plain: "is overloaded (HTTP 503)", Message: "host.example:1234: overloaded"}
		return m
	}, nil, func(h *harness) {
		h.Mention(Ann, h.Channel(), "Get the harbour ready")
		h.card(1)
		h.sees("the card says why it waits", func() bool { return strings.Contains(h.kinds(agent.PostCard)[0].Text, "is overloaded") })
		for _, p := range h.Posts() {
			if strings.Contains(p.Text, "host.example") {
				h.Errorf("a host is named in %s", p.Text)
			}
		}
		h.Mention(Ann, h.kinds(agent.PostCard)[0].Thread, "cancel")
		h.ends(h.runs()[0], agent.RunCancelled)
	}},
	{"fault/channel archived", harmless, nil, func(h *harness) { breaksPlace(h, func(w Breaker) { w.Archive() }) }},
	{"fault/bot removed", harmless, nil, func(h *harness) { breaksPlace(h, func(w Breaker) { w.Expel() }) }},
}

// lengthyFaults take a minute, which is how long an upload may be on its way:
// they belong to the long form.
var lengthyFaults = []scenario{
	{"fault/uploads lost", func() *scriptedModel {
		m := harbour()
		m.artifacts = []string{"berth.md"}
		return m
	}, nil, func(h *harness) {
		run, ask := h.begin()
		h.LoseAnswers(1)
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		h.each(run, ask)
		if got := filesOf(h.Posts(), "berth.md"); len(got) != 1 {
			h.Errorf("the file was uploaded %d times\n%s", len(got), h.scene())
		}
	}},
}

// each wants one card, one question and one report.
func (h *harness) each(run agent.RunID, ask Post) {
	h.Helper()
	for kind, want := range map[agent.PostKind]int{agent.PostCard: 1, agent.PostCheckpoint: 1, agent.PostReport: 1} {
		if n := len(h.kinds(kind)); n != want {
			h.Errorf("%d posts of kind %s, want %d\n%s", n, kind, want, h.scene())
		}
	}
	h.decided(run, 1)
	h.closed(ask, "Approve")
}

// keyless is a model whose endpoint refuses the key.
func keyless() *scriptedModel {
	m := harbour()
	m.fault = &llm.Error{Fault: llm.Unauthorised, Status: 401, Tries: 1, Reached: true, Plain: "does not take the key (HTTP 401)",
		Message: "host.example:1234: no such key; check OPENAI_API_KEY"}
	return m
}

// standing begins a run, and waits until it is journalled where its question stands.
func standing(h *harness) (agent.RunID, Post) {
	h.Helper()
	run, ask := h.begin()
	h.until(run, "it is journalled where the question stands", func(r agent.Run) bool { return agent.AsksAt(r, ask.Message.String()) })
	return run, ask
}

// decidable are the questions that can be decided.
func decidable(h *harness) []Post {
	return slices.DeleteFunc(h.kinds(agent.PostCheckpoint), func(p Post) bool { return !named(p.Buttons, "Approve") })
}

func breaker(h *harness) Breaker {
	h.Helper()
	w, is := h.Server.(Breaker)
	if !is {
		h.Fatal("this platform cannot break its places")
	}
	return w
}

// breaksPlace breaks the run's place in the middle of its work: the requester gets
// the report directly.
func breaksPlace(h *harness, wreck func(Breaker)) {
	h.Helper()
	_, run, release := h.busy()
	h.broken = true
	wreck(breaker(h))
	release()
	h.ends(run, agent.RunDone)
	report := h.kinds(agent.PostReport)
	if len(report) != 1 || !report[0].Private {
		h.Errorf("the report, which Ann alone can get: %+v\n%s", report, h.scene())
	}
}
