package policy

// What a rule is, and whether it is about a call.

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// Rule is one rule of a policy: which calls it is about, and what becomes of them.
type Rule struct {
	Name        string
	Description string         // for people; empty: what the rule says is worded
	Tools       []string       // names, or patterns with *; empty: every tool
	Classes     []string       // classes of calls; empty: every class
	Given       string         // a fact of this package that must hold; empty: none
	When        string         // a CEL condition; empty: none
	Effect      agent.Verdict  // what becomes of the call
	Approvers   []string       // of ask: who may approve; empty: those of the run
	Quorum      int            // of ask: how many must; 0: as many as for the run
	Expires     time.Duration  // of ask: how long the question stays open; 0: as the run's others
	Grant       string         // of ask: what one yes covers: call, tool, rule (or writes)
	Always      bool           // of ask: people may allow all calls of the tool
	Risk        string         // of ask: what could go wrong, for people
	Reason      string         // of deny: what the model is told
	File        string         // that it stands in
	Line        int            // of the file, from 1
	condition   *condition     // of When; nil: none
	only        map[string]any // tools that the condition names, nil: it names none
}

// What one yes covers.
const (
	coversCall   = "call"   // this call alone
	coversTool   = "tool"   // the calls of this tool that the same rule asks for
	coversRule   = "rule"   // all that the same rule asks for
	coversWrites = "writes" // every write in the workspace (the shipped policies)
)

// classUnknown is a class that stands for all that no build knows.
const classUnknown = "unknown"

// classes are the words that a rule may name.
var classes = []string{string(agent.ClassRead), string(agent.ClassCreate), string(agent.ClassWrite), string(agent.ClassDelete),
	string(agent.ClassSend), string(agent.ClassCommand), classUnknown}

// about reports whether the rule is about calls of the tool and the class.
func (r *Rule) about(tool, class string) bool {
	return (len(r.Classes) == 0 || slices.Contains(r.Classes, class)) && r.aboutTool(tool)
}

func (r *Rule) aboutTool(tool string) bool {
	if r.only != nil {
		if _, named := r.only[tool]; !named {
			return false
		}
	}
	return len(r.Tools) == 0 || slices.ContainsFunc(r.Tools, func(p string) bool { return alike(p, tool) })
}

// alike reports whether a tool has the name, or fits the pattern.
func alike(pattern, name string) bool {
	if pattern == name {
		return true
	}
	fits, err := path.Match(pattern, name)
	return err == nil && fits
}

// named are the exact names of the tools that the rule is about, nil where it
// may be about others, too.
func (r *Rule) named() []string {
	if len(r.Tools) > 0 {
		if slices.ContainsFunc(r.Tools, func(p string) bool { return strings.ContainsAny(p, `*?[\`) }) {
			return nil
		}
		return r.Tools
	}
	var list []string
	for name := range r.only {
		list = append(list, name)
	}
	return list
}

// unconditional reports whether the rule is about every call of its tools and classes.
func (r *Rule) unconditional() bool { return r.Given == "" && r.When == "" }

// holds reports whether the rule is about the call, and what its name goes on
// with where that ends in a star. Whether a condition holds that cannot be worked
// out is for the rule's effect: nothing is allowed by it, and nothing goes past it.
func (r *Rule) holds(x *call) (detail string, is bool) {
	if r.Given != "" {
		if detail, is = facts[r.Given].holds(x); !is {
			return "", false
		}
	}
	if r.condition == nil {
		return detail, true
	}
	return detail, r.condition.holds(x, r.Effect)
}

// word is what an approval of the rule's question allows for the rest of the
// run, empty: nothing more.
func (r *Rule) word(tool string) string {
	switch r.Grant {
	case coversWrites:
		return GrantWrites
	case coversTool:
		return grantRule + r.Name + "/" + tool
	case coversRule:
		return grantRule + r.Name
	}
	return ""
}

// permission is the rule's word on the call.
func (r *Rule) permission(x *call, detail string) agent.Permission {
	p := agent.Permission{Verdict: r.Effect, Rule: strings.TrimSuffix(r.Name, "*") + detail, Version: x.version}
	switch r.Effect {
	case agent.Ask:
		if word := r.word(x.act.Tool.Name); strings.HasPrefix(word, grantRule) && x.run.Granted(word, x.version) {
			return agent.Permission{Verdict: agent.Allow, Rule: "grant." + word, Version: x.version}
		}
		p.Grant, p.Once = r.word(x.act.Tool.Name), !r.Always
		p.Approvers, p.Quorum, p.Expires = r.Approvers, r.Quorum, r.Expires
		if p.Risk = x.fill(r.Risk); p.Risk == "" {
			p.Risk = risk(x.act, p.Grant)
		}
		if p.Risk == "" {
			p.Risk = "The policy has it asked for (" + r.Name + ")."
		}
	case agent.Deny:
		if p.Reason = x.fill(r.Reason); p.Reason == "" {
			p.Reason = fmt.Sprintf("the rule %q of this installation does not allow this call", r.Name)
			if r.Description != "" {
				p.Reason += ": " + r.Description
			}
		}
	case agent.Allow:
	}
	return p
}

// Says is the rule in plain words.
func (r *Rule) Says() string {
	said := r.Description
	if said == "" {
		said = r.matcher()
	}
	switch r.Effect {
	case agent.Allow:
		said = "allowed: " + said
	case agent.Deny:
		said = "denied: " + said
	case agent.Ask:
		said = "asked: " + said
	}
	if r.Effect != agent.Ask {
		return said
	}
	if r.Quorum > 1 {
		said += fmt.Sprintf("; %d people must approve", r.Quorum)
	}
	if len(r.Approvers) > 0 {
		said += "; by " + strings.Join(r.Approvers, ", ")
	}
	if r.Expires > 0 {
		said += "; within " + r.Expires.String()
	}
	return said
}

// matcher says which calls the rule is about.
func (r *Rule) matcher() string {
	what := "every call"
	if len(r.Tools) > 0 {
		what = strings.Join(r.Tools, ", ")
	}
	if len(r.Classes) > 0 {
		what += " (" + strings.Join(r.Classes, ", ") + ")"
	}
	if r.When != "" {
		what += " where " + strings.Join(strings.Fields(r.When), " ")
	}
	return what
}
