package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

func valid(t *testing.T, m llm.Message) {
	t.Helper()
	for _, c := range m.Calls {
		if !json.Valid([]byte(c.Arguments)) {
			t.Fatalf("the arguments of %s are no JSON: %s", c.Name, c.Arguments)
		}
	}
}

// request is a work request whose conversation has two results of list_files
// and one of read_file.
func request(p llm.Purpose) llm.Request {
	return llm.Request{Purpose: p, Task: "count", Messages: []llm.Message{
		{Role: llm.System, Content: "input x = 99"},
		{Role: llm.User, Content: "The goal of the whole run, for context:\nCount <all>\nthe lines\n\nYour task (count): Count\n" +
			"Inputs:\ninput total = 12345678901234567890\ninput rows = [{\"name\": \"a\", \"n\": 1.50}]\ninput label = \"A & \\\"B\\\"\"\n" +
			"input chart = {\"file\":\"c.png\"} in x\n  output loc = 7\ninput broken = {\n"},
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "c1", Name: "list_files"}, {ID: "c2", Name: "read_file"}}},
		{Role: llm.Tool, CallID: "c1", Content: "<<<DECKHAND-RESULT ab12 trust=own\na.go\nb.go\n\nDECKHAND-RESULT ab12>>>"},
		{Role: llm.Tool, CallID: "c2", Content: "<<<DECKHAND-RESULT cd trust=untrusted\n{\"count\": 3}\nDECKHAND-RESULT cd>>>\n"},
		{Role: llm.Assistant, Calls: []llm.Call{{ID: "c3", Name: "list_files"}}},
		{Role: llm.Tool, CallID: "c3", Content: "c.go"},
		{Role: llm.User, Content: "go on"},
	}}
}

