package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/mcp"
)

// started is a server of the kind, with its tools.
func started(t *testing.T, kind string, change func(*mcp.Config)) (*mcp.Server, map[string]agent.Tool) {
	t.Helper()
	s := server(t, kind, change)
	return s, list(t, s)
}

func server(t *testing.T, kind string, change func(*mcp.Config)) *mcp.Server {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := mcp.Config{Name: "test", Command: self, Args: []string{"-test.run=^$"},
		Env:     map[string]string{"DECKHAND_TEST_MCP": kind, "TEST_TOKEN": "s3cr3t-value"},
		Secrets: []string{"s3cr3t-value"}, Timeout: 20 * time.Second,
		Save: func(_, name string, data []byte) (string, error) {
			return name, os.WriteFile(filepath.Join(dir, name), data, 0o600)
		}}
	if change != nil {
		change(&c)
	}
	s := mcp.New(c)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func list(t *testing.T, s *mcp.Server) map[string]agent.Tool {
	t.Helper()
	tools, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]agent.Tool{}
	for _, one := range tools {
		m[one.Spec().Name] = one
	}
	return m
}

func run(t *testing.T, tool agent.Tool, text string, repeat agent.Repeat) agent.Result {
	t.Helper()
	if tool == nil {
		t.Fatal("there is no such tool")
	}
	args, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), tool.Spec().Timeout)
	defer cancel()
	return tool.Run(ctx, agent.Call{Run: "run1", Effect: "task/a.1.0", Tool: tool.Spec().Name, Arguments: args, Repeat: repeat})
}

func TestCalls(t *testing.T) {
	t.Parallel()
	_, tools := started(t, "good", nil)
	spec := tools["echo"].Spec()
	if spec.Class != agent.ClassSend || spec.Repeat != agent.RepeatOnce || spec.Description != "says what it was told" || !strings.Contains(string(spec.Parameters), `"text"`) {
		t.Errorf("the tool is described as %+v", spec)
	}
	for _, tt := range []struct {
		tool  string
		state agent.OutcomeState
		parts []string
	}{
		{"echo", agent.OutcomeOK, []string{"you said hello"}},
		{"fail", agent.OutcomeError, []string{"error: ", "the shelf is empty"}},
		{"env", agent.OutcomeOK, []string{"TEST_TOKEN=[secret]", "PATH="}},
		{"picture", agent.OutcomeOK, []string{"here", `{"points":1}`, "test-picture-run1-task-a-1-0-1.png"}},
		{"ask", agent.OutcomeOK, []string{"the answer was decline", "Which colour?", "ask_human"}},
	} {
		r := run(t, tools[tt.tool], "hello", "")
		if r.State != tt.state || r.Trust != agent.Untrusted {
			t.Errorf("%s: %s, %s: %s", tt.tool, r.State, r.Trust, r.Text)
		}
		for _, p := range tt.parts {
			if !strings.Contains(r.Text, p) {
				t.Errorf("%s: %q lacks %q", tt.tool, r.Text, p)
			}
		}
		if strings.Contains(r.Text, "s3cr3t") {
			t.Errorf("%s tells a secret: %s", tt.tool, r.Text)
		}
	}
	if r := run(t, tools["picture"], "", ""); len(r.Files) != 1 {
		t.Errorf("the picture is kept as %v", r.Files)
	}
}

// TestOnlyItsOwnEnvironment holds that a server sees no token of Deckhand's.
func TestOnlyItsOwnEnvironment(t *testing.T) {
	t.Setenv("SLACK_BOT_TOKEN", "xoxb-not-for-others")
	_, tools := started(t, "good", nil)
	if r := run(t, tools["env"], "", ""); strings.Contains(r.Text, "xoxb") {
		t.Errorf("a server sees the environment of Deckhand: %s", r.Text)
	}
}

func TestResources(t *testing.T) {
	t.Parallel()
	_, tools := started(t, "good", nil)
	if r := run(t, tools["list_resources"], "", ""); !strings.Contains(r.Text, "memo://one") {
		t.Errorf("listed: %s", r.Text)
	}
	c := agent.Call{Arguments: json.RawMessage(`{"uri":"memo://one"}`)}
	if r := tools["read_resource"].Run(t.Context(), c); r.Text != "the first memo" {
		t.Errorf("read: %+v", r)
	}
	c.Arguments = json.RawMessage(`{"uri":"memo://two"}`)
	if r := tools["read_resource"].Run(t.Context(), c); r.State != agent.OutcomeError || !strings.Contains(r.Text, "refused") {
		t.Errorf("read what is not there: %+v", r)
	}
}

