package draw

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/adaptertest"
	"github.com/deckhand-bot/deckhand/adapters/discord/draw/drawtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestCardsLookAsTheyDid(t *testing.T) {
	t.Parallel()
	for name, c := range drawtest.Cards() {
		for variant, draw := range map[string]func() Message{
			"new": func() Message { return Components(c, Card(c, Options{File: "report.md"})) },
			"edit": func() Message {
				m := Components(c, Card(c, Options{Edit: true}))
				m.Clear = true
				return m
			},
			"old": func() Message { return Embed(c, Card(c, Options{})) },
		} {
			t.Run(name+"-"+variant, func(t *testing.T) {
				t.Parallel()
				var got bytes.Buffer
				e := json.NewEncoder(&got)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				if err := e.Encode(draw()); err != nil {
					t.Fatal(err)
				}
				golden(t, filepath.Join("testdata", "cards", name+"-"+variant+".json"), got.Bytes())
			})
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update writes it anew):\n%s", path, got)
	}
}

// shownBy are all texts of a message, as far as Discord reads names in them.
func shownBy(m Message) []string {
	var list []string
	if m.Content != nil {
		list = append(list, *m.Content)
	}
	if m.Embeds != nil {
		for _, e := range *m.Embeds {
			list = append(list, e.Description)
		}
	}
	var walk func(blocks []Block)
	walk = func(blocks []Block) {
		for _, b := range blocks {
			list = append(list, b.Content, b.Label, b.Placeholder)
			for _, o := range b.Options {
				list = append(list, o.Label)
			}
			walk(b.Blocks)
		}
	}
	walk(m.Components)
	return list
}

func TestNoCardPings(t *testing.T) {
	t.Parallel()
	for _, p := range drawtest.Pings {
		c := bot.Card{Key: bot.Key{Run: "r", Name: "n"}, Text: p, Parts: []bot.Part{
			bot.Heading{Text: p}, bot.Prose{Markdown: p}, bot.Tasks{Title: p, Items: []bot.TaskItem{{ID: p, Title: p, Note: p, State: agent.TaskFailed}}},
			bot.Facts{List: []bot.Fact{{Name: p, Value: p}}}, bot.Code{Text: p}, bot.Small{Markdown: p}, drawtest.Choices(12),
			bot.Buttons{List: []bot.Button{{Label: p, Act: bot.ActShow, Word: "x"}}},
		}}
		for _, d := range []Options{{}, {Edit: true}, {name: func(string) string { return p }}} {
			for _, kind := range []func(bot.Card, Drawing) Message{Components, Embed} {
				m := kind(c, Card(c, d))
				for _, s := range shownBy(m) {
					if found := drawtest.Calls.FindString(s); found != "" {
						t.Errorf("%q: a card says %q", p, s)
					}
				}
				if raw, err := json.Marshal(m.Allowed); err != nil || string(raw) != `{"parse":[],"replied_user":false}` {
					t.Errorf("%q: it allows %s, %v", p, raw, err)
				}
			}
		}
	}
}

func TestOnlyMentionsNotify(t *testing.T) {
	t.Parallel()
	c := drawtest.Cards()["ask"]
	for _, kind := range []func(bot.Card, Drawing) Message{Components, Embed} {
		m := kind(c, Card(c, Options{}))
		raw, err := json.Marshal(m.Allowed)
		if want := `{"parse":[],"users":["120000000000000001"],"roles":["130000000000000001"],"replied_user":false}`; err != nil || string(raw) != want {
			t.Errorf("allowed %s, %v", raw, err)
		}
		if all := strings.Join(shownBy(m), "\n"); strings.Count(all, "<@120000000000000001>") != 1 || strings.Count(all, "<@&130000000000000001>") != 1 || strings.Count(all, "<@120000000000000002>") != 1 {
			t.Errorf("it names %s", all)
		}
		m = kind(c, Card(c, Options{Edit: true}))
		if all := strings.Join(shownBy(m), "\n"); len(m.Allowed.Users)+len(m.Allowed.Roles) > 0 || strings.Contains(all, "<@120000000000000001>") {
			t.Errorf("an edit names %s", all)
		}
	}
}

