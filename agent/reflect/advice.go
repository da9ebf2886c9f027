package reflect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// Note is what the model is told of a finding: what happened, and what to do
// instead. The message quotes arguments and results, which may come from
// anywhere: frame marks it as data.
func Note(f agent.Finding, frame func(text string) string) string {
	return "You may be stuck. " + f.Rule + ": " + frame(f.Message) + "\n" + Advice(f.Rule)
}

// Advice is what the model should do instead of what the rule found.
func Advice(rule string) string {
	switch rule {
	case agent.RuleSameResult, agent.RuleRepetition:
		return "The same call will give the same result. Use what you know already, or try another way; if there is none, say so with fail_task."
	case agent.RuleSameError:
		return "The same call will fail again. Read the error, change the arguments or the tool; if neither helps, say so with fail_task."
	case agent.RuleCycle:
		return "You go round in a circle. Say what you want to find out, and choose a call that you have not made yet."
	case agent.RuleMonologue:
		return "Words alone do nothing. Call a function: act, ask_human, or end the task."
	case agent.RuleChant:
		return "Your answer repeated itself and was cut off. Answer again, shorter, by calling a function."
	case agent.RulePolling:
		return "Nothing has changed for a long time. Wait longer between looks, do other work first, or report that it does not come."
	case agent.RulePlanLevel:
		return "The plan does not get any closer to its end. Make a plan that is different, with fewer and smaller tasks."
	}
	return "Look at what you did and choose another way."
}

// Question is what a person is told of the stops among the findings, of which
// there is at least one: why the work stopped, in a few words, and what was
// tried, a line for each. The lines are plain text and hold what others wrote.
func Question(found []agent.Finding) (why string, tried []string) {
	var told []agent.Finding
	for _, f := range found {
		if f.Severity != Stop || slices.ContainsFunc(told, func(o agent.Finding) bool { return within(f.Events, o.Events) || within(o.Events, f.Events) }) {
			continue
		}
		told = append(told, f)
		head, rest, more := strings.Cut(f.Message, ": ")
		switch {
		case why != "":
			tried = append(tried, f.Message)
		case more:
			why, tried = head, append(tried, rest)
		default:
			why = head
		}
	}
	return why, tried
}

// within reports whether all of the events are among the others: the same
// streak, seen by another rule.
func within(events, others []uint64) bool {
	return len(events) > 0 && !slices.ContainsFunc(events, func(n uint64) bool { return !slices.Contains(others, n) })
}

// Numbers writes event numbers for people: 1, 3, 5 … 41 (12).
func Numbers(events []uint64) string {
	const most = 8
	var parts []string
	for i, n := range events {
		if len(events) > most && i == most-1 {
			return strings.Join(parts, ", ") + fmt.Sprintf(" … %d (%d)", events[len(events)-1], len(events))
		}
		parts = append(parts, strconv.FormatUint(n, 10))
	}
	return strings.Join(parts, ", ")
}
