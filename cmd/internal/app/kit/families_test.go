package kit_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/kit"
)

func TestMain(m *testing.M) {
	if code, is := kit.Child(os.Args); is {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// everything is a configuration with every family and source that reaches out, each
// at an address of the internet.
const everything = `
web: {private: ["93.184.216.34"]}
search: {kind: searxng, url: "https://93.184.216.34/search"}
images: {model: gpt-image-1}
model: {name: m, base_url: "https://93.184.216.34/v1"}
tools:
  internet: false
  http: {hosts: ["93.184.216.34"]}
  post_external: {url: "https://93.184.216.34/posts"}
  git: {hosts: ["93.184.216.34"]}
mcpServers: {far: {url: "https://93.184.216.34/mcp"}}
openapi: {far-api: {document: "https://93.184.216.34/openapi.json"}}
`

// reaching is a call of every tool that leaves this host. A new one needs its row.
var reaching = map[string]string{
	"browse_website":   `{"url":"https://93.184.216.34/"}`,
	"web_search":       `{"query":"boats"}`,
	"http_request":     `{"url":"https://93.184.216.34/"}`,
	"post_external":    `{"text":"hello"}`,
	"clone_repository": `{"url":"https://93.184.216.34/x.git","path":"x"}`,
	"generate_image":   `{"prompt":"a boat"}`,
}

// One switch cuts off everything that leaves the host.
func TestInternetOff(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("deckhand.yaml", []byte(everything), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(config.Flags{}, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	k, err := kit.New(kit.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := k.Box.Close(); err != nil {
			t.Error(err)
		}
	}()
	k.Box.Load(t.Context())
	for _, s := range k.Box.Standings() {
		if !strings.Contains(s.Problem, "tools.internet") {
			t.Errorf("the source %s: %+v", s.Source, s)
		}
	}
	left := 0
	for _, spec := range k.Box.Specs() {
		if !spec.Open && spec.Class != agent.ClassSend {
			continue
		}
		left++
		arguments, is := reaching[spec.Name]
		if !is {
			t.Errorf("%s leaves this host and has no row here", spec.Name)
			continue
		}
		tool, _ := k.Box.Tool(spec.Name)
		call := agent.Call{Run: "r1", Effect: "e1", Tool: spec.Name, Arguments: json.RawMessage(arguments)}
		var said string
		if p, is := tool.(agent.Preparer); is {
			if _, err := p.Prepare(t.Context(), call); err != nil {
				said = err.Error()
			}
		}
		if said == "" {
			r := tool.Run(t.Context(), call)
			if said = r.Text; r.State != agent.OutcomeError {
				t.Errorf("%s is not refused: %+v", spec.Name, r)
			}
		}
		if !strings.Contains(said, "tools.internet: false") {
			t.Errorf("%s does not say which switch: %s", spec.Name, said)
		}
	}
	if left < 5 {
		t.Errorf("only %d tools reach out", left)
	}
}

// What is there without any configuration, and what takes a word.
func TestFamilies(t *testing.T) {
	names := func(c config.Config) []string {
		c.Workspace = t.TempDir()
		k, err := kit.New(kit.Options{Config: c})
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, s := range k.Box.Specs() {
			list = append(list, s.Name)
		}
		return list
	}
	usual := names(config.Defaults())
	for name, there := range map[string]bool{"browse_website": true, "post_external": true, "web_search": false, "http_request": false, "generate_image": false} {
		if slices.Contains(usual, name) != there {
			t.Errorf("%s without any configuration: %v", name, !there)
		}
	}
	c := config.Defaults()
	c.Web.Enabled, c.Tools.Git.Enabled = false, false
	if list := names(c); slices.ContainsFunc(list, func(n string) bool { return n == "browse_website" || strings.HasPrefix(n, "git_") }) {
		t.Errorf("what is off is there: %v", list)
	}
}
