package slack

import (
	"context"
	"fmt"
	"strings"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/bot"
)

// Direct opens the direct conversation with a person.
func (s *Slack) Direct(ctx context.Context, who string) (bot.Address, error) {
	id, is := strings.CutPrefix(who, Platform+":")
	if !is || !slackID.MatchString(id) || id[0] == 'S' {
		return bot.Address{}, fmt.Errorf("talk to %q alone: that is no person of Slack: %w", who, bot.ErrGone)
	}
	c, _, _, err := s.api.OpenConversationContext(ctx, &slackapi.OpenConversationParameters{Users: []string{id}, ReturnIM: true})
	if err != nil {
		return bot.Address{}, s.failed("open the direct conversation with "+who, err)
	}
	if c == nil || c.ID == "" {
		return bot.Address{}, fmt.Errorf("open the direct conversation with %s: Slack names no channel: %w", who, bot.ErrLost)
	}
	return s.place(c.ID, ""), nil
}
