package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// loaded is what a file says, with two variables.
func loaded(t *testing.T, text string) (Config, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{"deckhand.yaml": text, "token": "from-a-file\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(Flags{Config: filepath.Join(dir, "deckhand.yaml")}, func(name string) string {
		return map[string]string{"TOKEN": "t0ken-t0ken", "USER_AND_PASSWORD": "ann:pa55word"}[name]
	})
}

func TestSources(t *testing.T) {
	t.Parallel()
	c, err := loaded(t, `
mcpServers:
  files: {command: npx, args: ["-y", "server", "${TOKEN}", "${DIR:-/data}"], env: {LEVEL: info, API_TOKEN: plain-token, OTHER_file: token}}
  web: {type: http, url: https://mcp.example.com/mcp, headers: {Authorization: "Bearer ${TOKEN}", X-Team: blue}}
openapi:
  crm: {document: api/crm.yaml, credentials: {basic: "${USER_AND_PASSWORD}", header: {X-Key_file: token}, query: {tenant: blue-team}}}
  pub: {document: https://example.com/openapi.json, credentials: {bearer_file: token}}
`)
	if err != nil {
		t.Fatal(err)
	}
	files, web := c.MCPServers["files"], c.MCPServers["web"]
	env := Values(files.Env)
	if len(env) != 3 || env["OTHER"] != "from-a-file" || env["LEVEL"] != "info" {
		t.Errorf("the environment is %v", env)
	}
	if files.Args[2].Reveal() != "t0ken-t0ken" || files.Args[3].Reveal() != "/data" {
		t.Errorf("the arguments are %q, %q", files.Args[2].Reveal(), files.Args[3].Reveal())
	}
	secrets := files.Secrets()
	slices.Sort(secrets)
	if got := strings.Join(secrets, " "); got != "from-a-file plain-token t0ken-t0ken" {
		t.Errorf("the secrets are %s", got)
	}
	if h := Values(web.Headers); h["Authorization"] != "Bearer t0ken-t0ken" || !slices.Contains(web.Secrets(), "t0ken-t0ken") || slices.Contains(web.Secrets(), "blue") {
		t.Errorf("headers %v, secrets %v", h, web.Secrets())
	}
	crm := c.OpenAPI["crm"]
	if crm.Credentials.Login() != "ann:pa55word" || Values(crm.Credentials.Header)["X-Key"] != "from-a-file" || !filepath.IsAbs(crm.Document) {
		t.Errorf("the document is %q, its login %q", crm.Document, crm.Credentials.Login())
	}
	if c.OpenAPI["pub"].Credentials.Token() != "from-a-file" || c.OpenAPI["pub"].Document != "https://example.com/openapi.json" {
		t.Errorf("a document at an address: %q", c.OpenAPI["pub"].Document)
	}
	for _, secret := range []string{"t0ken", "pa55word", "from-a-file", "plain-token"} {
		if text := fmt.Sprintf("%v %+v %#v", c, c.MCPServers, c.OpenAPI); strings.Contains(text, secret) {
			t.Errorf("the configuration prints %s", secret)
		}
	}
}

func TestBadSources(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, want string }{
		{"mcpServers: {a: {}}", `one of "command" and "url"`},
		{"mcpServers: {a: {command: x, url: 'http://h/'}}", `one of "command" and "url"`},
		{"mcpServers: {a: {command: x, headers: {A: b}}}", `belong to a url`},
		{"mcpServers: {a: {url: 'http://h/', env: {A: b}}}", `belong to a command`},
		{"mcpServers: {a: {command: x, args: ['${NOPE}']}}", "deckhand.yaml:1: "},
		{"mcpServers: {a: {command: x, args: ['${NOPE}']}}", "NOPE is not set"},
		{"mcpServers: {a: {command: x, env: {A_file: missing}}}", "there is no file"},
		{"mcpServers: {'a b': {command: x}}", "a name of at most 32"},
		{"mcpServers: {a: {command: x, timout: 1s}}", `did you mean "timeout"`},
		{"mcpServers: {a: {url: 'http://h/', type: stdio}}", "does not fit"},
		{"openapi: {a: {server: 'http://h/'}}", `"document" is missing`},
		{"openapi: {a: {document: 'ftp://h/'}}", "not a file, nor a URL"},
		{"openapi: {a: {document: x, credentials: {basic: nothing}}}", "user:password"},
		{"mcpServers: {a: {command: x}}\nopenapi: {a: {document: x}}", "is taken by mcpServers"},
	} {
		if _, err := loaded(t, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
}