func TestLongCardsSayThatTheyAreCut(t *testing.T) {
	t.Parallel()
	headings := make([]bot.Part, 0, 90)
	for range 90 {
		headings = append(headings, bot.Heading{Text: "a heading of so many words that ninety of them are too long"})
	}
	buttons := []bot.Part{bot.Prose{Markdown: "x"}}
	for range 20 {
		buttons = append(buttons, bot.Rating{Run: agent.RunID(strings.Repeat("r", len(buttons)))})
	}
	for name, parts := range map[string][]bot.Part{
		"prose":   {bot.Prose{Markdown: strings.Repeat("A paragraph of some words, and “more”.\n\n", 2000)}, bot.Buttons{List: []bot.Button{{Label: "Go", Act: bot.ActShow, Word: "x"}}}},
		"code":    {bot.Code{Text: strings.Repeat("x <- &y\n", 5000)}},
		"tasks":   {bot.Tasks{Title: "Plan", Items: make([]bot.TaskItem, 300)}},
		"parts":   headings,
		"buttons": buttons,
		"signs":   {bot.Prose{Markdown: strings.Repeat("_*[|~\n\n", 4000)}},
		"emoji":   {bot.Prose{Markdown: strings.Repeat("🦜🦜🦜 ", 3000)}},
	} {
		m := Card(bot.Card{Text: "t", Parts: parts}, Options{File: "report.md"})
		all := strings.Join(shownBy(Message{Components: m.blocks}), "\n")
		if !m.Cut || !strings.Contains(all, "the whole text is in the file report.md") {
			t.Errorf("%s: cut %v, and does not say so", name, m.Cut)
		}
		if n := countOf(m.blocks); n > maxBlocks || textOf(m.blocks) > maxAll {
			t.Errorf("%s: %d components with %d characters", name, n, textOf(m.blocks))
		}
		if n := textOf(m.blocks); name == "prose" && n < 3000 {
			t.Errorf("%s: only %d characters are used", name, n)
		}
		if name == "prose" && m.blocks[len(m.blocks)-1].Type != discordgo.ActionsRowComponent {
			t.Errorf("%s: the buttons are gone", name)
		}
	}
}

func TestNamesAreNeverCut(t *testing.T) {
	t.Parallel()
	for n := range 60 {
		c := bot.Card{Text: "t", Parts: []bot.Part{bot.Heading{Text: strings.Repeat("x", maxHeading-n) + bot.Mention(drawtest.Ann) + " and more words"}}}
		for _, s := range shownBy(Components(c, Card(c, Options{}))) {
			if strings.ContainsAny(s, "\ue000\ue001") || strings.Contains(s, "discord:") {
				t.Errorf("it says %q", s)
			}
		}
	}
}

func TestNoncesAndMarks(t *testing.T) {
	t.Parallel()
	nonces, marks := map[string]bool{}, map[mark]bool{}
	for letter, kind := range map[string]agent.PostKind{"c": agent.PostCard, "k": agent.PostCheckpoint, "r": agent.PostReport, "a": agent.PostAnswer, "s": agent.PostScheduled} {
		for _, name := range []string{"card", "ask/c1", "ask/c2"} {
			for _, run := range []agent.RunID{"run-1", "run-2"} {
				k := bot.Key{Run: run, Name: name, Kind: kind}
				n := Nonce(k)
				if len(n) > 25 || !strings.HasPrefix(n, letter) || n != Nonce(k) || nonces[n] {
					t.Errorf("the nonce of %v is %q", k, n)
				}
				nonces[n], marks[markOf(k)] = true, true
			}
		}
	}
	if len(marks) != 6 {
		t.Errorf("%d marks of 6 keys", len(marks))
	}
}

// What was not done stays, and the rest is cut behind a paragraph.
func TestALongReportKeepsItsHonestList(t *testing.T) {
	t.Parallel()
	c, undone := adaptertest.LongReport()
	for name, draw := range map[string]func(Drawing) Message{
		"new": func(d Drawing) Message { return Components(c, d) }, "old": func(d Drawing) Message { return Embed(c, d) },
	} {
		d := Card(c, Options{File: "report.md"})
		said := strings.Join(shownBy(draw(d)), "\n")
		for _, line := range append([]string{"costs.csv – attached", "the whole text is in the file"}, undone...) {
			if !strings.Contains(said, line) {
				t.Errorf("%s: %q is missing:\n%s", name, line, said)
			}
		}
		if begun, ended := strings.Count(said, "Begin-"), strings.Count(said, "End-"); !d.Cut || begun == 0 || begun != ended {
			t.Errorf("%s: %d paragraphs begin and %d end, cut: %v", name, begun, ended, d.Cut)
		}
		if n := textOf(d.blocks); n < maxAll*2/3 {
			t.Errorf("%s: only %d characters are used", name, n)
		}
	}
}
