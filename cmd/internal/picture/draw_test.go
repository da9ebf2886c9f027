package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// texts are what a reader of the picture reads, and an error where the picture
// is not well formed.
func texts(t *testing.T, svg string) string {
	t.Helper()
	var b strings.Builder
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF):
			return b.String()
		case err != nil:
			t.Fatal(err)
		}
		if data, is := token.(xml.CharData); is {
			b.Write(data)
		}
	}
}

func TestEveryPartIsDrawn(t *testing.T) {
	t.Parallel()
	card := bot.Card{Mentions: []string{ann.ID}, Parts: []bot.Part{
		bot.Heading{Text: "A <heading>"},
		bot.Prose{Markdown: "Some **bold** `code` of " + bot.Mention(ann.ID) + "\n\n- an item\n\n```\n" + strings.Repeat("a line\n", 9) + "```"},
		bot.Tasks{Title: "A plan", Items: []bot.TaskItem{
			{Title: "one", State: agent.TaskDone, Note: "its note"}, {Title: "two", State: agent.TaskRunning}, {Title: "three", State: agent.TaskFailed}, {Title: "four", State: agent.TaskPending},
		}},
		bot.Facts{List: []bot.Fact{{Name: "Spent", Value: "$1 & more"}}},
		bot.Code{Text: strings.Repeat("x", 200)},
		bot.Small{Markdown: "a small line"},
		bot.Buttons{List: []bot.Button{{Label: "Approve", Style: bot.StylePrimary}, {Label: "Deny", Style: bot.StyleDanger}, {Label: "Steer", Act: bot.ActSteer}}},
		bot.Rating{},
	}}
	got := texts(t, draw(scenes{
		asking: []message{{said: "@Deckhand do it", seen: true}, {card: card}},
		after:  []message{{file: "REPORT.md", size: 12}, {file: "a.png", image: []byte("no picture")}},
	}))
	for _, want := range []string{
		"@Deckhand do it", "A <heading>", "Some bold code of @Ann", "• an item", "Show 3 more lines", "A plan", "one: its note", "two", "three", "four",
		"Spent", "$1 & more", "xxx…", "a small line", "Approve", "Deny", "Good", "Bad", "Ann presses Approve", "REPORT.md", "12 bytes", "a.png",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the picture:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Steer") {
		t.Error("the picture's platform hears what is said in a thread: it has no button for that")
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	long := strings.TrimSpace(strings.Repeat("word ", 60))
	var back []string
	for _, line := range wrap([]span{{text: long, kind: "bold"}, {text: " end"}}, normal, inner) {
		var text strings.Builder
		for _, s := range line {
			text.WriteString(s.text)
			if w := width(strings.TrimRight(s.text, " "), normal, s.kind); w > inner {
				t.Errorf("%q is %.0f wide, at most %.0f", s.text, w, inner)
			}
		}
		back = append(back, text.String())
	}
	if len(back) < 3 || strings.Join(back, "") != long+" end" {
		t.Errorf("%q", back)
	}
}
