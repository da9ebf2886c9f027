package slack

// This file shows in a thread that the bot is at work. Workspaces differ in
// which of Slack's status methods they have, so a refused one is left alone
// for a while.

import (
	"context"
	"errors"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/adapters/slack/draw"
	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot"
)

const (
	muteFor   = 10 * time.Minute
	maxStatus = 100
)

// Working shows that the bot works in the thread, with Slack's own button to
// stop it; an empty text takes both away. Where the app has no agent view, the
// text itself is the thread's status. What a workspace does not have at all is
// not asked for again for ten minutes.
func (s *Slack) Working(ctx context.Context, thread bot.Address, text string) error {
	if thread.ID == "" {
		return nil
	}
	what, status := "show the status of "+thread.String(), slackapi.AgentSessionStatusActive
	if text != "" {
		status = slackapi.AgentSessionStatusProcessing
	}
	done, err := s.optional("agents.sessions.setStatus", what, func() error {
		_, err := s.Web.SetAgentSessionStatusContext(ctx, slackapi.AgentSessionSetStatusParameters{
			ChannelID: thread.Channel, ThreadTS: thread.ID, Status: status,
		})
		return err
	})
	if done || err != nil {
		return err
	}
	_, err = s.optional("assistant.threads.setStatus", what, func() error {
		return s.Web.SetAssistantThreadsStatusContext(ctx, slackapi.AssistantThreadsSetStatusParameters{
			ChannelID: thread.Channel, ThreadTS: thread.ID, Status: format.Cut(draw.WithoutPings(text), maxStatus),
		})
	})
	return err
}

// optional makes a call that a workspace may not be able to answer; done says
// that it did. A method that is limited, or not there, is left alone for a while.
func (s *Slack) optional(method, what string, call func() error) (done bool, err error) {
	if s.features.muted(method) {
		return false, nil
	}
	err = call()
	switch code := api.CodeOf(err); code {
	case "unknown_method", "not_allowed", "not_authorized", "missing_scope", "not_allowed_token_type", "feature_not_enabled", "method_deprecated", "method_not_supported_for_channel_type":
		s.features.silence(method, muteFor)
		s.LogOnce("the workspace does not show whether the bot works", "method", method, "error", code, "scope", api.NeededScope(err))
		return false, nil
	}
	if limited, is := errors.AsType[*slackapi.RateLimitedError](err); is {
		s.features.silence(method, limited.RetryAfter)
	}
	return err == nil, s.Failed(what, err)
}
