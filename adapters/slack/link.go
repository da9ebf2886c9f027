package slack

import (
	"strings"

	"github.com/deckhand-bot/deckhand/bot"
)

// Link is where a browser or Slack's own program opens a message.
func (s *Slack) Link(message bot.Address) string {
	if s.out.url == "" || message.ID == "" {
		return ""
	}
	return strings.TrimSuffix(s.out.url, "/") + "/archives/" + message.Channel + "/p" + strings.ReplaceAll(message.ID, ".", "")
}
