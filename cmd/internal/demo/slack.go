package demo

// This file plays the demo on a local Slack: it turns what Ann says, clicks
// and sees into calls of slacktest.

import (
	"context"
	"encoding/json"
	"io"

	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Slack is a local Slack.
func Slack() Platform { return &slackThread{Server: slacktest.New(slacktest.Config{})} }

type slackThread struct {
	*slacktest.Server

	thread string
}

func (s *slackThread) configure(c *config.Config) {
	c.Slack.BotToken, c.Slack.AppToken = config.NewSecret(s.BotToken), config.NewSecret(s.AppToken)
	c.Slack.APIURL = s.URL() + "/api/"
}

func (s *slackThread) wait(ctx context.Context, cond func() bool) error {
	return s.Wait(ctx, cond)
}

func (s *slackThread) say(goal string) {
	s.thread = s.Mention(slacktest.Ann, slacktest.General, "", goal)
}

func (s *slackThread) posts() []post {
	var list []post
	for _, m := range s.Thread(slacktest.General, s.thread) {
		if kind := kindOf(m); kind != "" {
			list = append(list, post{m.TS, kind, m.Text})
		}
	}
	return list
}

// kindOf is what a message of Deckhand's is, empty for those of others.
func kindOf(m slacktest.Message) agent.PostKind {
	var key struct {
		Kind agent.PostKind `json:"kind"`
	}
	if m.Metadata == nil || json.Unmarshal(m.Metadata.EventPayload, &key) != nil {
		return ""
	}
	return key.Kind
}

func (s *slackThread) click(id, label string) error {
	if label == "Good" { // Slack's own thumb
		label = "positive"
	}
	return s.Click(slacktest.Ann, slacktest.General, id, label)
}

func (s *slackThread) thanked() bool { return len(s.Ephemerals(slacktest.Ann)) > 0 }

func (s *slackThread) render(w io.Writer) error {
	return s.Render(w, slacktest.General, s.thread)
}
