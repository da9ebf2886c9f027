package discord

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

var update = flag.Bool("update", false, "write the golden files anew")

// People and roles that the cards name.
const (
	ann  = "discord:120000000000000001"
	ben  = "discord:120000000000000002"
	crew = "discord:&130000000000000001"
)

func sampleCards() map[string]bot.Card {
	key := func(name string, kind agent.PostKind) bot.Key { return bot.Key{Run: "run-1", Name: name, Kind: kind} }
	return map[string]bot.Card{
		"card": {Key: key("card", agent.PostCard), Text: "Working: the goal", Parts: []bot.Part{
			bot.Heading{Text: "Count the *words*"},
			bot.Prose{Markdown: "**Working** on 1 task."},
			bot.Tasks{Title: "Plan", Items: []bot.TaskItem{
				{ID: "t1", Title: "Read", State: agent.TaskDone, Note: "3 files"},
				{ID: "t2", Title: "Count <b>", State: agent.TaskRunning},
				{ID: "t3", Title: "Write", State: agent.TaskPending, After: []string{"t1", "t2"}},
				{ID: "t4", Title: "Send", State: agent.TaskSkipped}, {ID: "t5", Title: "Check", State: agent.TaskFailed, Note: "no @here"},
			}},
			bot.Facts{List: []bot.Fact{{Name: "Spent", Value: "$0.12 of $5"}, {Name: "Time", Value: "2m"}}},
			bot.Small{Markdown: "asked by " + bot.Mention(ann) + ", **now**"},
			bot.Buttons{List: []bot.Button{{Label: "Pause", Act: bot.ActControl, ID: "run-1", Word: "pause"}, {Label: "Cancel", Style: bot.StyleDanger, Act: bot.ActControl, ID: "run-1", Word: "cancel"}}},
		}},
		"ask": {Key: key("ask/c1", agent.PostCheckpoint), Text: "May I?", Mentions: []string{ann, crew, "slack:U1", "discord:nobody", ann}, Parts: []bot.Part{
			bot.Heading{Text: "May I delete a file?"}, bot.Prose{Markdown: "It is **old**: [see](https://x.y). By " + bot.Mention(ben) + " and " + bot.Mention("slack:U_2")},
			bot.Code{Text: "rm -f a.txt # <@120000000000000002>\n```\n@everyone " + bot.Mention(ben)},
			bot.Buttons{List: []bot.Button{{Label: "Approve", Style: bot.StylePrimary, Act: bot.ActDecide, ID: "c1", Word: "approve"}, {Label: "Deny", Style: bot.StyleDanger, Act: bot.ActDecide, ID: "c1", Word: "deny"}}},
		}},
		"report": {Key: key("report", agent.PostReport), Text: "Done: 3 files", Mentions: []string{ann}, Parts: []bot.Part{
			bot.Heading{Text: "Done: 3 files"},
			bot.Prose{Markdown: "# Result\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |"}, bot.Small{Markdown: "cost $0.20"}, bot.Rating{Run: "run-1"},
		}},
		"long":   {Key: key("report", agent.PostReport), Text: "Done", Parts: []bot.Part{bot.Heading{Text: "Done"}, bot.Prose{Markdown: strings.Repeat("A paragraph of *some* words.\n\n", 300)}, bot.Rating{Run: "run-1"}}},
		"choose": {Key: key("ask/c2", agent.PostCheckpoint), Text: "Which?", Parts: []bot.Part{bot.Prose{Markdown: "Which one?"}, choices(30)}},
		"empty":  {Key: key("card", agent.PostCard)},
	}
}

func choices(n int) bot.Buttons {
	var list []bot.Button
	for i := range n {
		word := string(rune('a'+i%26)) + strings.Repeat("x", i)
		list = append(list, bot.Button{Label: "Choice " + word, Act: bot.ActDecide, ID: "c2", Word: word})
	}
	return bot.Buttons{List: list}
}

