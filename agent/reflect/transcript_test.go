package reflect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestTranscripts(t *testing.T) {
	for file, want := range map[string][]string{
		"identical.json":         {"L9 check-in 2,4,6,8,10", "L1 nudge 2,4,6,8,10", "L3 stop 2,4,6,8,10"},
		"alternating.jsonl":      {"L1 nudge 1,5,9", "L1 nudge 3,7,11", "L4 stop 1,3,5,7,9,11"},
		"cycle_equal.json":       {"L1 nudge 1,7,13", "L1 nudge 3,9,15", "L1 nudge 5,11,17", "L4 stop 1,3,5,7,9,11,13,15,17"},
		"cycle_changing.json":    {"L4 nudge 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29"},
		"errors.json":            {"L2 nudge 1,5,9,13", "L2 stop 1,5,9,13"},
		"denied.json":            {},
		"monologue.json":         {"L5 nudge 1,2,4,6", "L5 stop 1,2,4,6"},
		"dialogue.json":          {},
		"chant.json":             {"L6 stop 1"},
		"chant_code.json":        {},
		"unknown_tool.json":      {"L7 stop 1,3,5"},
		"unknown_tool_said.json": {"L7 stop 1,3,5"},
		"poll_fine.json":         {},
		"poll_iso.json":          {},
		"poll_long.json": {"L10 nudge 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39",
			"L10 stop 1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31,33,35,37,39"},
		"poll_untimed.json":  {"L9 check-in 1,3,5,7", "L1 nudge 1,3,5,7", "L3 stop 1,3,5,7"},
		"healthy.json":       {},
		"parallel.json":      {"L1 nudge 1,5", "L9 check-in 1,5"},
		"react.txt":          {"L9 check-in 0,1,2,3", "L1 nudge 0,1,2,3", "L3 stop 0,1,2,3"},
		"react_spelling.txt": {"L9 check-in 0,1,2,3", "L1 nudge 0,1,2,3", "L3 stop 0,1,2,3"},
		"react_json.txt":     {"L9 check-in 0,1,2,3", "L1 nudge 0,1,2,3", "L3 stop 0,1,2,3"},
		"react_fine.txt":     {},
		"react_invalid.txt":  {"L5 nudge 0,1,2", "L7 stop 0,1,2"},
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "transcript", file))
			if err != nil {
				t.Fatal(err)
			}
			tr, err := Read(data)
			if err != nil {
				t.Fatal(err)
			}
			wantBrief(t, tr.Examine(Defaults()), want...)
		})
	}
}

func TestReadJournal(t *testing.T) {
	var b book
	for range 4 {
		b.act(0, "look", "{}", "nothing", agent.OutcomeOK)
	}
	b.add(agent.Main, agent.Finding{Rule: "L13", Severity: Stop, Strand: agent.Main, Events: []uint64{3}, Message: "two models agree"})
	b.add(agent.Main, agent.Finding{Rule: "L1", Severity: Nudge, Strand: task, Events: []uint64{3, 7, 11}})
	var lines strings.Builder
	for _, e := range b.events {
		line, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\r\n\n", line)
	}
	lines.WriteString(`{"run":"r1","strand":"main","seq":99,"at":"2026-03-02T12:00:00Z","kind":"from.the.future","body":{}}`)
	tr, err := Read([]byte("\uFEFF" + lines.String()))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Format != JournalFormat || tr.Newer != 1 || tr.Steps != 4 {
		t.Errorf("%+v", tr)
	}
	wantBrief(t, tr.Examine(Defaults()), "L9 check-in 3,7,11,15", "L1 nudge 3,7,11,15", "L3 stop 3,7,11,15", "L13 stop 3")
}

func TestNoTranscript(t *testing.T) {
	for _, test := range []struct{ data, says string }{
		{"", "the input is empty"},
		{" \n", "the input is empty"},
		{"hello", "no Thought and Action"},
		{"Action: there is none", "no Thought and Action"},
		{"{}", "has no role"},
		{"[]", "no message"},
		{`{"messages": []}`, "no message"},
		{`{"messages": 5}`, "cannot unmarshal number"},
		{`{"messages": [{"text": "hi"}]}`, "message 0 (from 0) has no role"},
		{`{"role": "user", "content": "hi"}` + "\n{", "nor line 2 is JSON"},
		{`{"role": "user", "content": "hi"}` + "\n5", "line 1"},
		{`{"kind": "run.started", "body": 5}`, "event 1 of the journal"},
		{"[1]", "message 0"},
		{`{"messages": {"role": "user"}}`, "messages"},
		{"{nonsense", "nor line 1 is JSON"},
	} {
		tr, err := Read([]byte(test.data))
		if !errors.Is(err, ErrNoTranscript) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: %+v, %v; want an error that says %q", test.data, tr, err, test.says)
		}
	}
}

