package policy

// The rules, in the order in which they count.

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/deckhand-bot/deckhand/agent"
)

// The words of grants: what one approval allows for the rest of the run.
const (
	// GrantWrites covers every write inside the workspace, never a delete.
	GrantWrites = "writes"
	// grantTool and a tool's name cover every call of that tool.
	grantTool = "tool:"
)

// GrantTool is the grant for every call of a tool ("always").
func GrantTool(name string) string { return grantTool + name }

// Default is the policy of a run without rules of its own.
type Default struct{}

// Version names the rules.
func (Default) Version() string { return "default-2" }

// Permit decides about a call: reads are free; then what was said yes to
// beforehand, what was granted since, and at last the run's autonomy decide.
// Suggest comes before all but reads: nothing makes a run that may only
// suggest change something. Commands are asked for each time, whatever was
// granted, since one says nothing about the next; only a yes to all covers them.
func (Default) Permit(r agent.Run, s agent.ToolSpec, _ json.RawMessage) agent.Permission {
	if s.Class == agent.ClassRead {
		return allow("reads")
	}
	if !slices.Contains([]agent.Class{agent.ClassWrite, agent.ClassDelete, agent.ClassSend, agent.ClassCommand}, s.Class) {
		return deny("unknown-class", fmt.Sprintf("%s has the unknown class %q, which no rule allows", s.Name, s.Class))
	}
	if r.Brief.Autonomy == agent.Suggest {
		return deny("autonomy.suggest", fmt.Sprintf("this run may only suggest: %s would change something. Describe what you would do instead, so that a person can do it", s.Name))
	}
	if word := yes(r.Brief.YesTo, s.Class); word != "" {
		return allow("yes-to." + word)
	}
	if s.Class != agent.ClassCommand && slices.Contains(r.Grants, GrantTool(s.Name)) {
		return allow("grant." + GrantTool(s.Name))
	}
	if s.Class == agent.ClassWrite && slices.Contains(r.Grants, GrantWrites) {
		return allow("grant." + GrantWrites)
	}
	return byAutonomy(r.Brief.Autonomy, s)
}

// yes is the word of --yes-to that covers the class, empty where none does.
func yes(to []string, c agent.Class) string {
	word := map[agent.Class]string{agent.ClassWrite: "writes", agent.ClassDelete: "deletes"}[c]
	if word != "" && slices.Contains(to, word) {
		return word
	}
	if slices.Contains(to, "all") {
		return "all"
	}
	return ""
}

func byAutonomy(a agent.Autonomy, s agent.ToolSpec) agent.Permission {
	switch a {
	case agent.AskEach:
		return ask("autonomy.ask-each", s, "")
	case agent.WithinBudget:
		if s.Class == agent.ClassWrite {
			return allow("autonomy.within-budget")
		}
		return ask("autonomy.within-budget", s, "")
	case agent.AskRisky, "":
		if s.Class == agent.ClassWrite {
			return ask("autonomy.ask-risky", s, GrantWrites)
		}
		return ask("autonomy.ask-risky", s, "")
	case agent.Suggest:
	}
	return deny("unknown-autonomy", fmt.Sprintf("the run's autonomy %q is unknown, so %s is not run; it must be suggest, ask-each, ask-risky or within-budget", a, s.Name))
}

func allow(rule string) agent.Permission {
	return agent.Permission{Verdict: agent.Allow, Rule: rule}
}

func deny(rule, reason string) agent.Permission {
	return agent.Permission{Verdict: agent.Deny, Rule: rule, Reason: reason}
}

func ask(rule string, s agent.ToolSpec, grant string) agent.Permission {
	return agent.Permission{Verdict: agent.Ask, Rule: rule, Risk: risk(s, grant), Grant: grant}
}

// risk says what could go wrong.
func risk(s agent.ToolSpec, grant string) string {
	switch s.Class {
	case agent.ClassWrite:
		if grant == GrantWrites {
			return "Changes files. Approving also covers all further writes of this run inside the workspace; deleting is asked for separately."
		}
		return "Changes files; what they held before is lost."
	case agent.ClassDelete:
		return "Deletes for good; it cannot be undone."
	case agent.ClassSend:
		if s.Repeat == agent.RepeatOnce {
			return "Leaves the workspace and cannot be taken back; after a crash nobody could tell whether it happened."
		}
		return "Leaves the workspace: others will see it."
	case agent.ClassCommand:
		return "Runs a command on the host with the rights of Deckhand: it can read, change and send whatever Deckhand can."
	case agent.ClassRead:
	}
	return ""
}
