package check_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/check"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// echo is a tool that says what it is asked; "fail" fails.
type echo struct{}

func (echo) Spec() agent.ToolSpec { return agent.ToolSpec{Name: "echo"} }

func (echo) Run(_ context.Context, c agent.Call) agent.Result {
	var a struct{ Command, Query string }
	if err := json.Unmarshal(c.Arguments, &a); err != nil || c.Folder != "team" || a.Command == "fail" {
		return agent.Failed("the program ended with exit code 3")
	}
	return agent.Result{State: agent.OutcomeOK, Text: a.Command + a.Query}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "team"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "team", "a.json"), []byte(`{"n": [1, 2]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	space, err := workspace.New(workspace.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	whole := check.New(check.Config{Workspace: space, Shell: echo{}, Query: echo{}})
	bare := check.New(check.Config{Workspace: space})
	for _, tt := range []struct {
		args, says string
		tool       check.Tool
	}{
		{`{"command":"true"}`, "passed: command `true`", whole},
		{`{"command":"fail"}`, "error: the program ended with exit code 3", whole},
		{`{"command":"42 tests","expect":"42"}`, "passed: ", whole},
		{`{"command":"41 tests","expect":"42"}`, `error: expected the text "42", found: 41 tests`, whole},
		{`{"command":"ok 12","expect":"/ok \\d+/"}`, "passed: ", whole},
		{`{"command":"ok","expect":"/ok \\d+/"}`, "error: expected a match of", whole},
		{`{"command":"ok","expect":"/(/"}`, "error: the check's expression is none", whole},
		{`{"command":"true"}`, "error: no sandbox here runs commands", bare},
		{`{"query":"[[3]]","expect":[[3]]}`, "passed: query", whole},
		{`{"query":"[[4]]","expect":[[3]]}`, "error: expected the value [[3]]", whole},
		{`{"query":"x"}`, "error: nothing here answers queries", bare},
		{`{"file":"a.json"}`, "passed: file `a.json`", bare},
		{`{"file":"b.json"}`, "error: ", bare},
		{`{"file":"../team/a.json"}`, "error: ", bare},
		{`{"file":"a.json","expect":{"n":[1,2]}}`, "passed: ", bare},
		{`{"file":"a.json","schema":{"type":"object","required":["n"]}}`, "passed: file `a.json` against its schema", bare},
		{`{"file":"a.json","schema":{"type":"array"}}`, "error: it does not fit the schema", bare},
		{`{"file":"a.json","schema":{"type":7}}`, "error: the check's schema is none", bare},
		{`{"schema":{"type":"array","minItems":1},"value":[1]}`, "passed: ", bare},
		{`{"schema":{"type":"array","minItems":1},"value":"[1]"}`, "passed: ", bare},
		{`{"schema":{"type":"array","minItems":1},"value":[]}`, "error: it does not fit", bare},
		{`{"schema":{"type":"array"}}`, "error: there is nothing to check", bare},
	} {
		r := tt.tool.Run(t.Context(), agent.Call{Arguments: json.RawMessage(tt.args), Folder: "team"})
		if !strings.HasPrefix(r.Text, tt.says) || (r.State == agent.OutcomeOK) != strings.HasPrefix(tt.says, "passed: ") {
			t.Errorf("%s: %s %q, want %q", tt.args, r.State, r.Text, tt.says)
		}
		if r.State == agent.OutcomeError && r.Trust == agent.Trusted && strings.Contains(r.Text, "found") {
			t.Errorf("%s: what was found is somebody else's words", tt.args)
		}
	}
}