// Tools in a shape that is not known are as good as none.
func TestToolsInOtherShapes(t *testing.T) {
	call := `{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"look","arguments":"{\"n\":%d}"}}]},{"role":"tool","tool_call_id":"a","content":"%d of 9"}`
	messages := fmt.Sprintf(strings.Join([]string{call, call, call}, ","), 1, 1, 2, 2, 3, 3)
	for tools, want := range map[string]int{
		`null`: 0, `[]`: 0, `{"look": {}}`: 0, `[5]`: 0, `["look"]`: 0, `[{"name":"look"}]`: 0, `[{"function":{"name":"look"}}]`: 0,
		`["see"]`: 1, `[{"name":"see"}]`: 1, `[{"type":"function","function":{"name":"see"}}]`: 1,
	} {
		tr, err := Read([]byte(`{"messages":[` + messages + `],"tools":` + tools + `}`))
		if err != nil {
			t.Errorf("%s: %v", tools, err)
			continue
		}
		if found := only("L7", tr.Examine(Defaults())); len(found) != want {
			t.Errorf("%s: %q", tools, brief(found))
		}
	}
}

func TestErrorResults(t *testing.T) {
	for text, want := range map[string]bool{
		"Error: x": true, "ERRORS: 3": true, " error": true, "an error": false, "": false, "err": false,
		`{"error": "x"}`: true, `{"error": {"code": 5}}`: true, `{"error": ""}`: false, `{"error": null}`: false,
		`{"error": {}}`: false, `{"error": []}`: false, `{"error": false}`: false, `{"ok": false}`: true, `{"ok": true}`: false,
		`{"is_error": true}`: true, `{"is_error": false}`: false, `{"result": {"error": "x"}}`: false, `{"error": "x"`: false,
		"denied by slack:U1: error": false, "expired": false,
	} {
		if got := errorText(text); got != want {
			t.Errorf("%q: error %v", text, got)
		}
	}
}

func TestUnknownTools(t *testing.T) {
	for _, test := range []struct {
		text, tool string
		want       bool
	}{
		{`Error: unknown tool "serch"`, "serch", true},
		{"serch is not a valid tool, try one of [search].", "serch", true},
		{`error: unknown function "serch"; did you mean "search"?`, "serch", true},
		{"Tool 'serch' not found", "serch", true},
		{"tool serch does not exist", "serch", true},
		{"error: unknown function foo in main.go", "build", false},
		{"sh: foo: command not found", "shell", false},
		{"file not found", "read_file", false},
		{"", "", false},
	} {
		if got := unknownTool(test.text, test.tool); got != test.want {
			t.Errorf("%q of %s: unknown %v", test.text, test.tool, got)
		}
	}
}

// eventsExist checks that findings name events of the transcript, in order.
func eventsExist(t *testing.T, tr *Transcript, found []agent.Finding) {
	t.Helper()
	known := map[uint64]bool{}
	for _, trace := range tr.traces {
		for _, m := range trace.marks {
			known[m.Event] = true
		}
	}
	for _, f := range found {
		if f.Rule == "L11" || f.Rule == "L12" || f.Rule == "L13" {
			continue
		}
		if len(f.Events) == 0 || f.Message == "" {
			t.Fatalf("%+v proves nothing", f)
		}
		for _, n := range f.Events {
			if !known[n] {
				t.Fatalf("%+v names event %d, which there is not", f, n)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/transcript/*")
	if err != nil || len(files) == 0 {
		f.Fatal(err, files)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		if len(data) < 8<<10 {
			f.Add(data)
		}
	}
	f.Add([]byte(`{"run":"r","strand":"main","seq":1,"at":"2026-03-02T12:00:00Z","kind":"tool.intent","body":{"effect":"e","tool":"t","arguments":{}}}`))
	f.Add([]byte("Thought: a\nAction: b(c)\nAction Input: d\nObservation:"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := Read(data)
		if err != nil {
			if !errors.Is(err, ErrNoTranscript) {
				t.Fatalf("another error: %v", err)
			}
			return
		}
		found := tr.Examine(Defaults())
		eventsExist(t, tr, found)
		for _, trace := range tr.traces {
			eventsExist(t, tr, Watch(trace, Defaults(), nil))
		}
	})
}
