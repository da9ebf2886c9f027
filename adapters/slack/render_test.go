package slack

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

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fixed is a drawing with fixed ids and two known people.
func fixed() drawing {
	return drawing{edition: "e", name: func(p string) string {
		return map[string]string{"slack:U1": "Ann", "slack:U2": "Ben *<!here>*"}[p]
	}}
}

func sampleCards() map[string]bot.Card {
	key := func(name string, kind agent.PostKind) bot.Key { return bot.Key{Run: "run-1", Name: name, Kind: kind} }
	return map[string]bot.Card{
		"card": {Key: key("card", agent.PostCard), Text: "Working: the goal", Parts: []bot.Part{
			bot.Heading{Text: "Count the words"},
			bot.Tasks{Title: "Plan", Items: []bot.TaskItem{
				{ID: "t1", Title: "Read", State: agent.TaskDone, Note: "3 files"},
				{ID: "t2", Title: "Count <b>", State: agent.TaskRunning},
				{ID: "t3", Title: "Write", State: agent.TaskPending, After: []string{"t1", "t2"}},
				{ID: "t4", Title: "Send", State: agent.TaskSkipped}, {ID: "t5", Title: "Check", State: agent.TaskFailed, Note: "no @here"},
			}},
			bot.Facts{List: []bot.Fact{{Name: "Spent", Value: "$0.12 of $5"}, {Name: "Time", Value: "2m"}}},
			bot.Small{Markdown: "asked by " + bot.Mention("slack:U1") + ", **now**"},
			bot.Buttons{List: []bot.Button{{Label: "Pause", Act: bot.ActControl, ID: "run-1", Word: "pause"}, {Label: "Cancel", Style: bot.StyleDanger, Act: bot.ActControl, ID: "run-1", Word: "cancel"}}},
		}},
		"ask": {Key: key("ask/c1", agent.PostCheckpoint), Text: "May I?", Mentions: []string{"slack:U1", "slack:S1", "discord:1", "slack:nobody"}, Parts: []bot.Part{
			bot.Heading{Text: "May I delete a file?"}, bot.Prose{Markdown: "It is **old**: [see](https://x.y). By " + bot.Mention("slack:U2")},
			bot.Code{Text: "rm -f a.txt # <!channel>\n```\n"},
			bot.Buttons{List: []bot.Button{{Label: "Approve", Style: bot.StylePrimary, Act: bot.ActDecide, ID: "c1", Word: "approve"}, {Label: "Deny", Style: bot.StyleDanger, Act: bot.ActDecide, ID: "c1", Word: "deny"}}},
		}},
		"report": {Key: key("report", agent.PostReport), Text: "Done: 3 files", Parts: []bot.Part{
			bot.Prose{Markdown: "# Result\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |"}, bot.Small{Markdown: "cost $0.20"}, bot.Rating{Run: "run-1"},
		}},
		"empty": {Key: key("card", agent.PostCard)},
	}
}

func TestCardsLookAsTheyDid(t *testing.T) {
	t.Parallel()
	for name, c := range sampleCards() {
		for variant, change := range map[string]func(*drawing){
			"new": func(*drawing) {}, "edit": func(d *drawing) { d.edit = true }, "plain": func(d *drawing) { d.refused = modern },
			"plain-edit": func(d *drawing) { d.refused, d.edit = modern, true },
		} {
			t.Run(name+"-"+variant, func(t *testing.T) {
				t.Parallel()
				d := fixed()
				change(&d)
				m := renderCard(c, d)
				var got bytes.Buffer
				e := json.NewEncoder(&got)
				e.SetEscapeHTML(false)
				e.SetIndent("", "  ")
				if err := e.Encode(map[string]any{"text": m.text, "blocks": m.blocks, "bare": d.bare(c)}); err != nil {
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
	for _, p := range pings {
		c := bot.Card{Text: p, Parts: []bot.Part{
			bot.Heading{Text: p}, bot.Prose{Markdown: p}, bot.Tasks{Title: p, Items: []bot.TaskItem{{ID: p, Title: p, Note: p, State: agent.TaskFailed}}},
			bot.Facts{List: []bot.Fact{{Name: p, Value: p}}}, bot.Code{Text: p}, bot.Small{Markdown: p},
			bot.Buttons{List: []bot.Button{{Label: p, Act: bot.ActShow, Word: "x"}}},
		}}
		for _, d := range []drawing{fixed(), {edit: true, edition: "e", name: func(string) string { return p }}, {refused: modern, edition: "e", name: func(string) string { return p }}} {
			m := renderCard(c, d)
			for kind, list := range blockTexts(t, m.blocks) {
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
			for _, s := range []string{m.text, d.bare(c)} {
				if found := mrkdwnPings(s); found != "" {
					t.Errorf("%q: the text says %q", p, s)
				}
			}
		}
	}
}

func TestOnlyMentionsNotify(t *testing.T) {
	t.Parallel()
	c := sampleCards()["ask"]
	d := fixed()
	raw := asJSON(t, renderCard(c, d).blocks)
	if got := strings.Count(raw, "<@U1>"); got != 1 {
		t.Errorf("a new message mentions U1 %d times", got)
	}
	c.Parts = append(c.Parts, bot.Small{Markdown: "decided by " + bot.Mention("slack:U2")})
	for _, edit := range []bool{false, true} {
		d.edit = edit
		raw := asJSON(t, renderCard(c, d).blocks)
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
		for _, refused := range []map[slackapi.MessageBlockType]bool{nil, maps.Clone(modern)} {
			d := fixed()
			d.refused, d.more = refused, "<https://x.y/f|report.md>"
			m := renderCard(bot.Card{Text: "t", Parts: parts}, d)
			raw := asJSON(t, m.blocks)
			if !m.cut || !strings.Contains(raw, "the whole text is in the file") {
				t.Errorf("%s: cut %v, and does not say so", name, m.cut)
			}
			if size := sizeOf(m.blocks); size > maxAll || len(m.blocks) > maxBlocks {
				t.Errorf("%s: %d characters in %d blocks", name, size, len(m.blocks))
			}
			if size := sizeOf(m.blocks); name == "prose" && size < 9000 {
				t.Errorf("%s: only %d characters are used", name, size)
			}
			if n := utf8.RuneCountInString(d.bare(bot.Card{Parts: parts})); n > 40000 {
				t.Errorf("%s: a text of %d characters", name, n)
			}
		}
	}
}
