package slack

import (
	"context"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/bot"
)

const (
	muteFor   = 10 * time.Minute
	maxStatus = 100
)

// Working shows the text as the thread's status, with Slack's own button to
// stop; an empty text clears both. A workspace without such a status is not
// asked again for ten minutes.
func (s *Slack) Working(ctx context.Context, thread bot.Address, text string) error {
	if thread.ID == "" {
		return nil
	}
	return s.optional("assistant.threads.setStatus", "show the status of "+thread.String(), func() error {
		return s.api.SetAssistantThreadsStatusContext(ctx, slackapi.AssistantThreadsSetStatusParameters{
			ChannelID: thread.Channel, ThreadTS: thread.ID, Status: shortened(hushed(text), maxStatus),
		})
	})
}

// optional makes a call that a workspace may not be able to answer.
func (s *Slack) optional(method, what string, call func() error) error {
	s.out.mu.Lock()
	mute := time.Now().Before(s.out.mute[method])
	s.out.mu.Unlock()
	if mute {
		return nil
	}
	err := call()
	switch code := codeOf(err); code {
	case "unknown_method", "not_allowed", "missing_scope", "not_allowed_token_type", "feature_not_enabled", "method_deprecated", "method_not_supported_for_channel_type":
		s.out.mu.Lock()
		s.out.mute[method] = time.Now().Add(muteFor)
		s.out.mu.Unlock()
		s.once("the workspace does not show whether the bot works", "method", method, "error", code, "scope", neededScope(err))
		return nil
	}
	return s.failed(what, err)
}
