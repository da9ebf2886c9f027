package slack

import (
	"cmp"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"go.yaml.in/yaml/v3"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
)

func TestManifest(t *testing.T) {
	t.Parallel()
	var m struct {
		OAuth struct {
			Scopes struct{ Bot []string }
		} `yaml:"oauth_config"`
		Features struct {
			Commands []struct{ Command string } `yaml:"slash_commands"`
		}
	}
	if err := yaml.Unmarshal([]byte(Manifest), &m); err != nil {
		t.Fatal(err)
	}
	if got := Scopes(); !slices.Equal(got, m.OAuth.Scopes.Bot) || len(got) < 15 {
		t.Errorf("scopes %q, want those of the manifest: %q", got, m.OAuth.Scopes.Bot)
	}
	for line := range strings.Lines(Manifest) {
		scope := strings.TrimPrefix(strings.TrimSpace(line), "- ")
		if name, _, _ := strings.Cut(scope, " "); slices.Contains(m.OAuth.Scopes.Bot, name) && !strings.Contains(line, "# ") {
			t.Errorf("scope %s does not say what it is for", name)
		}
	}
	if len(m.Features.Commands) != 1 || m.Features.Commands[0].Command != "/deckhand" {
		t.Errorf("commands %+v", m.Features.Commands)
	}
}

// schemaOf reads a schema for manifests.
func schemaOf(t *testing.T, file string) *jsonschema.Resolved {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	withoutLookahead(all)
	if raw, err = json.Marshal(all); err != nil {
		t.Fatal(err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	if schema.Schema == "" {
		schema.Schema = "http://json-schema.org/draft-07/schema#"
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// withoutLookahead takes the patterns away that Go's regular expressions do not
// know: Slack's own schema has some.
func withoutLookahead(value any) {
	switch v := value.(type) {
	case map[string]any:
		if p, is := v["pattern"].(string); is {
			if _, err := regexp.Compile(p); err != nil {
				delete(v, "pattern")
			}
		}
		for _, inner := range v {
			withoutLookahead(inner)
		}
	case []any:
		for _, inner := range v {
			withoutLookahead(inner)
		}
	}
}

// against holds a manifest (YAML) against the schema.
func against(t *testing.T, schema *jsonschema.Resolved, manifest string) error {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &m); err != nil {
		t.Fatal(err)
	}
	return schema.Validate(m)
}

// Slack refuses a manifest with a key that it does not know or a text that is
// too long, and says so only to whoever pastes it.
func TestManifestIsAsSlackTakesIt(t *testing.T) {
	t.Parallel()
	for _, file := range slices.Compact([]string{"testdata/manifest.schema.json", cmp.Or(os.Getenv("SLACK_MANIFEST_SCHEMA"), "testdata/manifest.schema.json")}) {
		schema := schemaOf(t, file)
		over := strings.NewReplacer("      # url:", "      url:", "    # request_url:", "    request_url:").Replace(Manifest)
		for how, m := range map[string]string{"Socket Mode": Manifest, "HTTP": over} {
			if err := against(t, schema, m); err != nil {
				t.Errorf("%s by %s: %v", how, file, err)
			}
		}
		if strings.Count(over, "https://YOUR-HOST/slack/") != 3 {
			t.Error("the manifest names three URLs in comments")
		}
		for what, change := range map[string][2]string{
			"a long name":          {"name: Deckhand", "name: " + strings.Repeat("Deckhand", 5)},
			"an unknown feature":   {"  agent_view:", "  agents_view:"},
			"a long shortcut":      {"name: Make this a goal", "name: Make this message a goal, please"},
			"a command by itself":  {"command: /deckhand", "command: deckhand"},
			"no title of a prompt": {`title: "What is running?", `, ""},
		} {
			if m := strings.Replace(Manifest, change[0], change[1], 1); m == Manifest || against(t, schema, m) == nil {
				t.Errorf("%s is taken by %s", what, file)
			}
		}
	}
}

// What the app subscribes to is what the adapter understands.
func TestManifestEvents(t *testing.T) {
	t.Parallel()
	var m struct {
		Settings struct {
			Events struct {
				Bot []string `yaml:"bot_events"`
			} `yaml:"event_subscriptions"`
		}
	}
	if err := yaml.Unmarshal([]byte(Manifest), &m); err != nil {
		t.Fatal(err)
	}
	for _, kind := range m.Settings.Events.Bot {
		word, _, _ := strings.Cut(kind, ".")
		if !wire.Understands(word) {
			t.Errorf("the app subscribes to %s, which nobody understands", kind)
		}
	}
	for _, kind := range []string{"app_context_changed", "agent_session_stopped", "agent_session_title_changed", "app_home_opened", "message.im"} {
		if !slices.Contains(m.Settings.Events.Bot, kind) {
			t.Errorf("the agent view needs %s", kind)
		}
	}
}
