package bottest

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/bot"
)

var update = flag.Bool("update", false, "write testdata/cards anew")

// Drawn is a card as text, so that a person can read the golden files.
func Drawn(c bot.Card) string {
	var b strings.Builder
	if c.Key != (bot.Key{}) {
		fmt.Fprintf(&b, "key %s/%s %s\n", c.Key.Run, c.Key.Name, c.Key.Kind)
	}
	fmt.Fprintf(&b, "text %s\n", Named(c.Text))
	if len(c.Mentions) > 0 {
		fmt.Fprintf(&b, "notifies %s\n", strings.Join(c.Mentions, " "))
	}
	for _, p := range c.Parts {
		b.WriteString("\n" + Named(DrawnPart(p)) + "\n")
	}
	return b.String()
}

// Named writes principals as @slack:U1.
func Named(s string) string { return bot.Unmention(s, func(p string) string { return "@" + p }) }

// DrawnPart is a part of a card as text.
func DrawnPart(part bot.Part) string {
	switch p := part.(type) {
	case bot.Heading:
		return "# " + p.Text
	case bot.Prose:
		return p.Markdown
	case bot.Small:
		return "(small) " + strings.ReplaceAll(p.Markdown, "\n", "\n        ")
	case bot.Code:
		return "    " + strings.ReplaceAll(p.Text, "\n", "\n    ")
	case bot.Rating:
		return "[+1] [-1] " + string(p.Run)
	case bot.Facts:
		lines := make([]string, len(p.List))
		for i, f := range p.List {
			lines[i] = f.Name + ": " + f.Value
		}
		return strings.Join(lines, "\n")
	case bot.Tasks:
		lines := []string{"tasks " + p.Title}
		for _, t := range p.Items {
			lines = append(lines, fmt.Sprintf("  %-7s %s %q after %v: %s", t.State, t.ID, t.Title, t.After, t.Note))
		}
		return strings.Join(lines, "\n")
	case bot.Buttons:
		lines := make([]string, len(p.List))
		for i, u := range p.List {
			lines[i] = fmt.Sprintf("[%s] %s%s %s %s", u.Label, strings.TrimPrefix(" "+string(u.Style)+" ", "  "), u.Act, u.ID, u.Word)
		}
		return strings.Join(lines, "\n")
	}
	return "?"
}

// Golden compares a card with its file.
func Golden(t *testing.T, name string, c bot.Card) {
	t.Helper()
	GoldenText(t, filepath.Join("testdata", "cards", name+".txt"), Drawn(c))
}

// GoldenText compares a text with a file.
func GoldenText(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (go test -update writes it anew):\n%s", file, diff)
	}
}
