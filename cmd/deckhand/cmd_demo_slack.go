package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

func (a *app) demoSlackCommand() *cobra.Command {
	return a.demoChatCommand(slack.Platform, "Slack", "Web API and Socket Mode", func() (theatre, string) {
		far := slacktest.New(slacktest.Config{})
		return &slackTheatre{far: far}, far.URL()
	})
}

// slackTheatre is the demo's Slack.
type slackTheatre struct {
	far    *slacktest.Server
	thread string
}

func (t *slackTheatre) connect(ctx context.Context, s store, log *slog.Logger) (bot.Platform, error) {
	return slack.New(ctx, slack.Config{BotToken: t.far.BotToken, AppToken: t.far.AppToken, APIURL: t.far.URL() + "/api/", Names: s, Log: log})
}

func (t *slackTheatre) connected() bool { return t.far.Connections() > 0 }

func (t *slackTheatre) wait(ctx context.Context, cond func() bool) error {
	return t.far.Wait(ctx, cond)
}

func (t *slackTheatre) say(goal string) {
	t.thread = t.far.Mention(slacktest.Ann, slacktest.General, "", goal)
}

func (t *slackTheatre) posts() []played {
	var list []played
	for _, m := range t.far.Thread(slacktest.General, t.thread) {
		if kind := kindOf(m); kind != "" {
			list = append(list, played{m.TS, kind, m.Text})
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

func (t *slackTheatre) click(id, label string) error {
	if label == "Good" { // Slack's own thumb
		label = "positive"
	}
	return t.far.Click(slacktest.Ann, slacktest.General, id, label)
}

func (t *slackTheatre) thanked() bool { return len(t.far.Ephemerals(slacktest.Ann)) > 0 }

func (t *slackTheatre) render(w io.Writer) error {
	return t.far.Render(w, slacktest.General, t.thread)
}

func (t *slackTheatre) close() { t.far.Close() }