func TestCardsLookAsTheyDid(t *testing.T) {
	t.Parallel()
	for name, c := range sampleCards() {
		for variant, draw := range map[string]func() message{
			"new": func() message { return modern(c, renderCard(c, drawing{file: "report.md"})) },
			"edit": func() message {
				m := modern(c, renderCard(c, drawing{edit: true}))
				m.clear = true
				return m
			},
			"old": func() message { return old(c, renderCard(c, drawing{})) },
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
func shownBy(m message) []string {
	var list []string
	if m.Content != nil {
		list = append(list, *m.Content)
	}
	if m.Embeds != nil {
		for _, e := range *m.Embeds {
			list = append(list, e.Description)
		}
	}
	var walk func(blocks []block)
	walk = func(blocks []block) {
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

var calls = regexp.MustCompile(`(?i)<[@#/]|@everyone|@here`)

func TestNoCardPings(t *testing.T) {
	t.Parallel()
	for _, p := range pings {
		c := bot.Card{Key: bot.Key{Run: "r", Name: "n"}, Text: p, Parts: []bot.Part{
			bot.Heading{Text: p}, bot.Prose{Markdown: p}, bot.Tasks{Title: p, Items: []bot.TaskItem{{ID: p, Title: p, Note: p, State: agent.TaskFailed}}},
			bot.Facts{List: []bot.Fact{{Name: p, Value: p}}}, bot.Code{Text: p}, bot.Small{Markdown: p}, choices(12),
			bot.Buttons{List: []bot.Button{{Label: p, Act: bot.ActShow, Word: "x"}}},
		}}
		for _, d := range []drawing{{}, {edit: true}, {name: func(string) string { return p }}} {
			for _, kind := range []func(bot.Card, drawn) message{modern, old} {
				m := kind(c, renderCard(c, d))
				for _, s := range shownBy(m) {
					if found := calls.FindString(s); found != "" {
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
	c := sampleCards()["ask"]
	for _, kind := range []func(bot.Card, drawn) message{modern, old} {
		m := kind(c, renderCard(c, drawing{}))
		raw, err := json.Marshal(m.Allowed)
		if want := `{"parse":[],"users":["120000000000000001"],"roles":["130000000000000001"],"replied_user":false}`; err != nil || string(raw) != want {
			t.Errorf("allowed %s, %v", raw, err)
		}
		if all := strings.Join(shownBy(m), "\n"); strings.Count(all, "<@120000000000000001>") != 1 || strings.Count(all, "<@&130000000000000001>") != 1 || strings.Count(all, "<@120000000000000002>") != 1 {
			t.Errorf("it names %s", all)
		}
		m = kind(c, renderCard(c, drawing{edit: true}))
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
		m := renderCard(bot.Card{Text: "t", Parts: parts}, drawing{file: "report.md"})
		all := strings.Join(shownBy(message{Components: m.blocks}), "\n")
		if !m.cut || !strings.Contains(all, "the whole text is in the file report.md") {
			t.Errorf("%s: cut %v, and does not say so", name, m.cut)
		}
		if n := countOf(m.blocks); n > maxBlocks || textOf(m.blocks) > maxAll {
			t.Errorf("%s: %d components with %d characters", name, n, textOf(m.blocks))
		}
		if n := textOf(m.blocks); name == "prose" && n < 3000 {
			t.Errorf("%s: only %d characters are used", name, n)
		}
		if name == "prose" && m.blocks[len(m.blocks)-1].Type != kindRow {
			t.Errorf("%s: the buttons are gone", name)
		}
	}
}

func TestNamesAreNeverCut(t *testing.T) {
	t.Parallel()
	for n := range 60 {
		c := bot.Card{Text: "t", Parts: []bot.Part{bot.Heading{Text: strings.Repeat("x", maxHeading-n) + bot.Mention(ann) + " and more words"}}}
		for _, s := range shownBy(modern(c, renderCard(c, drawing{}))) {
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
				n := nonceOf(k)
				if len(n) > 25 || !strings.HasPrefix(n, letter) || n != nonceOf(k) || nonces[n] {
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
