package draw

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/adaptertest"
	"github.com/deckhand-bot/deckhand/adapters/slack/draw/drawtest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixed is a Drawing with fixed ids and two known people.
func fixed() Drawing {
	return Drawing{Edition: "e", Name: func(p string) string {
		return map[string]string{"slack:U1": "Ann", "slack:U2": "Ben *<!here>*"}[p]
	}}
}

func TestCardsLookAsTheyDid(t *testing.T) {
	t.Parallel()
	for name, c := range drawtest.Cards() {
		for variant, change := range map[string]func(*Drawing){
			"new": func(*Drawing) {}, "edit": func(d *Drawing) { d.Edit = true }, "plain": func(d *Drawing) { d.Refused = Modern },
			"plain-edit": func(d *Drawing) { d.Refused, d.Edit = Modern, true },
		} {
			t.Run(name+"-"+variant, func(t *testing.T) {
				t.Parallel()
				d := fixed()
				change(&d)
				m := Card(c, d)
				var got bytes.Buffer
				e := json.NewEncoder(&got)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				if err := e.Encode(map[string]any{"text": m.Text, "blocks": m.Blocks, "bare": d.Bare(c)}); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join("testdata", "cards", name+"-"+variant+".json")
				if *update {
					if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%s differs (-update writes it anew):\n%s", path, got.String())
				}
			})
		}
	}
}

// asJSON is blocks as they are sent.
func asJSON(t *testing.T, blocks []slackapi.Block) string {
	t.Helper()
	raw, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	return string(plainJSON(raw))
}

// blockTexts are all strings within blocks, by the type of what they stand in.
func blockTexts(t *testing.T, blocks []slackapi.Block) map[string][]string {
	t.Helper()
	var all []any
	if err := json.Unmarshal([]byte(asJSON(t, blocks)), &all); err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			kind, _ := v["type"].(string)
			for _, key := range []string{"text", "title"} {
				if s, is := v[key].(string); is {
					out[kind] = append(out[kind], s)
				}
			}
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(all)
	return out
}

func TestNoBlockPings(t *testing.T) {
	t.Parallel()
	for _, p := range drawtest.Pings {
		c := bot.Card{Text: p, Parts: []bot.Part{
			bot.Heading{Text: p}, bot.Prose{Markdown: p}, bot.Tasks{Title: p, Items: []bot.TaskItem{{ID: p, Title: p, Note: p, State: agent.TaskFailed}}},
			bot.Facts{List: []bot.Fact{{Name: p, Value: p}}}, bot.Code{Text: p}, bot.Small{Markdown: p},
			bot.Buttons{List: []bot.Button{{Label: p, Act: bot.ActShow, Word: "x"}}},
		}}
		for _, d := range []Drawing{fixed(), {Edit: true, Edition: "e", Name: func(string) string { return p }}, {Refused: Modern, Edition: "e", Name: func(string) string { return p }}} {
			m := Card(c, d)
			for kind, list := range blockTexts(t, m.Blocks) {
				for _, s := range list {
					found := calling.FindString(s) + shouting.FindString(s)
					if kind == "markdown" {
						found += markdownPings(s)
					}
					if kind == "mrkdwn" {
						found += mrkdwnPings(s)
					}
					if found != "" {
						t.Errorf("%q: a %s says %q", p, kind, s)
					}
				}
			}
			for _, s := range []string{m.Text, d.Bare(c)} {
				if found := mrkdwnPings(s); found != "" {
					t.Errorf("%q: the text says %q", p, s)
				}
			}
		}
	}
}

