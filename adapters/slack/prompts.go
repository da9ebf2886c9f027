package slack

// This file offers what a person may say in the conversation with the bot that
// they have open. Slack shows such prompts above the composer.

import (
	"context"
	"fmt"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/bot"
)

// Conversations whose prompts are remembered, so that a look at another channel
// costs no call where nothing else is to be offered.
const (
	knowPrompts   = time.Hour
	maxPrompted   = 1000
	promptsMethod = "assistant.threads.setSuggestedPrompts"
)

// conversation finds the conversation that was opened, where the event does not
// name it: an app_context_changed may say only who looks. False: it was not seen
// yet, and its prompts come when it is opened.
func (s *Slack) conversation(u *wire.Update) bool {
	if _, is := u.In.Act.(bot.Opened); !is {
		return true
	}
	if u.In.Where.Channel != "" {
		s.conversations.Put(u.User, u.In.Where.Channel)
		return true
	}
	channel, _, known := s.conversations.Get(u.User)
	u.In.Where.Channel = channel
	return known
}

// prompt offers prompts, unless they are there already. Only the older
// assistant's have a thread: an agent's are of the conversation.
func (s *Slack) prompt(ctx context.Context, u *wire.Update, p bot.Prompts) {
	where, mark := u.In.Where, fmt.Sprintf("%q", p)
	if before, fresh, _ := s.prompted.Get(where.String()); fresh && before == mark && !u.Opens {
		return
	}
	params := slackapi.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: where.Channel, ThreadTS: where.ID, Title: p.Title}
	for _, one := range p.Shown() {
		params.AddPrompt(one.Title, one.Text)
	}
	if len(params.Prompts) == 0 {
		return
	}
	s.prompted.Put(where.String(), mark)
	done, err := s.optional(promptsMethod, "offer what to say in "+where.String(), func() error {
		return s.Web.SetAssistantThreadsSuggestedPromptsContext(ctx, params)
	})
	if !done {
		s.prompted.Put(where.String(), "")
	}
	if err != nil { // some workspaces answer an internal_error, always
		s.features.silence(promptsMethod, muteFor)
		s.LogOnce("the suggested prompts could not be set", "error", err)
	}
}
