package slack

import (
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
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
