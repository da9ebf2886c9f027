package program_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/program"
	"github.com/deckhand-bot/deckhand/tools/sandbox"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

const selfWord = "sandbox-of-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == selfWord {
		os.Exit(sandbox.Main(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// house is a workspace with the tools over it.
type house struct {
	dir   string
	tools map[string]agent.Tool
	r     *program.Runner
}

func newHouse(t *testing.T) house {
	t.Helper()
	dir := t.TempDir()
	w, err := workspace.New(workspace.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sandbox.New(sandbox.Config{Self: []string{os.Args[0], selfWord}, Network: []string{"*.example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	if !s.Isolates(t.Context()) {
		t.Skip("nothing on this machine keeps programs from its files: there is neither bubblewrap nor Landlock")
	}
	h := house{dir: dir, tools: map[string]agent.Tool{}, r: program.New(program.Config{
		Sandbox: s, Workspace: w, Root: dir, Hide: []string{filepath.Join(dir, ".deckhand")}, Wall: 20 * time.Second})}
	for _, tool := range h.r.Tools() {
		h.tools[tool.Spec().Name] = tool
	}
	for name, text := range map[string]string{"data.csv": "1\n2\n39\n", "sum.py": "import sys\nprint(sum(map(int, open(sys.argv[1]))))\n", ".deckhand/deckhand.db": "top-secret"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func (h house) call(t *testing.T, name, arguments string, env *agent.Env) agent.Result {
	t.Helper()
	c := agent.Call{Run: "r1", Effect: "e-" + agent.EffectID(name), Tool: name, Arguments: json.RawMessage(arguments), Env: env}
	preparer, is := h.tools[name].(agent.Preparer)
	if !is {
		t.Fatalf("%s prepares nothing", name)
	}
	p, err := preparer.Prepare(t.Context(), c)
	if err != nil {
		return agent.Failed(err.Error())
	}
	c.Mark = p.Mark
	return h.tools[name].Run(t.Context(), c)
}

func TestPrograms(t *testing.T) {
	h := newHouse(t)
	for _, c := range []struct {
		tool, arguments string
		env             *agent.Env
		want            string
		failed          bool
	}{
		{tool: "run_python", arguments: `{"code":"print(6*7)"}`, want: "42"},
		{tool: "run_python", arguments: `{"code":"import json,sys; print(sum(json.load(sys.stdin)))","input":[40,2]}`, want: "42"},
		{tool: "run_python", arguments: `{"code":"import sys; print(sys.stdin.read())","input":"as it is"}`, want: "as it is"},
		{tool: "run_python", arguments: `{"code":"print(open('data.csv').read())"}`, want: "FileNotFoundError", failed: true},
		{tool: "run_python", arguments: `{"code":"while True: pass"}`, env: &agent.Env{Wall: "1s"}, want: "the program was stopped: it took longer than 1s", failed: true},
		{tool: "run_python", arguments: `{"code":"x = bytearray(300 << 20); import time; time.sleep(9)"}`, env: &agent.Env{Memory: "100MiB"}, want: "emory", failed: true},
		{tool: "run_python", arguments: `{"code":"import os; print(os.environ['MODE'])"}`, env: &agent.Env{Environment: map[string]string{"MODE": "fast"}}, want: "fast"},
		{tool: "run_python", arguments: `{"code":"1"}`, env: &agent.Env{Memory: "9GiB"}, want: "tools.programs.memory allows 2048 MiB", failed: true},
		{tool: "run_python", arguments: `{"code":"1"}`, env: &agent.Env{Network: []string{"evil.example"}}, want: "sandbox.network does not list it", failed: true},
		{tool: "execute_python_file", arguments: `{"path":"sum.py","arguments":["data.csv"]}`, want: "42"},
		{tool: "execute_python_file", arguments: `{"path":"../sum.py"}`, want: "leads out", failed: true},
		{tool: "run_shell", arguments: `{"command":"wc -l < data.csv; cat .deckhand/* || true"}`, want: "3"},
		{tool: "run_shell", arguments: `{"command":"echo no > new"}`, want: "exit code", failed: true},
		{tool: "run_shell", arguments: `{"command":"exit 3"}`, want: "exit code 3", failed: true},
		{tool: "run_shell", arguments: `{"command":"mkdir $OUT/a; cat data.csv data.csv > $OUT/a/twice","keep":["a/twice"]}`, want: "wrote a/twice"},
		{tool: "run_shell", arguments: `{"command":"true","keep":["never"]}`, want: "made no file never", failed: true},
	} {
		if h.tools[c.tool] == nil {
			t.Fatalf("%s is not offered", c.tool)
		}
		r := h.call(t, c.tool, c.arguments, c.env)
		if !strings.Contains(r.Text, c.want) || (r.State == agent.OutcomeError) != c.failed || strings.Contains(r.Text, "top-secret") {
			t.Errorf("%s %s: %s %q, want %q", c.tool, c.arguments, r.State, r.Text, c.want)
		}
	}
	if text, err := os.ReadFile(filepath.Join(h.dir, "a/twice")); err != nil || string(text) != "1\n2\n39\n1\n2\n39\n" {
		t.Errorf("what came back: %q, %v", text, err)
	}
}

// What would change is known before, a change meanwhile stops it, and a
// repetition after a crash writes nothing twice.
func TestKeep(t *testing.T) {
	h := newHouse(t)
	tool, is := h.tools["run_shell"].(agent.Preparer)
	if !is {
		t.Fatal("it does not prepare")
	}
	c := agent.Call{Run: "r1", Effect: "e1", Tool: "run_shell", Arguments: json.RawMessage(`{"command":"echo new > $OUT/data.csv","keep":["data.csv"]}`)}
	p, err := tool.Prepare(t.Context(), c)
	if err != nil || p.Class != agent.ClassWrite || len(p.Changes) != 1 || p.Changes[0] != "data.csv" {
		t.Fatalf("%+v, %v", p, err)
	}
	c.Mark = p.Mark
	file := filepath.Join(h.dir, "data.csv")
	if err := os.WriteFile(file, []byte("changed"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := h.tools["run_shell"].Run(t.Context(), c); r.State != agent.OutcomeError {
		t.Errorf("it wrote over a change: %+v", r)
	}
	if p, err = tool.Prepare(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	c.Mark = p.Mark
	if r := h.tools["run_shell"].Run(t.Context(), c); r.State != agent.OutcomeOK {
		t.Errorf("%+v", r)
	}
	if err := os.WriteFile(file, []byte("later"), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := h.tools["run_shell"].Run(t.Context(), c); r.State != agent.OutcomeOK {
		t.Errorf("the repetition: %+v", r)
	}
	if text, _ := os.ReadFile(file); string(text) != "later" {
		t.Errorf("the repetition wrote again: %q", text)
	}
	if _, err := tool.Prepare(t.Context(), agent.Call{Tool: "run_shell", Arguments: json.RawMessage(`{"command":"x","keep":["../out"]}`)}); err == nil {
		t.Error("a path outside was prepared")
	}
}

func TestStopped(t *testing.T) {
	h := newHouse(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	r := h.tools["run_shell"].Run(ctx, agent.Call{Arguments: json.RawMessage(`{"command":"sleep 100"}`)})
	if r.State != agent.OutcomeError || !strings.Contains(r.Text, "stopped") {
		t.Errorf("%+v", r)
	}
}
