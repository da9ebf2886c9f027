package mcp_test

// Real servers from the npm registry, in fixed versions, installed once into the
// cache of whoever runs the tests.

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/mcp"
)

// packages are the servers. They are released together.
var packages = []string{
	"@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31",
	"@modelcontextprotocol/server-memory@2026.8.31", "@modelcontextprotocol/server-sequential-thinking@2026.8.31",
}

// installed is the folder of the servers' programs.
func installed(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("servers from the npm registry are left out in short mode")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("there is no npm on this machine: real MCP servers cannot be installed")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	dir := filepath.Join(cache, "deckhand-test", "mcp-2026.8.31")
	programs := filepath.Join(dir, "node_modules", ".bin")
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return programs
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	args := append([]string{"install", "--prefix", dir, "--no-audit", "--no-fund", "--no-progress", "--ignore-scripts"}, packages...)
	if out, err := exec.CommandContext(ctx, npm, args...).CombinedOutput(); err != nil {
		t.Skipf("the npm registry cannot be reached: %v: %s", err, bytes.TrimSpace(out[max(0, len(out)-300):]))
	}
	if err := os.WriteFile(done, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return programs
}

// invoke calls a tool with arguments of any shape.
func invoke(t *testing.T, tools map[string]agent.Tool, name, args string) agent.Result {
	t.Helper()
	tool := tools[name]
	if tool == nil {
		names := make([]string, 0, len(tools))
		for n := range tools {
			names = append(names, n)
		}
		slices.Sort(names)
		t.Fatalf("there is no %s among %s", name, strings.Join(names, ", "))
	}
	return tool.Run(t.Context(), agent.Call{Run: "run1", Effect: "task/a.1.0", Arguments: json.RawMessage(args)})
}

func TestServersOfTheRegistry(t *testing.T) {
	t.Parallel()
	programs := installed(t)
	dir := t.TempDir()
	for _, tt := range []struct {
		program string
		args    []string
		calls   [][3]string // name, arguments, what the answer holds
	}{
		{"mcp-server-everything", nil, [][3]string{{"echo", `{"message":"ahoy"}`, "ahoy"}, {"get-sum", `{"a":2,"b":40}`, "42"}, {"list_resources", `{}`, "demo://"}}},
		{"mcp-server-filesystem", []string{dir}, [][3]string{
			{"write_file", `{"path":"` + dir + `/a.txt","content":"harbour"}`, "wrote"},
			{"read_text_file", `{"path":"` + dir + `/a.txt"}`, "harbour"},
			{"read_text_file", `{"path":"/etc/passwd"}`, "error"},
		}},
		{"mcp-server-memory", nil, [][3]string{
			{"create_entities", `{"entities":[{"name":"Ann","entityType":"person","observations":["likes tea"]}]}`, "Ann"},
			{"search_nodes", `{"query":"tea"}`, "Ann"},
		}},
		{"mcp-server-sequential-thinking", nil, [][3]string{
			{"sequentialthinking", `{"thought":"first","nextThoughtNeeded":false,"thoughtNumber":1,"totalThoughts":1}`, "thoughtNumber"},
		}},
	} {
		t.Run(tt.program, func(t *testing.T) {
			t.Parallel()
			s := mcp.New(mcp.Config{Name: "real", Command: filepath.Join(programs, tt.program), Args: tt.args,
				Env: map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")}})
			defer func() { _ = s.Close() }()
			tools := list(t, s)
			for _, c := range tt.calls {
				if r := invoke(t, tools, c[0], c[1]); !strings.Contains(strings.ToLower(r.Text), strings.ToLower(c[2])) {
					t.Errorf("%s %s: %s: %.500s", c[0], c[1], r.State, r.Text)
				}
			}
		})
	}
}

// TestARealServerOverHTTP works server-everything over streamable HTTP.
func TestARealServerOverHTTP(t *testing.T) {
	t.Parallel()
	programs := installed(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := l.Addr().String()
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(programs, "mcp-server-everything"), "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	until(t, "the server answers", func() bool {
		c, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", at)
		return err == nil && c.Close() == nil
	})
	s := mcp.New(mcp.Config{Name: "web", URL: "http://" + at + "/mcp"})
	defer func() { _ = s.Close() }()
	if r := invoke(t, list(t, s), "echo", `{"message":"ahoy"}`); !strings.Contains(r.Text, "ahoy") {
		t.Errorf("over HTTP: %+v", r)
	}
}
