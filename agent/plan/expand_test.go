package plan_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func values() map[string]agent.Output {
	return map[string]agent.Output{
		"text":      {Name: "text", Value: json.RawMessage(`"two\nlines ${list} \"q\" <&>"`)},
		"list":      {Name: "list", Value: json.RawMessage("[1,  2.50, {\"a\": \"<b>\"}]")},
		"num":       {Name: "num", Value: json.RawMessage(`1e3`)},
		"null":      {Name: "null", Value: json.RawMessage(`null`)},
		"file":      {Name: "file", File: "out/chart.png"},
		"both":      {Name: "both", Value: json.RawMessage(`"value"`), File: "out/b.txt"},
		"goal.repo": {Name: "goal.repo", Value: json.RawMessage(`"deckhand"`)},
	}
}

func TestExpand(t *testing.T) {
	tests := []struct{ in, want string }{
		{"", ""},
		{"no placeholder: $5, {x}, $", "no placeholder: $5, {x}, $"},
		{"${text}", "two\nlines ${list} \"q\" <&>"},
		{"a ${list} b", `a [1,2.50,{"a":"<b>"}] b`},
		{"${num}${null}", "1e3null"},
		{"${file} and ${both}", "out/chart.png and value"},
		{"${goal.repo}", "deckhand"},
		{"${unknown} ${HOME} ${ list} ${}", "${unknown} ${HOME} ${ list} ${}"},
		{"$${list}", "${list}"},
		{"$$${num}", "$${num}"},
		{"$${HOME}", "${HOME}"},
		{"${num", "${num"},
		{"${a ${num}", "${a 1e3"},
		{"${${num}}", "${1e3}"},
		{"${line\n} ${num}", "${line\n} 1e3"},
	}
	for _, tt := range tests {
		if got := plan.Expand(tt.in, values()); got != tt.want {
			t.Errorf("Expand(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestPlaceholders(t *testing.T) {
	got := plan.Placeholders("${b} $${no} ${a} ${b} ${x + 1} ${open")
	if diff := cmp.Diff([]string{"b", "a", "x + 1"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestInputs(t *testing.T) {
	got := plan.Inputs(agent.Task{Inputs: []string{"num", "nowhere"}}, values())
	if _, ok := got["goal.repo"]; !ok || len(got) != 2 || got["num"].Name != "num" {
		t.Errorf("want num and goal.repo, have %v", got)
	}
}

func TestExpandJSON(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"order, spaces and numbers", `{"z": 1.0, "a":1E+2 , "b":"${num}"}`, `{"z": 1.0, "a":1E+2 , "b":"1e3"}`},
		{"not in keys", `{"${num}": "${num}", "k" : {"${list}":"x"}}`, `{"${num}": "1e3", "k" : {"${list}":"x"}}`},
		{"stays a string", `["${list}"]`, `["[1,2.50,{\"a\":\"<b>\"}]"]`},
		{"quoted", `{"t":"${text}"}`, `{"t":"two\nlines ${list} \"q\" <&>"}`},
		{"escaped in the source", `{"t":"\u0024{num} \"${num}\" \\"}`, `{"t":"1e3 \"1e3\" \\"}`},
		{"untouched strings byte for byte", `{"t":"\u00e9\/ ${nobody}","u":"${num}"}`, `{"t":"\u00e9\/ ${nobody}","u":"1e3"}`},
		{"literal", `{"t":"$${num}"}`, `{"t":"${num}"}`},
		{"duplicate keys", `{"a":"${num}","a":"${num}"}`, `{"a":"1e3","a":"1e3"}`},
		{"bare string", `"${num}"`, `"1e3"`},
		{"number", ` 12345678901234567890 `, ` 12345678901234567890 `},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := plan.ExpandJSON(json.RawMessage(tt.in), values())
			if err != nil || string(got) != tt.want {
				t.Errorf("have %s, %v; want %s", got, err, tt.want)
			}
		})
	}
	for _, bad := range []string{"", "{", `{"a":1}x`, "\"a\nb\""} {
		if _, err := plan.ExpandJSON(json.RawMessage(bad), values()); !errors.Is(err, plan.ErrArguments) {
			t.Errorf("ExpandJSON(%q): %v, want ErrArguments", bad, err)
		}
	}
}
