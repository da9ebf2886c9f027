package plan

// This file holds rules V10 and V11, which compare a plan with the tools and
// roles that exist: their names, and whether a tool takes the type of data it
// is given.

import (
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
)

// checkCatalogue is V10: tools and roles that do not exist.
func checkCatalogue(d *draft) {
	tools := make(map[string]bool, len(d.o.Tools))
	for _, s := range d.o.Tools {
		tools[s.Name] = true
	}
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		for _, name := range t.Tools {
			if d.o.Tools != nil && !tools[name] {
				d.fail("V10", t.ID, "%s needs the tool %q, which does not exist%s", t.ID, name, d.nearest(name, d.tools))
			}
		}
		if d.o.Roles != nil && t.Role != "" && !slices.Contains(d.o.Roles, t.Role) {
			d.fail("V10", t.ID, "%s is for the role %q, which does not exist%s", t.ID, t.Role,
				d.nearest(t.Role, func() []string { return d.o.Roles }))
		}
	}
}

// checkTypes is V11. An input has the type of the output that it names, or the
// types that the producer's tools give; one of the task's tools must take it. In
// a foreign plan a link is an input.
func checkTypes(d *draft) {
	if len(d.o.Tools) == 0 {
		return
	}
	catalogue := make(map[string]agent.ToolSpec, len(d.o.Tools))
	for _, s := range d.o.Tools {
		catalogue[s.Name] = s
	}
	for _, i := range d.judged() {
		t := d.plan.Tasks[i]
		takes := kinds(t, catalogue, func(s agent.ToolSpec) []string { return s.Input })
		if len(takes) == 0 {
			continue
		}
		if d.foreign() {
			for _, j := range union(d.deps[i], d.feeds[i]) {
				from := d.plan.Tasks[j]
				gives := kinds(from, catalogue, toolOutput)
				if len(gives) > 0 && !meet(gives, takes) {
					d.fail("V11", t.ID, "%s gives %s but %s takes %s", from.ID, names(gives, 5), t.ID, names(takes, 5))
				}
			}
			continue
		}
		for _, name := range t.Inputs {
			checkType(d, i, name, takes, catalogue)
		}
	}
}

func toolOutput(s agent.ToolSpec) []string { return s.Output }

func checkType(d *draft, i int, name string, takes []string, catalogue map[string]agent.ToolSpec) {
	j, known := d.producer[name]
	if !known || j == i {
		return
	}
	t, from := d.plan.Tasks[i], d.plan.Tasks[j]
	gives := kinds(from, catalogue, toolOutput)
	for _, o := range from.Outputs {
		if o.Name == name && o.Type != "" {
			gives = []string{o.Type}
		}
	}
	if len(gives) > 0 && !meet(gives, takes) {
		d.fail("V11", t.ID, "input %q of %s is %s, but its tools (%s) take %s",
			name, t.ID, names(gives, 5), names(t.Tools, 5), names(takes, 5))
	}
}

// kinds joins the types of a task's tools; nothing, when one of them takes or
// gives anything or is unknown.
func kinds(t agent.Task, catalogue map[string]agent.ToolSpec, of func(agent.ToolSpec) []string) []string {
	var all []string
	for _, name := range t.Tools {
		s, known := catalogue[name]
		types := of(s)
		if !known || len(types) == 0 {
			return nil
		}
		for _, k := range types {
			if !slices.Contains(all, k) {
				all = append(all, k)
			}
		}
	}
	return all
}

func meet(gives, takes []string) bool {
	for _, g := range gives {
		for _, k := range takes {
			if sameType(g, k) {
				return true
			}
		}
	}
	return false
}

// sameType compares two types: media types, families of them ("image" is any
// "image/…") and plain words.
func sameType(a, b string) bool {
	a, b = plainType(a), plainType(b)
	if a == b || a == "any" || b == "any" {
		return true
	}
	fa, _, wholeA := strings.Cut(a, "/")
	fb, _, wholeB := strings.Cut(b, "/")
	return fa == fb && (!wholeA || !wholeB)
}

func plainType(t string) string {
	t, _, _ = strings.Cut(strings.ToLower(t), ";") // parameters of a media type
	t = strings.TrimSuffix(strings.TrimSpace(t), "/*")
	switch t {
	case "*", "":
		return "any"
	case "string", "str":
		return "text"
	case "application/json", "object":
		return "json"
	case "int", "integer", "float":
		return "number"
	}
	return t
}
