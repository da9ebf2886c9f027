package app

import (
	"os"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// A start says what gives secrets away: root, and a file of the folder that sends
// keys of the environment to an address of its own.
func TestWarnings(t *testing.T) {
	t.Chdir(t.TempDir())
	load := func(text string, variables map[string]string) config.Config {
		t.Helper()
		if err := os.WriteFile("deckhand.yaml", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(config.Flags{}, func(name string) string { return variables[name] })
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	key := map[string]string{"OPENAI_API_KEY": "sk-1"}
	both := map[string]string{"OPENAI_API_KEY": "sk-1", "OPENAI_BASE_URL": "https://mine.example/v1"}
	slack := map[string]string{"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}
	for name, c := range map[string]struct {
		file      string
		variables map[string]string
		root      bool
		want      string // empty: no warning
	}{
		"nothing":                    {"", key, false, ""},
		"root":                       {"", key, true, "this process runs as root"},
		"an address of the folder's": {"model:\n  base_url: https://other.example/v1\n", key, false, "deckhand.yaml:2 sends the key of OPENAI_API_KEY to another address (model.base_url)"},
		"without a key":              {"model: {base_url: 'https://other.example/v1'}\n", nil, false, ""},
		"the environment's own":      {"model: {base_url: 'https://other.example/v1'}\n", both, false, ""},
		"a Slack of the folder's":    {"slack: {api_url: 'https://other.example/api/'}\n", slack, false, "deckhand.yaml:1 sends the key of SLACK_BOT_TOKEN"},
		"a file that says both":      {"model: {base_url: 'https://other.example/v1', api_key_file: key}\n", nil, false, ""},
	} {
		if err := os.WriteFile("key", []byte("sk-2"), 0o600); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(warnings(load(c.file, c.variables), c.root), "\n")
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	named := load("model: {base_url: 'https://other.example/v1'}\n", nil)
	named.File = "/etc/deckhand.yaml"
	if got := warnings(named, false); len(got) > 0 {
		t.Errorf("a file that was named: %q", got)
	}
}
