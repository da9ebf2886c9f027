package policy

// What can be wrong between the rules of a file: names that mean two rules,
// contradictions, and rules that can never count.

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// judge complains about rules that make no sense beside each other.
func (r *reader) judge() {
	if r.shipped {
		return
	}
	for i, b := range r.file.Rules {
		if b.condition != nil && b.condition.constant != nil { // one that always holds has none any more
			r.fail(b.Line, "rule %q never matches: its condition is always false", b.Name)
			continue
		}
		for j, a := range r.file.Rules {
			if j < i && a.Name == b.Name {
				r.fail(b.Line, "rule %q: the rule in line %d has the same name", b.Name, a.Line)
			}
			if i != j && r.clash(a, b, j < i) {
				break
			}
		}
	}
}

// clash complains about b where a is against it, or leaves nothing for it. Before
// says that a stands before b.
func (r *reader) clash(a, b *Rule, before bool) bool {
	switch {
	case same(a, b):
		if before && a.Effect != b.Effect {
			r.fail(b.Line, "rule %q contradicts rule %q in line %d: the same calls, another effect (%s and %s)", b.Name, a.Name, a.Line, b.Effect, a.Effect)
		} else if before {
			r.fail(b.Line, "rule %q never matches: rule %q in line %d is about the same calls", b.Name, a.Name, a.Line)
		}
		return before
	case !covers(a, b):
		return false
	case a.Effect == agent.Deny && b.Effect != agent.Deny: // wherever it stands
		r.fail(b.Line, "rule %q never matches: rule %q in line %d denies all of its calls, and a denial goes before everything else", b.Name, a.Name, a.Line)
		return true
	case before && (a.Effect == agent.Deny) == (b.Effect == agent.Deny):
		r.fail(b.Line, "rule %q never matches: rule %q in line %d decides all of its calls before", b.Name, a.Name, a.Line)
		return true
	}
	return false
}

// same reports whether two rules are about the same calls.
func same(a, b *Rule) bool {
	return sameSet(a.Tools, b.Tools) && sameSet(a.Classes, b.Classes) && a.Given == b.Given &&
		strings.Join(strings.Fields(a.When), " ") == strings.Join(strings.Fields(b.When), " ")
}

func sameSet(a, b []string) bool {
	in := func(list, of []string) bool {
		return !slices.ContainsFunc(list, func(s string) bool { return !slices.Contains(of, s) })
	}
	return in(a, b) && in(b, a)
}

// covers reports whether a is about every call that b is about.
func covers(a, b *Rule) bool {
	if !a.unconditional() {
		return false
	}
	if len(a.Classes) > 0 && (len(b.Classes) == 0 || slices.ContainsFunc(b.Classes, func(c string) bool { return !slices.Contains(a.Classes, c) })) {
		return false
	}
	if len(a.Tools) == 0 {
		return true
	}
	tools := b.named()
	if tools == nil {
		tools = b.Tools
	}
	return len(tools) > 0 && !slices.ContainsFunc(tools, func(t string) bool {
		return !slices.ContainsFunc(a.Tools, func(p string) bool { return alike(p, t) })
	})
}
