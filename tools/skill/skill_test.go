package skill_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/tools/skill"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// lay writes files below a folder.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func read(t *testing.T, tool skill.Tool, args map[string]string) agent.Result {
	t.Helper()
	data, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return tool.Run(t.Context(), agent.Call{Arguments: data})
}

const tide = "---\nname: tide-table\ndescription: >\n  Reads a tide table.\n  Use when somebody asks for high water.\nlicense: MIT\n---\n# Steps\n\n1. Open scripts/tide.py\n"

func TestSkillsAreReadAndFollowed(t *testing.T) {
	t.Parallel()
	dir := lay(t, map[string]string{
		"tide/SKILL.md": tide, "tide/scripts/tide.py": "print(6)\n", "tide/.git/config": "x", "notes.md": "no skill", "empty/readme.md": "none either",
		"windows/SKILL.md": strings.ReplaceAll(strings.ReplaceAll(tide, "tide-table", "other"), "\n", "\r\n"),
	})
	other := lay(t, map[string]string{"again/SKILL.md": strings.ReplaceAll(tide, "high water", "low water")})
	if err := os.Symlink("/etc/hostname", filepath.Join(dir, "tide", "host")); err != nil {
		t.Fatal(err)
	}
	s, err := skill.Load([]string{dir, other})
	if err != nil || len(s.Skills()) != 2 {
		t.Fatalf("%+v, %v", s.Skills(), err)
	}
	r := s.Records()[0]
	if r.ID != "skill-tide-table" || !strings.HasPrefix(r.Text, "tide-table: Reads a tide table. Use when somebody asks for high water.") || r.Label() != agent.Trusted {
		t.Errorf("the record: %+v", r)
	}
	tool := skill.Tool{Shelf: s}
	if got := read(t, tool, map[string]string{"name": "tide-table"}); got.State != agent.OutcomeOK || got.Text != "# Steps\n\n1. Open scripts/tide.py\n\nFiles: scripts/tide.py" {
		t.Errorf("the steps: %+v", got)
	}
	if got := read(t, tool, map[string]string{"name": "tide-table", "file": "scripts/tide.py"}); got.Text != "print(6)\n" {
		t.Errorf("the file: %+v", got)
	}
	for _, bad := range []map[string]string{
		{"name": "tide"}, {"name": "tide-table", "file": "../../notes.md"}, {"name": "tide-table", "file": "/etc/passwd"},
		{"name": "tide-table", "file": "host"}, {"name": "tide-table", "file": "scripts"}, {"name": "tide-table", "file": "none"},
	} {
		if got := read(t, tool, bad); got.State == agent.OutcomeOK {
			t.Errorf("%v is read: %+v", bad, got)
		}
	}
}

func TestFoldersThatAreNoSkills(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"front matter": "# Steps", "its name": strings.Replace(tide, "tide-table", "Tide Table", 1), "name \"": strings.Replace(tide, "name:", "title:", 1),
		"description": "---\nname: a\n---\nsteps", "no steps": "---\nname: a\ndescription: b\n---\n", "at most": tide + strings.Repeat("x", 64<<10), "no text": tide + "\x00",
	} {
		s, err := skill.Load([]string{lay(t, map[string]string{"bad/SKILL.md": text, "good/SKILL.md": tide})})
		if !errors.Is(err, skill.ErrSkill) || !strings.Contains(err.Error(), name) || len(s.Skills()) != 1 {
			t.Errorf("%s: %d skills, %v", name, len(s.Skills()), err)
		}
	}
	if _, err := skill.Load([]string{filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a folder that is not there is read")
	}
}
