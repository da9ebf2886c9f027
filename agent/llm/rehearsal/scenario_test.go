package rehearsal

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const head = "name: n\nsays: All of this is scripted.\nturns:\n"

func TestParseRefuses(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing", "", "s.yaml is empty"},
		{"no YAML", "a: [", "s.yaml:"},
		{"unknown key", "name: n\nsayz: x\n", `s.yaml:2: unknown key "sayz"`},
		{"unknown key in a turn", head + "  - purpose: work\n    tasks: a\n    text: x\n", `s.yaml:5: unknown key "tasks"`},
		{"unknown key in a call", head + "  - purpose: work\n    calls:\n      - name: a\n        args: {}\n", `s.yaml:7: unknown key "args"`},
		{"no name", "says: x\nturns: [{purpose: work, text: x}]\n", "s.yaml:1: name is missing"},
		{"no line for people", "name: x\nturns: [{purpose: work, text: x}]\n", "s.yaml:1: says is missing"},
		{"two lines for people", "name: x\nsays: \"a\\nb\"\nturns: [{purpose: work, text: x}]\n", "longer than a line"},
		{"no turns", "name: x\nsays: x\n", "s.yaml:1: turns is missing"},
		{"wrong purpose", head + "  - {purpose: work, text: x}\n  - {purpose: think, text: x}\n", `s.yaml:5: purpose "think"`},
		{"nothing to say", head + "  - {purpose: work}\n", "s.yaml:4: neither text nor calls"},
		{"negative turn", head + "  - {purpose: work, turn: -1, text: x}\n", "turns count from 0"},
		{"turn is a word", head + "  - {purpose: work, turn: first, text: x}\n", "s.yaml:4:"},
		{"negative pause", head + "  - {purpose: work, takes: -1s, text: x}\n", "a pause cannot be negative"},
		{"text is a list", head + "  - {purpose: work, text: [a], calls: [{name: b}]}\n", "text is no string"},
		{"call without a name", head + "  - {purpose: work, calls: [{arguments: {}}]}\n", "calls[0] has no name"},
		{"arguments are a list", head + "  - {purpose: work, calls: [{name: a, arguments: [1]}]}\n", "no mapping"},
		{"broken template", head + "  - purpose: work\n    calls:\n      - name: a\n        arguments:\n          b: '{{ result }'\n", "s.yaml:8:"},
		{"unknown function", head + "  - {purpose: work, text: '{{ resultat \"a\" }}'}\n", `"resultat" not defined`},
		{"raw inside of text", head + "  - {purpose: work, calls: [{name: a, arguments: {b: 'x {{ raw 1 }}'}}]}\n", "must be the whole string"},
		{"not a number", head + "  - {purpose: work, calls: [{name: a, arguments: {b: .nan}}]}\n", ".nan is no JSON number"},
		{"merge key", head + "  - {purpose: work, calls: [{name: a, arguments: {<<: {a: 1}}}]}\n", "no plain name"},
		{"binary", head + "  - {purpose: work, calls: [{name: a, arguments: {b: !!binary aGk=}}]}\n", "!!binary"},
		{"never played", head + "  - {purpose: work, task: a, text: x}\n  - {purpose: work, task: a, turn: 2, text: y}\n", "s.yaml:5: never played: the entry in line 4"},
		{"two documents", head + "  - {purpose: work, text: x}\n---\na: 1\n", "second document"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("s.yaml", []byte(tt.in))
			if !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestParseReportsAllFaults(t *testing.T) {
	_, err := Parse("s.yaml", []byte(head+"  - {purpose: a, text: x}\n  - {purpose: b, text: x}\n"))
	if err == nil || !strings.Contains(err.Error(), "s.yaml:4:") || !strings.Contains(err.Error(), "s.yaml:5:") {
		t.Errorf("got %v", err)
	}
}

func TestAliasesDoNotExplode(t *testing.T) {
	var in strings.Builder
	in.WriteString(head + "  - purpose: work\n    calls:\n      - name: a\n        arguments:\n          l0: &l0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 8 {
		fmt.Fprintf(&in, "          l%d: &l%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d,", i), 10), ","))
	}
	if _, err := Parse("s.yaml", []byte(in.String())); !errors.Is(err, ErrScenario) || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(head + "  - purpose: work\n    task: t\n    turn: 0\n    takes: 1s\n    text: '{{ goal }}'\n    calls:\n      - name: a\n        arguments: {a: 1, b: [x, null, 1.5], c: '{{ raw (input \"x\") }}', d: &e 1, f: *e}\n")
	f.Add("a: [")
	f.Add("? [a]\n: b")
	f.Fuzz(func(t *testing.T, in string) {
		s, err := Parse("f", []byte(in))
		if err != nil {
			if !errors.Is(err, ErrScenario) {
				t.Fatalf("got %v", err)
			}
			return
		}
		if s.Name == "" || s.Says == "" || len(s.turns) == 0 {
			t.Fatalf("took %+v", s)
		}
		for i := range s.turns {
			r := request(s.turns[i].purpose)
			if s.turns[i].task != nil {
				r.Task = *s.turns[i].task
			}
			m, err := s.turns[i].play(r, 0)
			if err == nil {
				valid(t, m)
			}
		}
	})
}
