package prompt

// This file tells a model, behind a call that failed, how that call differs from
// the one of the same tool that failed before it: what failed, and what was
// changed since.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/thought"
)

// Bounds of what is said of a failed call.
const (
	maxDiffering = 6   // arguments
	maxDiffer    = 80  // characters of a value
	maxName      = 40  // characters of its name
	lookBack     = 120 // entries
)

// differs is what is said behind the entry: empty unless it is a call that failed.
func differs(entries agent.History, at int) string {
	reply := entries.At(at).Reply
	if reply == nil || !reply.Failed {
		return ""
	}
	now, made := callOf(entries, at)
	if !made {
		return ""
	}
	for i := at - 1; i >= 0 && i > at-lookBack; i-- {
		before := entries.At(i).Reply
		if before == nil || before.Name != reply.Name {
			continue
		}
		if !before.Failed {
			break
		}
		earlier, made := callOf(entries, i)
		if !made {
			break
		}
		return compared(reply.Name, earlier, now)
	}
	return "That call failed. Before you call " + reply.Name + " again, say what has to be different, and change it."
}

// callOf is the call that the entry is the result of.
func callOf(entries agent.History, at int) (llm.Call, bool) {
	id := entries.At(at).Reply.Call
	for i := at - 1; i >= 0 && i > at-lookBack; i-- {
		if a := entries.At(i).Answer; a != nil {
			j := slices.IndexFunc(a.Calls, func(c llm.Call) bool { return c.ID == id })
			if j >= 0 {
				return a.Calls[j], true
			}
		}
	}
	return llm.Call{}, false
}

// compared says how a call differs from the one that failed before it.
func compared(name string, before, now llm.Call) string {
	old, fresh := argumentsOf(before), argumentsOf(now)
	names := map[string]bool{}
	for key := range old {
		names[key] = true
	}
	for key := range fresh {
		names[key] = true
	}
	var changed []string
	for _, key := range slices.Sorted(maps.Keys(names)) {
		a, b := old[key], fresh[key]
		if a == b {
			continue
		}
		changed = append(changed, fmt.Sprintf("- %s: %s → %s", format.LineStart(key, maxName), valued(a), valued(b)))
	}
	if len(changed) == 0 {
		return name + " failed twice in a row with the same arguments. Once more will fail again: change them, or take another way."
	}
	if more := len(changed) - maxDiffering; more > 0 {
		changed = append(changed[:maxDiffering], fmt.Sprintf("- and %d more", more))
	}
	return name + " failed twice in a row. What you changed in between, which was not enough:\n" + Frame(strings.Join(changed, "\n"), agent.Untrusted)
}

func valued(value string) string {
	if value == "" {
		return "(none)"
	}
	return format.LineStart(value, maxDiffer)
}

// argumentsOf are a call's arguments as texts, without its thought.
func argumentsOf(c llm.Call) map[string]string {
	rest, _ := thought.Take(json.RawMessage(c.Arguments), json.RawMessage("{}"))
	var all map[string]json.RawMessage
	if json.Unmarshal(rest, &all) != nil {
		return map[string]string{"arguments": c.Arguments}
	}
	texts := make(map[string]string, len(all))
	for key, value := range all {
		texts[key] = string(value)
	}
	return texts
}
