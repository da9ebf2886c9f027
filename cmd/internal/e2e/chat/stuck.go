package chat

import (
	"regexp"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// wayOut is what a person tells a run that is stuck.
const wayOut = "multiply by eight, as Ben did"

// loopCalls is how often a model makes the same call until it is stopped.
const loopCalls = 4

// nativeDate is a moment in Slack's markup, which has braces of its own.
var nativeDate = regexp.MustCompile(`<!date\^[^>]*>`)

// wordlessExpiry leaves a busy machine time to post both the question and its
// reminder.
const wordlessExpiry = 20 * time.Second

// obstinate is a model that makes the same call until a person helps it.
func obstinate() *scriptedModel {
	m := endless()
	m.heeds = wayOut
	return m
}

// ladders are about runs that ask for a way out.
var ladders = []scenario{
	{"stuck/hint", obstinate, nil, func(h *harness) {
		run, ask := stuckRun(h)
		h.Mention(Ann, ask.Thread, wayOut)
		relieved(h, run, ask)
	}},
	{"stuck/word in the thread", obstinate, nil, func(h *harness) {
		run, ask := stuckRun(h)
		h.Say(Cleo, ask.Thread, "multiply by nine")
		h.heard(run, Cleo, "multiply by nine", false)
		if r := h.load(run); r.State() != agent.RunWaiting {
			h.Errorf("it is %s after somebody else's words", r.State())
		}
		h.Say(Ann, ask.Thread, wayOut)
		relieved(h, run, ask)
	}},
	{"stuck/buttons", obstinate, nil, func(h *harness) {
		run, ask := stuckRun(h)
		h.click(Ann, ask, "Try again")
		again := h.asked(2)
		h.closed(ask, "Try again")
		if n := len(h.model.requests(llm.Work)); n != 2*loopCalls {
			h.Errorf("asked again after %d calls of the model in all, want %d", n, 2*loopCalls)
		}
		h.click(Ann, again, "Skip")
		h.until(run, "the task is skipped", func(r agent.Run) bool {
			c, is := r.Checks[r.Asked[1]]
			return is && !c.Open() && c.Decision.Decision == agent.DecideSkip
		})
		last := h.asked(3) // about the same task in a new plan
		h.click(Ann, last, "Cancel")
		h.ends(run, agent.RunCancelled)
	}},
	{"stuck/operators", obstinate, patrolled, func(h *harness) {
		run, ask := stuckRun(h)
		reminder := reminded(h, ask)
		h.click(Ben, reminder, "Cancel")
		h.ends(run, agent.RunCancelled)
		h.closed(reminder, "Cancelled")
	}},
	{"stuck/nobody", obstinate, patrolled, func(h *harness) {
		run, ask := stuckRun(h)
		reminder := reminded(h, ask)
		r := h.ends(run, agent.RunFailed)
		h.closed(ask, "Expired")
		h.closed(reminder, "Expired")
		reports := h.kinds(agent.PostReport)
		if len(reports) != 1 || len(h.model.requests(llm.Report)) > 0 {
			h.Fatalf("%d reports; the model was asked for %d\n%s", len(reports), len(h.model.requests(llm.Report)), h.scene())
		}
		for _, want := range []string{"Finished early, since nobody answered in time", "0 of 1 task", "Stuck on “Tidy berth a”", "4 times", "Nobody said in time"} {
			if !strings.Contains(reports[0].Text, want) {
				h.Errorf("the report does not say %q: %s", want, reports[0].Text)
			}
		}
		if !strings.Contains(r.Ended.Reason, "Stuck on “Tidy berth a”") {
			h.Errorf("ended %+v", r.Ended)
		}
	}},
}

// patrolled is a place where Ben operates.
func patrolled(h *harness) {
	h.rules.Authority.Operators = []string{h.Principal(Ben)}
	h.rules.Expires = wordlessExpiry
}

// stuckRun starts a run as Ann does, and waits until it asks her, and nobody else,
// for a way out.
func stuckRun(h *harness) (agent.RunID, Post) {
	h.Helper()
	run, ask := h.begin()
	for _, want := range []string{"Try again", "Skip", "Cancel"} {
		if !named(ask.Buttons, want) {
			h.Errorf("there is no %q among %q", want, ask.Buttons)
		}
	}
	for _, want := range []string{"Stuck on “Tidy berth a”", "the same step 4 times", "What was tried", "calculator “6", "the answer was", "How shall I go on?", "write here what I should do differently"} {
		if !strings.Contains(ask.Text, want) {
			h.Errorf("the question does not say %q: %s", want, ask.Text)
		}
	}
	if strings.ContainsAny(nativeDate.ReplaceAllString(ask.Text, ""), "{}") || strings.Count(ask.Text, "calculator") != 1 {
		h.Errorf("the evidence is not plain, or stands there twice: %s", ask.Text)
	}
	if strings.Join(ask.Pings, " ") != h.Principal(Ann) {
		h.Errorf("the question notifies %q, want Ann alone", ask.Pings)
	}
	return run, ask
}

// relieved wants the run to go on with the way out, and to say who showed it.
func relieved(h *harness, run agent.RunID, ask Post) {
	h.Helper()
	r := h.ends(run, agent.RunDone)
	d := r.Checks[r.Asked[0]].Decision
	if d == nil || d.Decision != agent.DecideRetry || d.By != h.Principal(Ann) || d.Text != wayOut {
		h.Errorf("decided %+v", d)
	}
	works := h.model.requests(llm.Work)
	if len(works) != loopCalls+1 || !strings.Contains(read(works[len(works)-1]), wayOut) {
		h.Errorf("the model was asked %d times, the last time without the way out, or too often", len(works))
	}
	h.closed(ask, "Try again")
}

// reminded waits for the second message of the question, which asks Ben.
func reminded(h *harness, ask Post) Post {
	h.Helper()
	reminder := h.asked(2)
	if !strings.Contains(reminder.Text, "Still waiting") || !named(reminder.Buttons, "Try again") || reminder.Thread != ask.Thread {
		h.Errorf("the reminder is %+v", reminder)
	}
	if strings.Join(reminder.Pings, " ") != h.Principal(Ben) {
		h.Errorf("the reminder notifies %q, want Ben", reminder.Pings)
	}
	return reminder
}

// endless is a model that makes the same call for ever.
func endless() *scriptedModel {
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
