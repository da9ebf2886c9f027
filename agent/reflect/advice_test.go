package reflect

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestArgument(t *testing.T) {
	for given, want := range map[string]string{
		``: "", `{}`: "", `{"a":null}`: "", `{"a":{"b":1}}`: "", `null`: "",
		`{"expression":"6*7"}`:                           "6*7",
		`{"text":"long","path":"notes.md","mode":"a"}`:   "notes.md",
		`{"seconds":60}`:                                 "60",
		`{"zebra":"last","apple":"first"}`:               "first",
		`{"recursive":true}`:                             "true",
		`{"paths":["a.md","b.md",["x"],null,{"c":1},3]}`: "a.md, b.md, 3",
		`{"query":"  ","text":"say \"hi\""}`:             `say "hi"`,
		`"a text"`:                                       "a text",
		`not JSON`:                                       "not JSON",
		`{"path":`:                                       `{"path":`,
		`[1]`:                                            "[1]",
	} {
		if got := argument(given); got != want {
			t.Errorf("%s is %q, want %q", given, got, want)
		}
	}
}

func TestToolNames(t *testing.T) {
	for given, want := range map[string]string{"read_file": "read file", "github__create_issue": "github create issue", "calculator": "calculator", "_": "_", "": ""} {
		if got := toolName(given); got != want {
			t.Errorf("%s is %q, want %q", given, got, want)
		}
	}
}

// The question says why in its title and what was tried once, in plain words.
func TestQuestion(t *testing.T) {
	call := func(n int, text string, fails bool) *Trace {
		trace := &Trace{Strand: "task/a"}
		for i := range n {
			trace.Push(Step{Event: uint64(i), Tool: "read_file", Arguments: `{"path":"src/“a”.go","limit":10}`, Text: text, Error: fails})
		}
		return trace
	}
	for _, tt := range []struct {
		name  string
		found []agent.Finding
		why   string
		tried []string
	}{
		{"a loop", Examine(call(4, "nothing here", false), Defaults()), "the same call 4 times with the same result",
			[]string{"read file “src/'a'.go”; the answer was “nothing here”"}},
		{"an error that comes back, seen by two rules", Examine(call(4, "no such file", true), Defaults()), "the same call failed 4 times",
			[]string{"read file “src/'a'.go”; the last error was “no such file”"}},
		{"two streaks", []agent.Finding{
			{Severity: Nudge, Events: []uint64{1}, Message: "a nudge: is not told"},
			{Severity: Stop, Events: []uint64{1, 2}, Message: "first: one: with a colon"},
			{Severity: Stop, Events: []uint64{2}, Message: "a part of it: no"},
			{Severity: Stop, Events: []uint64{2, 3}, Message: "second: two"},
		}, "first", []string{"one: with a colon", "second: two"}},
		{"a text without evidence", []agent.Finding{{Severity: Stop, Message: "the plan is always the same"}, {Severity: Stop, Message: "and more"}},
			"the plan is always the same", []string{"and more"}},
	} {
		why, tried := Question(tt.found)
		if why != tt.why || !cmp.Equal(tt.tried, tried) {
			t.Errorf("%s: %q, %s", tt.name, why, cmp.Diff(tt.tried, tried))
		}
		if strings.ContainsAny(why+strings.Join(tried, ""), "{}") {
			t.Errorf("%s: JSON in %q %q", tt.name, why, tried)
		}
	}
}
