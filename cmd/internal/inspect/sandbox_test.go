package inspect

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
)

// The test binary is also what runs in the sandbox.
func TestMain(m *testing.M) {
	if code, is := kit.Child(os.Args); is {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// A task's programs are found in the journal, and run again on a clean folder.
func TestTaskRunsAgain(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "data.csv"), []byte("40\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "deckhand.yaml")
	if err := os.WriteFile(file, []byte("workspace: "+dir+"\ndata_dir: "+dir+"/.deckhand\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(config.Flags{Config: file}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	env := &agent.Env{Memory: "2GiB", Files: []string{"data.csv", "missing"}, Environment: map[string]string{"MODE": "fast"}}
	intent := func(strand agent.StrandID, effect agent.EffectID, tool, arguments string) agent.Event {
		return agent.Event{Strand: strand, Body: agent.ToolIntent{Effect: effect, Tool: tool, Arguments: json.RawMessage(arguments)}}
	}
	outcome := func(effect agent.EffectID, text string) agent.Event {
		return agent.Event{Strand: "task/t1", Body: agent.ToolOutcome{Effect: effect, State: agent.OutcomeOK, Text: text}}
	}
	events := []agent.Event{
		{Strand: agent.Main, Body: agent.RunStarted{Goal: "g"}},
		{Strand: agent.Main, Body: agent.PlanAccepted{Plan: agent.Plan{Tasks: []agent.Task{{ID: "t1", Title: "Sum", Env: env}, {ID: "t2"}}}}},
		intent("task/t1", "e1", "run_code", `{"code":"6*7"}`), outcome("e1", "42"),
		intent("task/t1", "e2", "run_shell", `{"command":"cat data.csv; echo $MODE"}`), outcome("e2", "40\n2\nfast"),
		intent("task/t2", "e3", "run_code", `{"code":"1"}`),
		intent("task/t1", "e4", "read_file", `{"path":"data.csv"}`),
	}
	if _, tools := newToolNames(t, cfg)["run_shell"]; !tools {
		t.Skip("nothing on this machine keeps programs from its files: there is neither bubblewrap nor Landlock")
	}
	found := task{Run: "r1", Task: "t1"}
	if _, planned := gather(&found, events); !planned || len(found.Calls) != 2 || found.Env != env {
		t.Fatalf("%+v", found)
	}
	if found.Driver, found.Sandbox, err = kit.TaskSandbox(t.Context(), cfg, found.Env); err != nil || found.Sandbox.Memory != 2<<30 {
		t.Fatalf("%+v, %v", found, err)
	}
	if found.Files, err = kit.TaskFiles(cfg, "", paths(found)); err != nil || len(found.Files) != 1 {
		t.Fatalf("%+v, %v", found.Files, err)
	}
	for _, as := range []bool{false, true} {
		var out bytes.Buffer
		e := Env{Out: &out, JSON: &as, Printable: func(s string) string { return s }, Fail: func(err error) error { return err },
			Usage: fmt.Errorf, Open: func(_ context.Context, use func(config.Config, app.Store) error) error { return use(cfg, nil) }}
		if err := e.showTask(found); err != nil || !strings.Contains(out.String(), "data.csv") {
			t.Errorf("%s, %v", out.String(), err)
		}
		if !as {
			continue
		}
		elsewhere, err := e.readTask(&out, "-")
		if err != nil {
			t.Fatal(err)
		}
		out.Reset()
		if err := e.runAgain(t.Context(), cfg, elsewhere); err != nil || strings.Count(out.String(), `"same":true`) != 2 {
			t.Errorf("%s, %v", out.String(), err)
		}
		elsewhere.Calls[0].Text = "43"
		if err := e.runAgain(t.Context(), cfg, elsewhere); err == nil || !strings.Contains(err.Error(), "1 of 2 results differ") {
			t.Errorf("%v", err)
		}
	}
}

func newToolNames(t *testing.T, c config.Config) map[string]bool {
	t.Helper()
	box, err := kit.NewTools(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close() })
	names := map[string]bool{}
	for _, s := range box.Specs() {
		names[s.Name] = true
	}
	return names
}
