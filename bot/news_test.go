package bot_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// loose tells secrets in everything that it tells.
type loose struct{}

const secret = "sk-very-secret"

func (loose) card() bot.Card {
	return bot.Card{Text: secret, Parts: []bot.Part{bot.Heading{Text: secret}, bot.Prose{Markdown: secret}, bot.Small{Markdown: secret}, bot.Code{Text: secret, Most: 3, First: 9},
		bot.Facts{List: []bot.Fact{{Name: secret, Value: secret}}}, bot.Tasks{Title: secret, Items: []bot.TaskItem{{Title: secret, Note: secret}}},
		bot.Buttons{List: []bot.Button{{Label: secret}}}}}
}

func (l loose) Brief(agent.Run) bot.Card                                 { return l.card() }
func (l loose) Live(agent.Run, time.Time) bot.Card                       { return l.card() }
func (l loose) Question(agent.Run, agent.Checkpoint, time.Time) bot.Card { return l.card() }
func (l loose) Why(agent.Run, agent.Checkpoint) bot.Card                 { return l.card() }
func (l loose) Report(agent.Run) bot.Card                                { return l.card() }
func (l loose) News(_, _ agent.Run, _ agent.Event) []bot.News {
	return []bot.News{{About: secret, Text: secret}}
}

// Whoever tells through it tells no secret.
func TestRewordedTellings(t *testing.T) {
	var told bot.Telling = bot.Reworded{Telling: loose{}, Word: func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }}
	var r agent.Run
	var c agent.Checkpoint
	for what, v := range map[string]any{"brief": told.Brief(r), "live": told.Live(r, time.Time{}), "question": told.Question(r, c, time.Time{}), "why": told.Why(r, c),
		"report": told.Report(r), "news": told.News(r, r, agent.Event{})} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), secret) || !strings.Contains(string(text), "[secret]") {
			t.Errorf("%s: %s", what, text)
		}
	}
	if got := fmt.Sprint(told.Live(r, time.Time{}).Parts[3]); got != "{[secret] 3 9}" {
		t.Errorf("a text is shown as %s", got)
	}
}