// TestADeadServer: the call that was sent is unknown, unless it may be repeated;
// the next one starts the server anew.
func TestADeadServer(t *testing.T) {
	t.Parallel()
	_, tools := started(t, "good", nil)
	if r := run(t, tools["die"], "", agent.RepeatOnce); r.State != agent.OutcomeUnknown || strings.Contains(r.Text, "s3cr3t") {
		t.Errorf("a call that killed the server: %+v", r)
	}
	if r := run(t, tools["echo"], "again", ""); r.State != agent.OutcomeOK {
		t.Errorf("after the first death: %+v", r)
	}
	if r := run(t, tools["die"], "", agent.RepeatRead); r.State != agent.OutcomeError {
		t.Errorf("a read that killed the server: %+v", r)
	}
	r := run(t, tools["echo"], "again", "")
	if r.State != agent.OutcomeError || !strings.Contains(r.Text, "Nothing was sent") || !strings.Contains(r.Text, "out of cheese, token [secret]") {
		t.Errorf("it is started again at once, or nobody learns why not: %+v", r)
	}
	deadline := time.Now().Add(20 * time.Second)
	for r.State != agent.OutcomeOK && time.Now().Before(deadline) {
		r = run(t, tools["echo"], "again", "")
	}
	if r.State != agent.OutcomeOK {
		t.Errorf("it is never started again: %+v", r)
	}
}

func TestAServerThatHangs(t *testing.T) {
	t.Parallel()
	_, tools := started(t, "good", func(c *mcp.Config) { c.Timeout = 700 * time.Millisecond })
	note := filepath.Join(t.TempDir(), "note")
	r := run(t, tools["hang"], note, "")
	if r.State != agent.OutcomeUnknown || !strings.Contains(r.Text, "no answer within") {
		t.Errorf("a call without an answer: %+v", r)
	}
	until(t, "the server hears of the end", func() bool {
		b, err := os.ReadFile(note)
		return err == nil && string(b) == "cancelled"
	})
	if r := run(t, tools["echo"], "still", ""); r.State != agent.OutcomeOK {
		t.Errorf("the next call: %+v", r)
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	end := time.After(20 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

func TestBadServers(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{"noise": "floods", "other": "1999-01-01"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			_, err := server(t, kind, nil).Tools(t.Context())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
	t.Run("mute", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := server(t, "mute", nil).Tools(ctx); err == nil || !strings.Contains(err.Error(), "in time") {
			t.Errorf("%v", err)
		}
	})
	t.Run("missing", func(t *testing.T) {
		t.Parallel()
		_, err := server(t, "", func(c *mcp.Config) { c.Command = "no-such-program-here" }).Tools(t.Context())
		if err == nil || !strings.Contains(err.Error(), "installed") {
			t.Errorf("%v", err)
		}
	})
	t.Run("large", func(t *testing.T) {
		t.Parallel()
		_, tools := started(t, "good", nil)
		if r := run(t, tools["large"], "", ""); r.State != agent.OutcomeUnknown || len(r.Text) > 1000 {
			t.Errorf("an answer of 17 MiB: %s, %.200s", r.State, r.Text)
		}
	})
}

// TestNothingIsLeft holds that a closed server's children end with it.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	s, tools := started(t, "good", nil)
	pid, err := strconv.Atoi(run(t, tools["child"], "", "").Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, "the server's child ends", func() bool { return gone(pid) })
	if r := run(t, tools["echo"], "", ""); r.State != agent.OutcomeError {
		t.Errorf("a closed server answers: %+v", r)
	}
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.Contains(string(b), ") Z ")
}

func TestAListThatChanges(t *testing.T) {
	t.Parallel()
	s, tools := started(t, "good", nil)
	if r := run(t, tools["grow"], "", ""); r.State != agent.OutcomeOK {
		t.Fatal(r.Text)
	}
	select {
	case <-s.Changed():
	case <-time.After(20 * time.Second):
		t.Fatal("nobody hears of the new tool")
	}
	if r := run(t, list(t, s)["grown"], "", ""); r.Text != "I am new" {
		t.Errorf("the new tool: %+v", r)
	}
}

// TestHTTP works a server over streamable HTTP: with headers, with answers that
// break off, and after it forgot its sessions.
func TestHTTP(t *testing.T) {
	t.Parallel()
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return testServer("http") }, nil)
	var broken, seen []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Header.Get("Authorization"))
		if slices.Contains(broken, r.URL.Path) && r.Method == http.MethodPost {
			w.Header().Set("Content-Type", "text/event-stream")
			w.WriteHeader(http.StatusOK)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	defer srv.Close()
	s := mcp.New(mcp.Config{Name: "web", URL: srv.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer s3cr3t-value"}, Timeout: 10 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true}})
	defer func() { _ = s.Close() }()
	tools := list(t, s)
	if r := run(t, tools["echo"], "hello", ""); r.Text != "you said hello" {
		t.Errorf("over HTTP: %+v", r)
	}
	if len(seen) == 0 || slices.ContainsFunc(seen, func(h string) bool { return h != "Bearer s3cr3t-value" }) {
		t.Errorf("the headers are %q", seen)
	}
	broken = []string{"/mcp"}
	began := time.Now()
	if r := run(t, tools["echo"], "hello", ""); r.State != agent.OutcomeUnknown || time.Since(began) > 8*time.Second {
		t.Errorf("an answer that broke off, after %s: %+v", time.Since(began), r)
	}
}
