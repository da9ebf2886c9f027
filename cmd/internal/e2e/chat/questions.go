package chat

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// askUnclear is a model that asks before it plans.
func unclear() *scriptedModel {
	m := harmless()
	m.first = []toolCall{asks("Which berth do you mean?", "North", "South")}
	return m
}

// questions are about what the model wants to know.
var questions = []scenario{
	{"clarify/button", unclear, nil, func(h *harness) {
		run, ask := askUnclear(h)
		for _, want := range []string{"North", "South", "Other", "Decide for me"} {
			if !named(ask.Buttons, want) {
				h.Errorf("there is no %q among %q", want, ask.Buttons)
			}
		}
		h.click(Ann, ask, "South")
		clarified(h, run, "South")
	}},
	{"clarify/other", unclear, nil, func(h *harness) {
		run, ask := askUnclear(h)
		h.form(Ann, ask, "Other", first("the west quay"))
		clarified(h, run, "the west quay")
	}},
	{"clarify/decide for me", unclear, nil, func(h *harness) {
		run, ask := askUnclear(h)
		h.click(Ann, ask, "Decide for me")
		r := clarified(h, run, "")
		if d := r.Checks[r.Asked[0]].Decision; d == nil || d.Decision != agent.DecideForMe {
			h.Errorf("decided %+v", d)
		}
	}},
	{"clarify/free text", unclear, nil, func(h *harness) {
		run, ask := askUnclear(h)
		h.Say(Ann, ask.Thread, "the one in the west")
		clarified(h, run, "the one in the west")
	}},
	{"clarify/not by others", unclear, nil, func(h *harness) {
		run, ask := askUnclear(h)
		h.click(Ben, ask, "North")
		h.told(Ben, 1)
		h.Say(Ben, ask.Thread, "north, of course")
		h.heard(run, Ben, "north, of course", false)
		if r := h.load(run); r.State() != agent.RunWaiting {
			h.Errorf("it is %s after somebody else's answer", r.State())
		}
		h.click(Ann, ask, "South")
		clarified(h, run, "South")
	}},
	{"plan/approve", harmless, plans, func(h *harness) {
		run, ask := h.begin()
		if !strings.Contains(ask.Text, "Tidy berth a") {
			h.Errorf("the plan is not shown: %s", ask.Text)
		}
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
	}},
	{"plan/goals in other words", func() *scriptedModel {
		m := harmless()
		m.goals = []string{"Reduce our cloud costs", "Schlafende Maschinen abschalten"}
		return m
	}, plans, func(h *harness) {
		run, ask := h.begin()
		if !strings.Contains(ask.Text, "Please look") || !strings.Contains(ask.Text, "Schlafende Maschinen abschalten") || !named(ask.Buttons, "Approve") {
			h.Errorf("the doubt is not shown with the plan: %s", ask.Text)
		}
		h.click(Ann, ask, "Approve")
		h.ends(run, agent.RunDone)
		if n := len(h.model.requests(llm.Intake)) + len(h.model.requests(llm.Plan)); n != 1 {
			h.Errorf("the plan took %d calls", n)
		}
	}},
	{"plan/cancel", harmless, plans, func(h *harness) {
		run, ask := h.begin()
		h.click(Ann, ask, "Cancel")
		h.ends(run, agent.RunCancelled)
	}},
	{"plan/edit", harmless, plans, func(h *harness) {
		run, ask := h.begin()
		plan := *h.load(run).OpenCheckpoint().Plan
		plan.Tasks = slices.Clone(plan.Tasks)
		plan.Tasks[0].Title = "Paint berth a"
		text, err := json.Marshal(plan)
		if err != nil {
			h.Fatal(err)
		}
		h.form(Ann, ask, "Edit", first(string(text)))
		r := h.ends(run, agent.RunDone)
		if got := r.Plan.Tasks[0].Title; got != "Paint berth a" {
			h.Errorf("the plan that was worked has the task %q", got)
		}
	}},
}

func plans(h *harness) { h.rules.PlanApproval = agent.ApprovePlanAlways }

// begin mentions a goal as Ann does, and waits for the first question.
func (h *harness) begin() (agent.RunID, Post) {
	h.Helper()
	h.Mention(Ann, h.Channel(), "Get the harbour ready")
	_, run := h.card(1)
	return run, h.asked(1)
}

func askUnclear(h *harness) (agent.RunID, Post) {
	h.Helper()
	run, ask := h.begin()
	if !strings.Contains(ask.Text, "Which berth do you mean?") {
		h.Errorf("the question is not there: %s", ask.Text)
	}
	return run, ask
}

// clarified wants the run to go on with the answer, and the question to have
// been asked once.
func clarified(h *harness, run agent.RunID, answer string) agent.Run {
	h.Helper()
	r := h.ends(run, agent.RunDone)
	asked := h.model.requests(llm.Intake)
	if !strings.Contains(read(asked[len(asked)-1]), answer) {
		h.Errorf("the model was not told %q:\n%s", answer, read(asked[len(asked)-1]))
	}
	if n := len(h.kinds(agent.PostCheckpoint)); n != 1 {
		h.Errorf("%d questions were posted\n%s", n, h.scene())
	}
	return r
}

// told waits until the person was told something alone n times.
func (h *harness) told(w Who, n int) string {
	h.Helper()
	h.sees(string(w)+" is told alone", func() bool { return len(h.Whispers(w)) >= n })
	if list := h.Whispers(w); len(list) > n {
		h.Errorf("%s was told %d things alone, want %d: %q", w, len(list), n, list)
	}
	return h.Whispers(w)[n-1]
}

// heard waits until what the person said is in the journal.
func (h *harness) heard(run agent.RunID, w Who, text string, trusted bool) {
	h.Helper()
	h.journalled(run, string(w)+" said "+text, 1, func(b agent.Body) bool {
		said, is := b.(agent.PersonSaid)
		return is && said.By == h.Principal(w) && said.Text == text && said.Trusted == trusted
	})
}

// journalled waits until the journal has n entries of the sort.
func (h *harness) journalled(run agent.RunID, what string, n int, is func(agent.Body) bool) {
	h.Helper()
	have := 0
	h.until(run, what, func(agent.Run) bool {
		have = 0
		events, err := h.store.Read(h.Context(), run, 0)
		if err != nil {
			h.Fatal(err)
		}
		for _, e := range events {
			if is(e.Body) {
				have++
			}
		}
		return have >= n
	})
	if have > n {
		h.Errorf("%d times %s, want %d", have, what, n)
	}
}

// named says whether a label is there, perhaps after an emoji.
func named(labels []string, want string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return l == want || strings.HasSuffix(l, " "+want) })
}

// first fills the first field in.
func first(value string) func(fields []string) map[string]string {
	return func(fields []string) map[string]string { return map[string]string{fields[0]: value} }
}
