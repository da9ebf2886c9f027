package tools_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fake struct{ name, schema string }

func (f fake) Spec() agent.ToolSpec {
	return agent.ToolSpec{Name: f.name, Parameters: json.RawMessage(f.schema), Class: agent.ClassRead, Repeat: agent.RepeatRead}
}

func (f fake) Run(context.Context, agent.Call) agent.Result {
	return agent.Result{State: agent.OutcomeOK, Text: f.name}
}

const readSchema = `{"type":"object","additionalProperties":false,"required":["path"],"properties":{
	"path":{"type":"string","minLength":1},
	"offset":{"type":"integer","minimum":1},
	"limit":{"type":"integer","minimum":1,"maximum":100},
	"by":{"type":"string","enum":["file","folder"]},
	"rows":{"type":"array","maxItems":2,"items":{"type":"object","required":["id"],"properties":{"id":{"type":"string"}}}},
	"either":{"type":["array","string"]},
	"even":{"type":"number","multipleOf":2},
	"word":{"type":"string","pattern":"^[a-z]+$"}}}`

func box(t *testing.T, list ...agent.Tool) *tools.Box {
	t.Helper()
	b, err := tools.New(list...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCheck(t *testing.T) {
	b := box(t, fake{"read_file", readSchema}, fake{"write_to_file", `{"type":"object"}`}, fake{"wait", `{"type":"object","additionalProperties":false}`})
	for _, c := range []struct {
		tool, args, want string
	}{
		{"read_file", `{"path":"a"}`, ""},
		{"read_file", `{"path":"a","offset":5.0,"either":"x","even":4}`, ""},
		{"read_file", `{}`, "read_file: `path` is missing"},
		{"read_file", `{"path":"a","limit":"abc"}`, "read_file: `limit` must be an integer, got \"abc\""},
		{"read_file", `{"path":"a","limit":1.5}`, "read_file: `limit` must be an integer, got 1.5"},
		{"read_file", `{"path":"a","limit":0}`, "read_file: `limit` must be at least 1, got 0"},
		{"read_file", `{"path":"a","limit":101}`, "read_file: `limit` must be at most 100, got 101"},
		{"read_file", `{"path":""}`, "read_file: `path` must not be empty"},
		{"read_file", `{"path":null}`, "read_file: `path` must be a string, got null"},
		{"read_file", `{"path":"a","by":"size"}`, "read_file: `by` must be one of \"file\", \"folder\", got \"size\""},
		{"read_file", `{"path":"a","limt":3}`, "read_file: `limt` is unknown, did you mean `limit`?"},
		{"read_file", `{"path":"a","colour":3}`, "read_file: `colour` is unknown, there are `by`, `either`, `even`, `limit`, `offset`, `path`, `rows` and `word`"},
		{"read_file", `{"path":"a","rows":[{"id":"x"},{}]}`, "read_file: `rows[1].id` is missing"},
		{"read_file", `{"path":"a","rows":[{"id":4}]}`, "read_file: `rows[0].id` must be a string, got 4"},
		{"read_file", `{"path":"a","rows":[1,2,3]}`, "read_file: `rows` must have at most 2 entries, got 3"},
		{"read_file", `{"path":"a","either":3}`, "read_file: `either` must be one of the types array, string, got 3"},
		{"read_file", `{"path":"a","even":3}`, "read_file: `even` must be a multiple of 2, got 3"},
		{"read_file", `{"path":"a","word":"A"}`, "read_file: the arguments do not fit the schema: pattern: \"A\" does not match regular expression \"^[a-z]+$\""},
		{"read_file", ``, "read_file: the arguments are empty: send a JSON object, {} where there is nothing to say"},
		{"read_file", `[1]`, "read_file: the arguments must be a JSON object, got [1]"},
		{"read_file", `{"path":"a"} {"path":"b"}`, "read_file: the arguments must be one JSON object, there is more after it"},
		{"read_file", `{"path":`, "read_file: the arguments are not valid JSON: unexpected EOF"},
		{"wait", `{"x":1}`, "wait: `x` is unknown, there are no arguments"},
		{"readfile", `{}`, "there is no tool \"readfile\": did you mean `read_file`?"},
		{"zzz", `{}`, "there is no tool \"zzz\""},
	} {
		err := b.Check(c.tool, json.RawMessage(c.args))
		got := ""
		if err != nil {
			got = err.Error()
			if !errors.Is(err, tools.ErrArguments) && !errors.Is(err, tools.ErrUnknown) {
				t.Errorf("%s %s: the error wraps neither ErrArguments nor ErrUnknown", c.tool, c.args)
			}
		}
		if got != c.want {
			t.Errorf("Check(%s, %s)\n got %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
}

func TestCheckShortensWrongValues(t *testing.T) {
	b := box(t, fake{"read_file", readSchema})
	err := b.Check("read_file", json.RawMessage(`{"path":"a","limit":"`+strings.Repeat("x", 9000)+`"}`))
	if err == nil || len(err.Error()) > 200 {
		t.Fatalf("want a short error, got %v", err)
	}
}

func TestNew(t *testing.T) {
	ok := `{"type":"object"}`
	for _, c := range []struct {
		why  string
		list []agent.Tool
		want error
	}{
		{"duplicate", []agent.Tool{fake{"a", ok}, fake{"a", ok}}, tools.ErrDuplicate},
		{"name", []agent.Tool{fake{"a b", ok}}, tools.ErrSpec},
		{"no schema", []agent.Tool{fake{"a", ``}}, tools.ErrSpec},
		{"not an object", []agent.Tool{fake{"a", `{"type":"string"}`}}, tools.ErrSpec},
		{"bad reference", []agent.Tool{fake{"a", `{"type":"object","properties":{"x":{"$ref":"#/$defs/none"}}}`}}, tools.ErrSpec},
	} {
		if _, err := tools.New(c.list...); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.why, err, c.want)
		}
	}
	b := box(t, fake{"b", ok}, fake{"a", ok})
	if s := b.Specs(); len(s) != 2 || s[0].Name != "a" || s[1].Name != "b" {
		t.Errorf("Specs are not sorted: %v", s)
	}
	if tool, found := b.Tool("b"); !found || tool.Run(t.Context(), agent.Call{}).Text != "b" {
		t.Error("Tool(b) is not the tool b")
	}
	if _, found := b.Tool("c"); found {
		t.Error("Tool(c) found something")
	}
}

func TestNearest(t *testing.T) {
	ok := `{"type":"object"}`
	b := box(t, fake{"read_file", ok}, fake{"write_to_file", ok}, fake{"list_files", ok}, fake{"calculator", ok}, fake{"run_code", ok})
	for given, want := range map[string]string{
		"raed_file":      "read_file",
		"Read_File":      "read_file",
		"write_file":     "write_to_file read_file",
		"calc":           "calculator",
		"code":           "run_code",
		"send_mail":      "",
		"calculatr":      "calculator",
		"functions_wait": "",
	} {
		got := strings.Join(b.Nearest(given), " ")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("Nearest(%s) = %q, want %q first", given, got, want)
		}
	}
}

func TestWhole(t *testing.T) {
	for in, want := range map[string]int{"5": 5, "5.0": 5, "5e0": 5, "-3": -3} {
		var w tools.Whole
		if err := json.Unmarshal([]byte(in), &w); err != nil || int(w) != want {
			t.Errorf("%s: %d, %v", in, w, err)
		}
	}
	for _, in := range []string{"1.5", `"5"`, "1e300"} {
		var w tools.Whole
		if err := json.Unmarshal([]byte(in), &w); err == nil {
			t.Errorf("%s was read as %d", in, w)
		}
	}
}

func FuzzCheck(f *testing.F) {
	b, err := tools.New(fake{"read_file", readSchema})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"path":"a"}`)
	f.Add(`{"path":"a","rows":[{"id":[[]]}]}`)
	f.Fuzz(func(t *testing.T, args string) {
		err := b.Check("read_file", json.RawMessage(args))
		if err == nil {
			var v struct{ Path string }
			if json.Unmarshal([]byte(args), &v) != nil || v.Path == "" {
				t.Fatalf("accepted %q", args)
			}
			return
		}
		if !strings.HasPrefix(err.Error(), "read_file: ") || len(err.Error()) > 2000 {
			t.Fatalf("no short sentence: %q", err)
		}
	})
}
