package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// examined runs examine on standard input.
func examined(t *testing.T, in string, args ...string) (code int, out, err string) {
	t.Helper()
	var stdout, stderr strings.Builder
	a := &cli{in: strings.NewReader(in), out: &stdout, err: &stderr, env: func(string) string { return "" }}
	code = a.run(t.Context(), append([]string{"examine"}, args...))
	return code, stdout.String(), stderr.String()
}

func looping(n int) string {
	messages := []string{`{"role":"user","content":"go"}`}
	for range n {
		messages = append(messages,
			`{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"look","arguments":"{}"}}]}`,
			`{"role":"tool","tool_call_id":"c","content":"nothing \u001b[2J"}`)
	}
	return strings.Join(messages, "\n")
}

func TestExamine(t *testing.T) {
	code, out, _ := examined(t, looping(4), "-", "--json")
	var found []struct {
		Rule, Severity, Message string
		Events                  []int
		Strand                  *string
	}
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != exitFailed {
		t.Fatalf("exit %d, %v: %s", code, err, out)
	}
	last := found[len(found)-1]
	if last.Rule != "L3" || last.Severity != "stop" || len(last.Events) != 4 || last.Events[3] != 7 || last.Strand != nil || last.Message == "" {
		t.Errorf("%+v", last)
	}

	code, out, _ = examined(t, looping(4), "-")
	if code != exitFailed || strings.Contains(out, "\x1b") || !strings.Contains(out, "stop     L3") || !strings.Contains(out, "events 1, 3, 5, 7") {
		t.Errorf("exit %d: %q", code, out)
	}
	if code, out, _ = examined(t, looping(1), "-"); code != exitDone || out != "no loop found in 2 steps (messages)\n" {
		t.Errorf("exit %d: %q", code, out)
	}
	if code, out, _ = examined(t, looping(1), "-", "--json"); code != exitDone || out != "[]\n" {
		t.Errorf("exit %d: %q", code, out)
	}
}

func TestExamineFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	line := `{"run":"r","strand":"task/t1","seq":SEQ,"at":"2026-03-02T12:00:00Z","kind":"tool.KIND","body":{"effect":"eN","tool":"look","arguments":{},"state":"ok","text":"1"}}` + "\n"
	var lines strings.Builder
	for i := range 4 {
		n := string(rune('1' + i))
		lines.WriteString(strings.NewReplacer("SEQ", "1"+n, "KIND", "intent", "eN", "e"+n).Replace(line))
		lines.WriteString(strings.NewReplacer("SEQ", "2"+n, "KIND", "outcome", "eN", "e"+n).Replace(line))
	}
	lines.WriteString(`{"run":"r","strand":"main","seq":99,"at":"2026-03-02T12:00:00Z","kind":"of.tomorrow","body":{}}`)
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := examined(t, "", file)
	if code != exitFailed || !strings.Contains(out, "task/t1 events 11, 12, 13, 14") || !strings.Contains(stderr, "left out, written by a newer Deckhand: 1") {
		t.Errorf("exit %d: %q, %q", code, out, stderr)
	}
}

func TestExamineNoTranscript(t *testing.T) {
	for _, in := range []string{"", "hello", "{}", `{"messages": []}`, looping(1) + "\n{"} {
		code, out, stderr := examined(t, in, "-", "--json")
		if code != exitUsage || out != "" || !strings.Contains(stderr, "no transcript") || !strings.Contains(stderr, "ReAct") {
			t.Errorf("%q: exit %d, %q, %q", in, code, out, stderr)
		}
	}
	if code, _, stderr := examined(t, "", filepath.Join(t.TempDir(), "absent")); code != exitUsage || !strings.Contains(stderr, "absent") {
		t.Errorf("exit %d, %q", code, stderr)
	}
}
