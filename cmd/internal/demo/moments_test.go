package demo

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/bot/moments"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Every moment looks as its golden file, on every platform.
func TestMomentsOnSlack(t *testing.T) {
	t.Parallel()
	shown(t, "slack", SlackStage)
}

func TestMomentsOnDiscord(t *testing.T) {
	t.Parallel()
	shown(t, "discord", DiscordStage)
}

func TestMomentsInATerminal(t *testing.T) {
	t.Parallel()
	list, err := moments.All(moments.Terminal())
	if err != nil {
		t.Fatal(err)
	}
	g := newGallery(t, "terminal")
	for _, m := range list {
		g.hang(m, printed(m))
	}
	g.close()
}

func shown(t *testing.T, platform string, open func() (Stage, error)) {
	t.Helper()
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := newGallery(t, platform)
	err = eachMoment(t.Context(), s, func(m moments.Moment, text string) error {
		g.hang(m, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	g.close()
}

// gallery holds the golden files of one platform.
type gallery struct {
	*testing.T

	dir   string
	names []string
}

func newGallery(t *testing.T, platform string) *gallery {
	t.Helper()
	dir := filepath.Join("testdata", "moments", platform)
	if *update {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &gallery{T: t, dir: dir}
}

// What another play has otherwise: names drawn by lot, the stand-in's port.
var (
	scheduleName = regexp.MustCompile(`\b(goal|report)-[a-z2-7]{5}\b`)
	localFile    = regexp.MustCompile(`http://127\.0\.0\.1:\d+/files/\w+/`)
	localThread  = regexp.MustCompile(`http://127\.0\.0\.1:\d+/archives/`)
)

// hang compares a moment with its file.
func (g *gallery) hang(m moments.Moment, text string) {
	g.Helper()
	g.names = append(g.names, m.Name+".txt")
	text = scheduleName.ReplaceAllString(text, "$1-NAME")
	text = localFile.ReplaceAllString(text, "https://slack.example/files/")
	text = localThread.ReplaceAllString(text, "https://slack.example/archives/")
	file, got := filepath.Join(g.dir, m.Name+".txt"), m.Title+"\n\n"+text
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			g.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		g.Errorf("%v (go test -update writes it anew)", err)
		return
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		g.Errorf("%s (go test -update writes it anew):\n%s", file, diff)
	}
}

// close finds files of moments that are no more.
func (g *gallery) close() {
	g.Helper()
	entries, err := os.ReadDir(g.dir)
	if err != nil {
		g.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(g.names, e.Name()) {
			g.Errorf("there is no moment for %s (go test -update deletes it)", filepath.Join(g.dir, e.Name()))
		}
	}
}
