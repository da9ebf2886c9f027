package main

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/adapters/slack/slacktest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

func (a *cli) demoSlackCommand() *cobra.Command {
	return a.demoChatCommand(slack.Platform, "Slack", "Web API and Socket Mode", func() (demoPlatform, string) {
		far := slacktest.New(slacktest.Config{})
		return &slackDemo{far: far}, far.URL()
	})
}

// slackDemo is the demo's Slack.
type slackDemo struct {
	far    *slacktest.Server
	thread string
}

func (p *slackDemo) configure(c *config.Config) {
	c.Slack.BotToken, c.Slack.AppToken = config.NewSecret(p.far.BotToken), config.NewSecret(p.far.AppToken)
	c.Slack.APIURL = p.far.URL() + "/api/"
}

func (p *slackDemo) connected() bool { return p.far.Connections() > 0 }

func (p *slackDemo) wait(ctx context.Context, cond func() bool) error {
	return p.far.Wait(ctx, cond)
}

func (p *slackDemo) say(goal string) {
	p.thread = p.far.Mention(slacktest.Ann, slacktest.General, "", goal)
}

func (p *slackDemo) posts() []played {
	var list []played
	for _, m := range p.far.Thread(slacktest.General, p.thread) {
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

func (p *slackDemo) click(id, label string) error {
	if label == "Good" { // Slack's own thumb
		label = "positive"
	}
	return p.far.Click(slacktest.Ann, slacktest.General, id, label)
}

func (p *slackDemo) thanked() bool { return len(p.far.Ephemerals(slacktest.Ann)) > 0 }

func (p *slackDemo) render(w io.Writer) error {
	return p.far.Render(w, slacktest.General, p.thread)
}

func (p *slackDemo) close() { p.far.Close() }
