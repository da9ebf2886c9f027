package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// slackOff is said where somebody began to set Slack up.
const slackOff = "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is set, but not SLACK_BOT_TOKEN: Slack is off"

// slackBegun reports whether anything of Slack's is set.
func slackBegun(c config.Config) bool {
	return c.Slack.BotToken.Present() || c.Slack.AppToken.Present() || c.Slack.SigningSecret.Present()
}

// slackReachable refuses a Slack that could hear nobody.
func slackReachable(c config.Config) error {
	switch {
	case !c.Slack.AppToken.Present() && !c.Slack.SigningSecret.Present():
		return config.Refuse("SLACK_BOT_TOKEN is set, but neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP): Slack could not reach Deckhand. " +
			"`deckhand manifest slack` tells where they come from")
	case !c.Slack.AppToken.Present() && c.HTTP == "off":
		return config.Refuse("Slack is to send its events over HTTP (SLACK_SIGNING_SECRET), but the HTTP address is off: set DECKHAND_HTTP_ADDR, or SLACK_APP_TOKEN for Socket Mode")
	}
	return nil
}

func (a *App) slackConnector() Connector {
	cfg := slackConfig(a.options.Config, a.options.Log.With("platform", slack.Platform))
	cfg.Names, cfg.Clock = a.store, a.store
	cfg.Live = func(ctx context.Context) ([]agent.RunID, error) { return live(ctx, a.store) }
	return Connector{slack.Platform, func(ctx context.Context) (bot.Platform, error) { return slack.New(ctx, cfg) }}
}

func slackConfig(c config.Config, log *slog.Logger) slack.Config {
	return slack.Config{
		BotToken: c.Slack.BotToken.Reveal(), AppToken: c.Slack.AppToken.Reveal(), SigningSecret: c.Slack.SigningSecret.Reveal(),
		APIURL: c.Slack.APIURL, PostTimeout: c.Voice.PostTimeout, EditsPerMinute: c.Voice.EditsPerMinute,
		Groups: slackGroups(c), AllowBots: c.Authority.AllowBots, CatchUp: c.Retention.CatchUp, Log: log,
	}
}

// live are the runs that have not ended.
func live(ctx context.Context, s Store) ([]agent.RunID, error) {
	infos, err := s.Runs(ctx, agent.RunFilter{Live: true})
	runs := make([]agent.RunID, len(infos))
	for i, info := range infos {
		runs[i] = info.Run
	}
	return runs, err
}

// slackGroups are the user groups that the configuration names: "slack:S…".
func slackGroups(c config.Config) []string {
	var groups []string
	lists := [][]string{c.Authority.Start, c.Authority.Operators, c.Authority.Approvers, c.Authority.Reviewers, c.Authority.Admins}
	for _, ch := range c.Channels {
		lists = append(lists, ch.Authority.Start, ch.Authority.Operators, ch.Authority.Approvers, ch.Authority.Reviewers)
	}
	for _, list := range lists {
		for _, p := range list {
			id := strings.TrimPrefix(p, slack.Platform+":")
			if strings.HasPrefix(id, "S") && !strings.Contains(id, ":") {
				groups = append(groups, id)
			}
		}
	}
	return groups
}

func checkSlack(ctx context.Context, c config.Config) (string, error) {
	if !c.Slack.BotToken.Present() {
		return "", errors.New(slackOff)
	}
	if err := slackReachable(c); err != nil {
		return "", err
	}
	return slack.Check(ctx, slackConfig(c, slog.New(slog.DiscardHandler)))
}
