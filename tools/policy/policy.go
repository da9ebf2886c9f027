package policy

// The rules, in the order in which they count.

import (
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

// version names the rules as far as what was approved under others is to be asked
// for again. A rule that asks more often than before changes nothing for a call
// that people were asked about.
const version = "default-2"

// effects are the classes that a rule knows, beside reads.
var effects = []agent.Class{agent.ClassCreate, agent.ClassWrite, agent.ClassDelete, agent.ClassSend, agent.ClassCommand}

// Permit decides about a call: reads are free; then what was said yes to
// beforehand, what was granted since, and at last the run's autonomy decide.
// Suggest comes before all but reads: nothing makes a run that may only
// suggest change something. Where the arguments came from comes before all that was
// said yes to but a yes to all: a stranger's text never acts alone. Commands, and files that make other programs act,
// are asked for each time, whatever was granted, since one says nothing about
// the next; only a yes to all covers them.
func (Default) Permit(r *agent.Run, a agent.Act) agent.Permission {
	p := permit(r, a)
	p.Version = version
	return p
}

func permit(r *agent.Run, a agent.Act) agent.Permission {
	all := slices.Contains(r.Brief.YesTo, "all")
	if a.Class == agent.ClassRead {
		if a.Taint.Exposed && !all {
			return askOnce("taint.exposed", "Carries private data out of a run that has read text of strangers.")
		}
		return allow("reads")
	}
	if !slices.Contains(effects, a.Class) {
		return deny("unknown-class", fmt.Sprintf("%s has the unknown class %q, which no rule allows", a.Tool.Name, a.Class))
	}
	if r.Brief.Autonomy == agent.Suggest {
		return deny("autonomy.suggest", fmt.Sprintf("this run may only suggest: %s would change something. Describe what you would do instead, so that a person can do it", a.Tool.Name))
	}
	if path := steering(a.Changes); path != "" && !all {
		return askOnce("steers", steersRisk(path))
	}
	if rule := tainted(a.Taint); rule != "" && !all {
		return askOnce(rule, taintRisk(rule, a))
	}
	if a.Class == agent.ClassCreate {
		return allow("creates")
	}
	if word := yes(r.Brief.YesTo, a.Class); word != "" {
		return allow("yes-to." + word)
	}
	return granted(r, a)
}

// tainted is the rule by which a call needs a person because of where its arguments
// came from; empty: none.
func tainted(t agent.Taint) string {
	switch {
	case t.Untrusted:
		return "taint.untrusted"
	case t.Exposed:
		return "taint.exposed"
	}
	return ""
}

// taintRisk says what could go wrong with a call whose arguments a stranger may
// have chosen.
func taintRisk(rule string, a agent.Act) string {
	why := "A stranger's text may have chosen this."
	if rule == "taint.exposed" {
		why = "This run holds private data and has read text of strangers."
	}
	if does := risk(a, ""); does != "" {
		return why + " " + does
	}
	return why + " It makes a file that nobody asked for by name."
}

// granted decides by what was allowed since the run began, and by its autonomy.
func granted(r *agent.Run, a agent.Act) agent.Permission {
	switch {
	case a.Class == agent.ClassCommand:
	case r.Granted(GrantTool(a.Tool.Name), version):
		return allow("grant." + GrantTool(a.Tool.Name))
	case a.Class == agent.ClassWrite && r.Granted(GrantWrites, version):
		return allow("grant." + GrantWrites)
	case a.Class == agent.ClassWrite && r.Brief.Autonomy != agent.AskEach && r.Covers(a.Changes, version):
		return allow("grant.plan") // the plan that people approved names these files
	case a.Class == agent.ClassWrite && a.Tool.Class == agent.ClassRead && own(r, a.Changes):
		return allow("own-files") // a picture that this run drew is drawn again
	}
	return byAutonomy(r.Brief.Autonomy, a)
}

// own reports whether the run made all of the files.
func own(r *agent.Run, paths []string) bool {
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p string) bool { return !slices.Contains(r.Touched, p) })
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

func byAutonomy(autonomy agent.Autonomy, a agent.Act) agent.Permission {
	switch autonomy {
	case agent.AskEach:
		return ask("autonomy.ask-each", a, "")
	case agent.WithinBudget:
		if a.Class == agent.ClassWrite {
			return allow("autonomy.within-budget")
		}
		return ask("autonomy.within-budget", a, "")
	case agent.AskRisky, "":
		if a.Class == agent.ClassWrite {
			return ask("autonomy.ask-risky", a, GrantWrites)
		}
		return ask("autonomy.ask-risky", a, "")
	case agent.Suggest:
	}
	return deny("unknown-autonomy", fmt.Sprintf("the run's autonomy %q is unknown, so %s is not run; it must be suggest, ask-each, ask-risky or within-budget", autonomy, a.Tool.Name))
}

func allow(rule string) agent.Permission {
	return agent.Permission{Verdict: agent.Allow, Rule: rule}
}

func deny(rule, reason string) agent.Permission {
	return agent.Permission{Verdict: agent.Deny, Rule: rule, Reason: reason}
}

func ask(rule string, a agent.Act, grant string) agent.Permission {
	return agent.Permission{Verdict: agent.Ask, Rule: rule, Risk: risk(a, grant), Grant: grant, Once: a.Class == agent.ClassCommand}
}

// askOnce asks for this call alone.
func askOnce(rule, risk string) agent.Permission {
	return agent.Permission{Verdict: agent.Ask, Rule: rule, Risk: risk, Once: true}
}

// risk says what could go wrong.
func risk(a agent.Act, grant string) string {
	switch a.Class {
	case agent.ClassWrite:
		if grant == GrantWrites {
			return "Changes files. Approving covers further writes in this run; deletes are always asked."
		}
		return "Changes files; what they held before is lost."
	case agent.ClassDelete:
		return "It cannot be undone."
	case agent.ClassSend:
		if a.Tool.Repeat == agent.RepeatOnce {
			return "Others will see it, and it cannot be taken back."
		}
		return "Others will see it."
	case agent.ClassCommand:
		return "Runs a command on the host with the rights of Deckhand: it can read, change and send whatever Deckhand can."
	case agent.ClassRead, agent.ClassCreate:
	}
	return ""
}
