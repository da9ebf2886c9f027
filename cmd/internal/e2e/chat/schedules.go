package chat

// This file holds the scenarios of recurring reports and goals: people manage
// them by message and by command, and each turn comes once, even with two
// replicas.

import (
	"regexp"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// schedules are about what comes again and again.
var schedules = []scenario{
	{"schedule/report by message", harmless, nil, func(h *harness) { manageReports(h, spoken(h)) }},
	{"schedule/report by command", harmless, nil, func(h *harness) { manageReports(h, typed(h)) }},
	{"schedule/goal by message", harmless, nil, func(h *harness) { manageGoals(h, spoken(h)) }},
	{"schedule/goal by command", harmless, nil, func(h *harness) { manageGoals(h, typed(h)) }},
	{"schedule/understood", understands(map[string]any{"when": "every weekday at 9:00", "zone": "Europe/Berlin", "goal": "Sag mir, welche Schiffe da sind"}), nil, understood},
	{"schedule/understood for one time", understands(map[string]any{"when": "tomorrow at 9:00", "goal": "Say which ships came in"}), nil, understoodOnce},
	{"schedule/a goal stays one", harmless, nil, staysGoal},
	{"schedule/paused by an administrator", harmless, func(h *harness) {
		tides(h)
		h.rules.Authority.Operators, h.rules.Authority.Admins = nil, []string{h.Principal(Cleo)}
	}, pausedFixed},
	{"schedule/turns", harmless, tides, turns},
	{"schedule/turns of two replicas", harmless, func(h *harness) {
		distributed(h)
		tides(h)
	}, func(h *harness) {
		h.join()
		turns(h)
	}},
}

// tides are a goal and a report of the configuration that come every other second.
func tides(h *harness) {
	fixed := config.Schedule{When: "@every 2s", Zone: "UTC", To: h.Channel().String(), Quiet: true, Missed: "skip"}
	goal, report := fixed, fixed
	goal.Name, goal.Goal, goal.Overlap = "tide", "Get the harbour ready", string(recurring.OverlapSkip)
	report.Name, report.Report = "log", string(recurring.OfChannel)
	h.rules.Schedules = []config.Schedule{goal, report}
	h.rules.Authority.Operators = []string{h.Principal(Ann)}
}

// desk is how Ann gives orders, and what she is answered, the oldest first.
type desk struct {
	give    func(text string)
	answers func() []string
}

// spoken orders are messages, and are answered in the thread.
func spoken(h *harness) desk {
	return desk{
		func(text string) { h.Mention(Ann, h.Channel(), text) },
		func() (list []string) {
			for _, p := range h.kinds(agent.PostAnswer) {
				list = append(list, p.Text)
			}
			return list
		},
	}
}

// typed orders are commands, and are answered to Ann alone.
func typed(h *harness) desk {
	return desk{
		func(text string) { h.does("Ann gives a command", func() error { return h.Slash(Ann, text) }) },
		func() []string { return h.Whispers(Ann) },
	}
}

// order gives an order and waits for an answer with all of the parts.
func order(h *harness, o desk, text string, parts ...string) (answer string) {
	h.Helper()
	before := len(o.answers())
	o.give(text)
	h.sees("Ann is answered "+strings.Join(parts, " … "), func() bool {
		for _, answer = range o.answers()[before:] {
			missing := false
			for _, part := range parts {
				missing = missing || !strings.Contains(answer, part)
			}
			if !missing {
				return true
			}
		}
		return false
	})
	return answer
}

var scheduleName = regexp.MustCompile(`(report|goal)-[a-z2-7]{5}`)

// manageReports makes a report, and does everything with it that can be done.
func manageReports(h *harness, o desk) {
	h.Helper()
	name := scheduleName.FindString(order(h, o, "report every weekday 9:00 Europe/Berlin #general always", "Kept as", "Every weekday at 9:00 (Europe/Berlin)", "a report here", "Next: "))
	order(h, o, "report list", name, "Every weekday at 9:00")
	order(h, o, "report change "+name+" daily 10:00 UTC", "Kept as", "Every day at 10:00 (UTC)")
	order(h, o, "report pause "+name, "Paused", name)
	order(h, o, "report resume "+name, name, "goes on")
	h.does("Ben gives a command", func() error { return h.Slash(Ben, "report remove "+name) })
	h.sees("Ben is told that he may not", func() bool { return strings.Contains(strings.Join(h.Whispers(Ben), "\n"), "Only its owner") })
	order(h, o, "report remove "+name, "Removed", name)
	order(h, o, "report list", "Nothing is scheduled here")
	o.give("report now")
	awaitReports(h, 1)
}

// awaitReports waits for the n-th report on the platform: a headline in the channel
// itself, and below it what it says.
func awaitReports(h *harness, n int) {
	h.Helper()
	h.sees("a report is posted", func() bool {
		heads, bodies := 0, 0
		for _, p := range h.kinds(agent.PostScheduled) {
			switch {
			case p.Thread.Channel != h.Channel().Channel:
				h.Fatalf("it stands elsewhere: %+v", p)
			case p.Thread.ID == "" || p.Thread.ID == p.Message.ID:
				heads++
			case strings.Contains(p.Text, "Done"):
				bodies++
			}
		}
		return heads >= n && bodies >= n
	})
}

// understands is a model that takes what it is told for a schedule.
func understands(args map[string]any) func() *scriptedModel {
	return func() *scriptedModel { return &scriptedModel{first: []toolCall{{"schedule", args}}} }
}

// understood is a schedule in plain words, in another language: what was
// understood is shown with the next times, can be changed and taken back, and
// costs no more than the question that every goal costs.
func understood(h *harness) {
	h.Mention(Ann, h.Channel(), "Sag mir bitte jeden Werktag in der Früh, welche Schiffe da sind")
	_, run := h.card(1)
	r := h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
	if calls := len(h.model.requests(llm.Intake)); calls != 1 || r.Ended.State != agent.RunDone {
		h.Errorf("%s after %d calls", r.Ended.State, calls)
	}
	var card Post
	h.sees("what was understood is shown", func() bool {
		card, _ = h.card(1)
		return strings.Contains(card.Text, "Every weekday at 9:00 (Europe/Berlin)") && strings.Contains(card.Text, "welche Schiffe da sind") &&
			strings.Contains(card.Text, "Next: ") && named(card.Buttons, "Undo") && named(card.Buttons, "Change")
	})
	name := scheduleName.FindString(card.Text)
	order(h, typed(h), "schedule list", name, "Every weekday at 9:00 (Europe/Berlin)")
	h.click(Ben, card, "Undo")
	h.sees("Ben is told that he may not", func() bool { return strings.Contains(strings.Join(h.Whispers(Ben), "\n"), "Only its owner") })
	h.form(Ann, card, "Change", func([]string) map[string]string { return map[string]string{"when": "every weekday at 10:00"} })
	h.sees("the card says what it is now", func() bool {
		card = h.find(card)
		return strings.Contains(card.Text, "Every weekday at 10:00 (Europe/Berlin)") && named(card.Buttons, "Undo")
	})
	order(h, typed(h), "schedule list", name, "Every weekday at 10:00 (Europe/Berlin)")
	h.click(Ann, card, "Undo")
	h.sees("the card says so and has no buttons", func() bool {
		card = h.find(card)
		return strings.Contains(card.Text, "Undone by") && len(card.Buttons) == 0
	})
	order(h, typed(h), "schedule list", "Nothing is scheduled here")
}

// understoodOnce is something for one time.
func understoodOnce(h *harness) {
	h.Mention(Ann, h.Channel(), "tomorrow at 9: say which ships came in")
	_, run := h.card(1)
	h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
	h.sees("what was understood is shown", func() bool {
		card, _ := h.card(1)
		return strings.Contains(card.Text, "Say which ships came in") && strings.Contains(card.Text, "Once") && named(card.Buttons, "Undo")
	})
	order(h, typed(h), "schedule list", "Say which ships came in", "Once, on ")
}

// staysGoal is a goal in which a word of reports and of time stands.
func staysGoal(h *harness) {
	h.Mention(Ann, h.Channel(), "report at the end what changed")
	_, run := h.card(1)
	h.ends(run, agent.RunDone)
	order(h, typed(h), "report list", "Nothing is scheduled here")
}

// manageGoals makes a goal that recurs, and does everything with it that can be done.
func manageGoals(h *harness, o desk) {
	h.Helper()
	name := scheduleName.FindString(order(h, o, "schedule @every 60s: Get the harbour ready", "Kept as", "Get the harbour ready"))
	order(h, o, "schedule list", name, "Get the harbour ready")
	order(h, o, "schedule change "+name+" daily 10:00 UTC queue: Sweep the harbour", "Kept as", "Sweep the harbour", "Every day at 10:00 (UTC)")
	order(h, o, "schedule pause "+name, "Paused", name)
	order(h, o, "schedule resume "+name, name, "goes on")
	order(h, o, "schedule remove "+name, "Removed", name)
	order(h, o, "schedule list", "Nothing is scheduled here")
	if n := len(h.runs()); n != 0 {
		h.Errorf("%d runs began before their turn", n)
	}
}

// pausedFixed lets an administrator pause what stands in the configuration: it stays
// so after a restart.
func pausedFixed(h *harness) {
	h.Helper()
	h.does("Ben gives a command", func() error { return h.Slash(Ben, "report pause log") })
	h.sees("Ben is told that he may not", func() bool { return strings.Contains(strings.Join(h.Whispers(Ben), "\n"), "Only operators") })
	for i, command := range []string{"report pause log", "schedule pause tide"} {
		h.does("Cleo gives a command", func() error { return h.Slash(Cleo, command) })
		h.sees("it is paused", func() bool {
			list := h.Whispers(Cleo)
			return len(list) == i+1 && strings.Contains(list[i], "Paused")
		})
	}
	h.leave()
	h.join()
	h.does("Cleo looks", func() error { return h.Slash(Cleo, "report list") })
	h.sees("it is still paused", func() bool {
		list := h.Whispers(Cleo)
		return len(list) == 3 && strings.Contains(list[2], "log") && strings.Contains(list[2], "Paused")
	})
}

// turns lets a goal and a report of the configuration come several times.
func turns(h *harness) {
	var recurring []agent.RunID
	h.sees("the goal came twice", func() bool {
		recurring = nil
		for _, run := range h.runs() {
			if r := h.load(run); r.Brief.Tick != nil && r.Brief.Tick.Schedule == "tide" && r.Brief.Goal == "Get the harbour ready" {
				recurring = append(recurring, run)
			}
		}
		return len(recurring) > 1
	})
	for _, run := range recurring[:2] {
		h.ends(run, agent.RunDone)
		if n := len(h.kinds(agent.PostReport)); n == 0 {
			h.Errorf("%s has no report\n%s", run, h.scene())
		}
	}
	awaitReports(h, 1)
	order(h, typed(h), "schedule pause tide", "Paused")
	order(h, typed(h), "report pause log", "Paused")
	seen := map[string]agent.RunID{}
	for _, run := range h.runs() {
		r := h.until(run, "it has ended", func(r agent.Run) bool { return r.Ended != nil })
		turn := r.Brief.Tick.Schedule + r.Brief.Tick.At.UTC().String()
		if other, twice := seen[turn]; twice {
			h.Errorf("%s and %s are of the same turn", run, other)
		}
		seen[turn] = run
	}
}