func TestOnlyMentionsNotify(t *testing.T) {
	t.Parallel()
	c := drawtest.Cards()["ask"]
	d := fixed()
	raw := asJSON(t, Card(c, d).Blocks)
	if got := strings.Count(raw, "<@U1>"); got != 1 {
		t.Errorf("a new message mentions U1 %d times", got)
	}
	c.Parts = append(c.Parts, bot.Small{Markdown: "decided by " + bot.Mention("slack:U2")})
	for _, edit := range []bool{false, true} {
		d.Edit = edit
		raw := asJSON(t, Card(c, d).Blocks)
		if got := strings.Contains(raw, "<@U2>"); got != edit {
			t.Errorf("edit %v: names U2 by id: %v", edit, got)
		}
		if got := strings.Contains(raw, "<@U1>"); got == edit {
			t.Errorf("edit %v: mentions U1: %v", edit, got)
		}
	}
}

func TestLongCardsSayThatTheyAreCut(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string][]bot.Part{
		"prose":   {bot.Prose{Markdown: strings.Repeat("A paragraph of some words, and “more”.\n\n", 2000)}, bot.Buttons{List: []bot.Button{{Label: "Go", Act: bot.ActShow, Word: "x"}}}},
		"code":    {bot.Code{Text: strings.Repeat("x <- &y\n", 5000)}},
		"tasks":   {bot.Tasks{Title: "Plan", Items: make([]bot.TaskItem, 300)}},
		"parts":   make([]bot.Part, 0),
		"quoting": {bot.Prose{Markdown: strings.Repeat("\"\\\n\n", 8000)}},
	} {
		if name == "parts" {
			for range 90 {
				parts = append(parts, bot.Heading{Text: "heading"})
			}
		}
		for _, refused := range []map[slackapi.MessageBlockType]bool{nil, maps.Clone(Modern)} {
			d := fixed()
			d.Refused, d.More = refused, "<https://x.y/f|report.md>"
			m := Card(bot.Card{Text: "t", Parts: parts}, d)
			raw := asJSON(t, m.Blocks)
			if !m.Cut || !strings.Contains(raw, "the whole text is in the file") {
				t.Errorf("%s: cut %v, and does not say so", name, m.Cut)
			}
			if size := sizeOf(m.Blocks); size > maxAll || len(m.Blocks) > maxBlocks {
				t.Errorf("%s: %d characters in %d blocks", name, size, len(m.Blocks))
			}
			if size := sizeOf(m.Blocks); name == "prose" && size < 9000 {
				t.Errorf("%s: only %d characters are used", name, size)
			}
			if n := utf8.RuneCountInString(d.Bare(bot.Card{Parts: parts})); n > 40000 {
				t.Errorf("%s: a text of %d characters", name, n)
			}
		}
	}
}

// plainJSON is JSON with the signs that Go's encoder writes as numbers.
func plainJSON(raw json.RawMessage) json.RawMessage {
	return json.RawMessage(strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(raw)))
}

// What was not done stays, and the rest is cut behind a paragraph.
func TestALongReportKeepsItsHonestList(t *testing.T) {
	t.Parallel()
	c, undone := adaptertest.LongReport()
	for name, d := range map[string]Drawing{"new": fixed(), "plain": {Refused: Modern, Edition: "e", Name: fixed().Name}} {
		d.More = "report.md"
		m := Card(c, d)
		var all strings.Builder
		for _, texts := range blockTexts(t, m.Blocks) {
			all.WriteString(strings.Join(texts, "\n") + "\n")
		}
		checkLongReport(t, name, all.String(), m.Cut, undone)
		if n := sizeOf(m.Blocks); n < maxAll*2/3 {
			t.Errorf("%s: only %d characters are used", name, n)
		}
	}
}

func checkLongReport(t *testing.T, name, said string, cut bool, undone []string) {
	t.Helper()
	for _, line := range append([]string{"costs.csv – attached", "the whole text is in the file"}, undone...) {
		if !strings.Contains(said, line) {
			t.Errorf("%s: %q is missing", name, line)
		}
	}
	if begun, ended := strings.Count(said, "Begin-"), strings.Count(said, "End-"); !cut || begun == 0 || begun != ended {
		t.Errorf("%s: %d paragraphs begin and %d end, cut: %v", name, begun, ended, cut)
	}
}
