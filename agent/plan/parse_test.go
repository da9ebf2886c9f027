package plan_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/plan"
)

func TestParseOwnShape(t *testing.T) {
	text, err := json.Marshal(sound())
	if err != nil {
		t.Fatal(err)
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{
		"plain":             string(text),
		"byte order mark":   "\ufeff" + string(text),
		"arguments":         `{"name":"submit_plan","arguments":` + string(text) + `}`,
		"arguments as text": `{"name":"submit_plan","arguments":` + string(quoted) + `}`,
		"tool call":         `{"id":"c1","type":"function","function":{"name":"submit_plan","arguments":` + string(quoted) + `}}`,
		"plan":              `{"plan":` + string(text) + `}`,
		"submit_plan":       `{"submit_plan":` + string(text) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			p, shape, found, err := plan.Parse([]byte(in))
			if err != nil || shape != plan.ShapeDeckhand || len(found) != 0 {
				t.Fatalf("shape %q, findings %v, error %v", shape, found, err)
			}
			if diff := cmp.Diff(sound(), p); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseOwnLinks(t *testing.T) {
	p, _, found, err := plan.Parse([]byte(`{"name":"n","done_when":"done","tasks":[
		{"id":"a","title":"A"}, {"id":"b","title":"B","depends_on":"a"}, {"id":"c","title":"C","depends_on":null},
		{"id":"d","title":"D","depends_on":["a", 7, null, {"id":"b"}]}, {"id":"e","title":"E","depends_on":{"x":1}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]agent.TaskID{"a"}, p.Tasks[1].DependsOn); diff != "" {
		t.Error(diff)
	}
	if len(found) != 4 || !has(found, "V19", agent.SeverityError, "d") || !has(found, "V19", agent.SeverityError, "e") {
		t.Errorf("want V19 three times for d and once for e, have %v", found)
	}
}

func TestParseErrors(t *testing.T) {
	for in, says := range map[string]string{
		"":                                      "empty",
		"no json":                               "line 1",
		"{\n\"tasks\": [\n}":                    "line 3",
		`{"tasks":[]} trailing`:                 "after top-level value",
		`"text"`:                                "string",
		`17`:                                    "number",
		`null`:                                  "null",
		`true`:                                  "boolean",
		`{"name":"x"}`:                          "neither",
		`{"tasks":{"a":1}}`:                     "tasks should be a list",
		`{"tasks":[{"id":"a","effort":"two"}]}`: "effort should be a number",
		`{"tasks":[{"id":3}]}`:                  "should be a string",
		`[{"id":"a","title":"A"}]`:              `no "task"`,
		`[1]`:                                   "the list should hold",
		`{"task_nodes":"a"}`:                    "task_nodes",
	} {
		_, _, _, err := plan.Parse([]byte(in))
		if !errors.Is(err, plan.ErrShape) || !strings.Contains(err.Error(), says) {
			t.Errorf("Parse(%q): %v, want ErrShape that says %q", in, err, says)
		}
	}
	for _, in := range []string{`[]`, `{"task_nodes":[],"task_links":[]}`} {
		if _, _, _, err := plan.Parse([]byte(in)); !errors.Is(err, plan.ErrEmpty) {
			t.Errorf("Parse(%q): %v, want ErrEmpty", in, err)
		}
	}
}

// foreignTools are the types of the tools in the foreign plans.
func foreignTools() []agent.ToolSpec {
	return []agent.ToolSpec{
		{Name: "A", Input: []string{"text"}, Output: []string{"text"}},
		{Name: "B", Input: []string{"text"}, Output: []string{"image"}},
		{Name: "C", Input: []string{"image", "text"}, Output: []string{"text"}},
		{Name: "D", Input: []string{"audio"}, Output: []string{"text"}},
	}
}

func TestForeignPlans(t *testing.T) {
	nodes := func(names, links string) string {
		var list []string
		for n := range strings.SplitSeq(names, "") {
			list = append(list, `{"task":"`+n+`","arguments":["x"]}`)
		}
		var ends []string
		for l := range strings.FieldsSeq(links) {
			ends = append(ends, `{"source":"`+l[:1]+`","target":"`+l[1:]+`"}`)
		}
		return `{"task_nodes":[` + strings.Join(list, ",") + `],"task_links":[` + strings.Join(ends, ",") + `]}`
	}
	tests := []struct {
		name string
		in   string
		want []string
		task agent.TaskID // of the first finding
	}{
		{"chain", nodes("ABC", "AB BC"), []string{}, ""},
		{"one node", nodes("A", ""), []string{}, ""},
		{"no links", nodes("ABC", ""), []string{"V20"}, ""},
		{"links absent", `{"task_nodes":[{"task":"A"},{"task":"B"}]}`, []string{"V20"}, ""},
		{"isolated", nodes("ABC", "AB"), []string{"V9"}, "C"},
		{"unknown tool", nodes("AX", "AX"), []string{"V10"}, "X"},
		{"duplicate", nodes("ABA", "AB"), []string{"V1"}, "A"},
		{"dangling source", nodes("AB", "AB ZB"), []string{"V2"}, "B"},
		{"dangling target", nodes("AB", "AB AZ"), []string{"V2"}, "A"},
		{"dangling only", nodes("AB", "AZ BZ"), []string{"V2"}, "A"},
		{"self link", nodes("AB", "AB BB"), []string{"V3"}, "B"},
		{"only a self link", nodes("A", "AA"), []string{"V3"}, "A"},
		{"cycle", nodes("AC", "AC CA"), []string{"V4"}, "A"},
		{"types", nodes("ABD", "AB BD"), []string{"V11"}, "D"},
		{"transitive", nodes("ABC", "AB BC AC"), []string{"V16"}, "C"},
		{"malformed number", `{"task_nodes":[{"task":"A"},{"task":"B"}],"task_links":[{"source":"A","target":1}]}`, []string{"V19"}, "A"},
		{"malformed text", `{"task_nodes":[{"task":"A"},{"task":"B"}],"task_links":["A -> B"]}`, []string{"V19"}, ""},
		{"malformed list", `{"task_nodes":[{"task":"A"}],"task_links":"A"}`, []string{"V19"}, ""},
		{"malformed and good", `{"task_nodes":[{"task":"A"},{"task":"B"}],"task_links":[{"source":"A"},{"source":"A","target":"B"}]}`, []string{"V19"}, "A"},
		{"nameless node", `{"task_nodes":[{"task":"A"},{"arguments":[]}],"task_links":[]}`, []string{"V1"}, ""},
		{"bare names", `{"task_nodes":["A","B"],"task_links":[{"source":"A","target":"B"}]}`, []string{}, ""},

		{"calls", `[{"task":"A","id":0,"dep":[-1],"args":{"text":"hi"}},{"task":"B","id":1,"dep":[0],"args":{"text":"<GENERATED>-0"}}]`, []string{}, ""},
		{"calls in an object", `{"tasks":[{"task":"A","id":0,"dep":[-1],"args":{}},{"task":"B","id":1,"dep":[0],"args":{}}]}`, []string{}, ""},
		{"calls, text ids", `[{"task":"A","id":"p","dep":[]},{"task":"B","id":"q","dep":["p"]}]`, []string{}, ""},
		{"calls without links", `[{"task":"A","id":0,"dep":[-1],"args":{}},{"task":"B","id":1,"dep":[-1],"args":{}}]`, []string{"V20"}, ""},
		{"calls, edge missing", `[{"task":"A","id":0,"dep":[-1],"args":{}},{"task":"B","id":1,"dep":[-1],"args":{"text":"\u003cGENERATED\u003e-0"}}]`, []string{"V7"}, "1"},
		{"calls, missing task", `[{"task":"A","id":0,"dep":[-1],"args":{}},{"task":"B","id":1,"dep":[0],"args":{"text":"<GENERATED>-7"}}]`, []string{"V17"}, "1"},
		{"calls, itself", `[{"task":"A","id":0,"dep":[-1],"args":{}},{"task":"B","id":1,"dep":[0],"args":{"text":"<GENERATED>-1"}}]`, []string{"V17"}, "1"},
		{"calls, unknown dep", `[{"task":"A","id":0,"dep":[5],"args":{}}]`, []string{"V2"}, "0"},
		{"calls, malformed dep", `[{"task":"A","id":0,"dep":[-1]},{"task":"B","id":1,"dep":[{"id":0}]}]`, []string{"V19"}, "1"},
		{"calls, same twice", `[{"task":"A","id":0,"dep":[-1],"args":{"text":"hi"}},{"task":"A","id":1,"dep":[-1],"args":{"text":"hi"}},{"task":"B","id":2,"dep":[0,1],"args":{}}]`, []string{"V13"}, "1"},
		{"calls, same tool", `[{"task":"A","id":0,"dep":[-1],"args":{"text":"hi"}},{"task":"A","id":1,"dep":[0],"args":{"text":"ho"}}]`, []string{}, ""},
		{"calls, types", `[{"task":"B","id":0,"dep":[-1],"args":{}},{"task":"A","id":1,"dep":[0],"args":{}}]`, []string{"V11"}, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, shape, found, err := plan.Parse([]byte(tt.in))
			if err != nil || shape == plan.ShapeDeckhand {
				t.Fatalf("shape %q, error %v", shape, err)
			}
			_, found = plan.Check(p, plan.Options{Shape: shape, Found: found, Tools: foreignTools()})
			if diff := cmp.Diff(tt.want, codes(found)); diff != "" {
				t.Fatalf("findings %v:\n%s", found, diff)
			}
			if len(found) > 0 && found[0].Task != tt.task {
				t.Errorf("the finding is about %q, want %q: %v", found[0].Task, tt.task, found)
			}
		})
	}
}

func TestForeignEndsAreDeliverables(t *testing.T) {
	p, shape, _, err := plan.Parse([]byte(`{"task_nodes":[{"task":"A"},{"task":"B"},{"task":"C"}],
		"task_links":[{"source":"A","target":"B"}]}`))
	if err != nil || shape != plan.ShapeTaskBench {
		t.Fatal(shape, err)
	}
	want := []agent.Task{
		{ID: "A", Title: "A", Tools: []string{"A"}},
		{ID: "B", Title: "B", Tools: []string{"B"}, DependsOn: []agent.TaskID{"A"}, Deliverable: true},
		{ID: "C", Title: "C", Tools: []string{"C"}},
	}
	if diff := cmp.Diff(want, p.Tasks); diff != "" {
		t.Error(diff)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"tasks":[{"id":"a","title":"A","depends_on":["b"]}]}`, `[{"task":"A","id":0,"dep":[-1],"args":{"x":"<GENERATED>-0"}}]`,
		`{"task_nodes":[{"task":"A","arguments":[]}],"task_links":[{"source":"A","target":"A"}]}`,
		`{"arguments":"{\"plan\":{\"tasks\":[]}}"}`, `{"plan":"[]"}`, `[]`, `{`, "\"\\\"[]\\\"\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, shape, found, err := plan.Parse(data)
		if err != nil {
			if !errors.Is(err, plan.ErrShape) && !errors.Is(err, plan.ErrEmpty) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		o := plan.Options{Shape: shape, Found: found, Tools: foreignTools()}
		got, first := plan.Check(p, o)
		if plan.Stops(first) {
			return
		}
		o.Found = nil
		if _, second := plan.Check(got, o); plan.Stops(second) {
			t.Fatalf("the normalised plan has new errors: %v", second)
		}
	})
}

func FuzzExpandJSON(f *testing.F) {
	for _, s := range []string{`{"a":"${num}"}`, `["$${","${num"]`, `{"${num}":"\ud800${num}"}`, `"\\\"${list}"`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := plan.ExpandJSON(data, values())
		if err != nil {
			if json.Valid(data) || !errors.Is(err, plan.ErrArguments) {
				t.Fatalf("valid JSON was refused, or with another error: %v", err)
			}
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%q became %q, which is no JSON", data, got)
		}
		same, err := plan.ExpandJSON(data, nil)
		if err != nil || !strings.Contains(string(data), "$$") && !strings.Contains(string(data), `\u00`) && string(same) != string(data) {
			t.Fatalf("without values %q became %q, %v", data, same, err)
		}
	})
}