func scenario(t *testing.T, turns string) *Scenario {
	t.Helper()
	s, err := Parse("s.yaml", []byte(head+turns))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTemplates(t *testing.T) {
	tests := []struct{ in, want string }{
		{`plain`, `"plain"`},
		{`{{ goal }}`, `"Count <all>\nthe lines"`},
		{`{{ result "list_files" }}`, `"c.go"`},
		{`{{ result "list_files" 0 }}`, `"a.go\nb.go\n"`},
		{`{{ index (lines (result "list_files" 0)) 1 }}`, `"b.go"`},
		{`{{ lines (result "list_files" 0) | join ", " }}`, `"a.go, b.go"`},
		{`{{ raw (lines (result "list_files" 0)) }}`, `["a.go","b.go"]`},
		{`{{ lines (result "list_files" 0) | raw }}`, `["a.go","b.go"]`},
		{`{{ raw (result "read_file") }}`, `{"count":3}`},
		{`{{ field "count" (result "read_file") }}`, `"3"`},
		{`{{ raw (field "count" (result "read_file")) }}`, `3`},
		{`{{ raw (input "total") }}`, `12345678901234567890`},
		{`{{ input "total" }} lines`, `"12345678901234567890 lines"`},
		{`{{ raw (index (input "rows") 0) }}`, `{"n":1.50,"name":"a"}`},
		{`{{ encode (input "rows") }}`, `"[{\"n\":1.50,\"name\":\"a\"}]"`},
		{`{{ range input "rows" }}{{ .name }}{{ end }}`, `"a"`},
		{`{{ input "label" }}`, `"A & \"B\""`},
		{`{{ quote (input "label") }}`, `"\"A & \\\"B\\\"\""`},
		{`{{ field "file" (input "chart") }}`, `"c.png"`},
		{`{{ raw (output "loc") }}`, `7`},
		{`{{ match "Your task .(\\w+)." }}`, `"count"`},
		{`{{ match "Your" }}`, `"Your"`},
		{`{{ if answered "plot" }}yes{{ else }}no{{ end }}`, `"no"`},
		{`{{ trim "  x " }}{{ len (lines "a\nb") }}`, `"x2"`},
		{`{{/* nothing */}}`, `""`},
	}
	for _, tt := range tests {
		arguments, err := json.Marshal(map[string]string{"v": tt.in}) // JSON is YAML
		if err != nil {
			t.Fatal(err)
		}
		s := scenario(t, "  - purpose: work\n    calls:\n      - name: f\n        arguments: "+string(arguments)+"\n")
		got, err := New(s, Config{}).Complete(t.Context(), request(llm.Work))
		if err != nil {
			t.Errorf("%s: %v", tt.in, err)
			continue
		}
		if args := got.Message.Calls[0].Arguments; args != `{"v":`+tt.want+`}` {
			t.Errorf("%s: got %s, want %s", tt.in, args, tt.want)
		}
	}
}

func TestTemplatesThatFail(t *testing.T) {
	for in, want := range map[string]string{
		`{{ result "plot" }}`:                      "0 results of plot",
		`{{ result "list_files" 2 }}`:              "2 results of list_files",
		`{{ input "x" }}`:                          `no line "input x = "`,
		`{{ input "broken" }}`:                     "is no JSON",
		`{{ match "nowhere" }}`:                    "does not match",
		`{{ match "(" }}`:                          "missing closing",
		`{{ raw (result "list_files") }}`:          "raw",
		`{{ field "a" (result "read_file") }}`:     `no field "a"`,
		`{{ field "a" (input "rows") }}`:           "no object",
		`{{ join "," (input "total") }}`:           "no list",
		`{{ (index (input "rows") 0).missing.x }}`: "missing",
	} {
		s := scenario(t, "  - purpose: work\n    text: '"+in+"'\n")
		_, err := New(s, Config{}).Complete(t.Context(), request(llm.Work))
		var e *llm.Error
		if !errors.As(err, &e) || e.Fault != llm.Unscripted || !strings.Contains(e.Message, want) || !strings.Contains(e.Message, "line 4") {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

func TestComplete(t *testing.T) {
	s := scenario(t, `
  - purpose: work
    task: count
    turn: 2
    text: "I have {{ result \"list_files\" }}."
    calls:
      - {name: run_code, arguments: {z: 1, a: [true, null, 0x10, 1.5, "2", 2026-01-02], m: {k: '{{ goal }}'}}}
      - {name: wait}
  - {purpose: work, task: count, text: other turn}
  - {purpose: work, turn: 0, text: other task}
`)
	m := New(s, Config{})
	got, err := m.Complete(t.Context(), request(llm.Work))
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Response{
		Message: llm.Message{Role: llm.Assistant, Content: "I have c.go.", Calls: []llm.Call{
			{ID: "call_work_count_2_0", Name: "run_code", Arguments: `{"z":1,"a":[true,null,16,1.5,"2","2026-01-02"],"m":{"k":"Count <all>\nthe lines"}}`},
			{ID: "call_work_count_2_1", Name: "wait", Arguments: `{}`},
		}},
		Model: Name, Finish: "tool_calls", Estimated: true, Usage: got.Usage,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.Usage.Prompt < 50 || got.Usage.Completion < 20 {
		t.Errorf("usage %+v", got.Usage)
	}
	again, err := New(s, Config{}).Complete(t.Context(), request(llm.Work))
	if err != nil || !cmp.Equal(got, again) {
		t.Errorf("another process says something else: %+v, %v", again, err)
	}
	for _, tt := range []struct {
		task string
		keep int
		want string
	}{{"count", 3, "other turn"}, {"chart", 2, "other task"}} {
		r := request(llm.Work)
		r.Task, r.Messages = tt.task, r.Messages[:tt.keep]
		if got, err := m.Complete(t.Context(), r); err != nil || got.Message.Content != tt.want || got.Finish != "stop" {
			t.Errorf("%s: got %+v, %v", tt.task, got, err)
		}
	}
	if m.Says() != "All of this is scripted." {
		t.Errorf("says %q", m.Says())
	}
}

func TestUnscripted(t *testing.T) {
	m := New(scenario(t, "  - {purpose: work, task: a, turn: 0, text: x}\n"), Config{})
	r := llm.Request{Purpose: llm.Report, Task: "a", Messages: []llm.Message{{Role: llm.Assistant}}}
	_, err := m.Complete(t.Context(), r)
	var e *llm.Error
	if !errors.As(err, &e) || e.Fault != llm.Unscripted {
		t.Fatalf("got %v", err)
	}
	for _, want := range []string{`"n"`, "purpose report", `task "a"`, "turn 1"} {
		if !strings.Contains(e.Message, want) {
			t.Errorf("%q lacks %q", e.Message, want)
		}
	}
}

func TestJudge(t *testing.T) {
	accepts := New(scenario(t, "  - {purpose: work, text: x}\n"), Config{})
	got, err := accepts.Complete(t.Context(), llm.Request{Purpose: llm.Judge, Task: "t"})
	if err != nil || len(got.Message.Calls) != 1 || got.Message.Calls[0].Name != "judge_task" {
		t.Fatalf("got %+v, %v", got, err)
	}
	var verdict struct {
		Accepted         bool
		Reasons, Missing []string
	}
	if err := json.Unmarshal([]byte(got.Message.Calls[0].Arguments), &verdict); err != nil || !verdict.Accepted || len(verdict.Reasons) != 1 || verdict.Missing == nil {
		t.Errorf("got %s, %v", got.Message.Calls[0].Arguments, err)
	}
	strict := New(scenario(t, "  - purpose: judge\n    calls: [{name: judge_task, arguments: {accepted: false}}]\n"), Config{})
	if got, err := strict.Complete(t.Context(), llm.Request{Purpose: llm.Judge}); err != nil || got.Message.Calls[0].Arguments != `{"accepted":false}` {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTakes(t *testing.T) {
	s := scenario(t, "  - {purpose: work, takes: 300ms, text: x}\n")
	for speed, want := range map[float64]time.Duration{0: 0, 1: 300 * time.Millisecond, 2: 600 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			started := time.Now()
			if _, err := New(s, Config{Speed: speed}).Complete(t.Context(), request(llm.Work)); err != nil || time.Since(started) != want {
				t.Errorf("speed %v took %s, want %s (%v)", speed, time.Since(started), want, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), want/2)
			defer cancel()
			if _, err := New(s, Config{Speed: speed}).Complete(ctx, request(llm.Work)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("speed %v: got %v", speed, err)
			}
		})
	}
}
