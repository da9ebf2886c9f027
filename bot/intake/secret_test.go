package intake

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// What is answered in private holds no secret either.
func TestAnswersHoldNoSecrets(t *testing.T) {
	const secret = "sk-very-secret"
	s := opened(t, func(c *Config) {
		c.Redact = func(text string) string { return strings.ReplaceAll(text, secret, "[secret]") }
	})
	begun := s.hear(bottest.Requester, bot.Commanded{Text: "run look whether " + secret + " still works"})
	for _, word := range []string{"status " + string(begun.Run), "runs", "plan " + string(begun.Run)} {
		a := s.hear(bottest.Requester, bot.Commanded{Text: word})
		said := a.Private
		if a.Public != nil {
			said += fmt.Sprint(a.Public.Text, a.Public.Parts)
		}
		if said == "" || strings.Contains(said, secret) {
			t.Errorf("%s: %s", word, said)
		}
	}
}
