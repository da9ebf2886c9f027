package app

// This file connects to the configured chat platforms and keeps trying where
// one is away, so that an outage of Slack or Discord delays nobody else.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/cmd/internal/app/config"
)

// Connector is a chat platform before it is connected.
type Connector struct {
	Name    string
	Connect func(ctx context.Context) (bot.Platform, error)
}

// routed is a platform that is told of events over HTTP, by path.
type routed interface {
	Routes() map[string]http.Handler
}

// configured are the platforms of the configuration. What could never work is
// refused.
func (a *App) configured(chat *intake.Chat) ([]Connector, error) {
	c, hears := a.options.Config, !a.options.PostOnly // who only posts needs no way in
	var list []Connector
	if c.Slack.BotToken.Present() {
		if err := slackReachable(c); hears && err != nil {
			return nil, err
		}
		list = append(list, a.slackConnector())
	}
	if c.Discord.Token.Present() {
		if err := discordReachable(c); hears && err != nil {
			return nil, err
		}
		list = append(list, a.discordConnector(chat))
	}
	return list, nil
}

// warnings say what is configured and not served, so that nobody waits for it,
// and what of the way in which the process runs gives its secrets away.
func warnings(c config.Config, root bool) (list []string) {
	if discordBegun(c) && !c.Discord.Token.Present() {
		list = append(list, discordOff)
	}
	if slackBegun(c) && !c.Slack.BotToken.Present() {
		list = append(list, slackOff)
	}
	for _, way := range []struct{ address, key string }{{"model.base_url", "model.api_key_file"}, {"slack.api_url", "slack.bot_token_file"}, {"discord.api_url", "discord.token_file"}} {
		if c.Strays(way.address, way.key) {
			list = append(list, fmt.Sprintf("%s sends the key of %s to another address (%s): no agent can write this file; if it is not yours, stop, and look at it",
				c.At(way.address), c.At(way.key), way.address))
		}
	}
	if root {
		list = append(list, asRoot)
	}
	return list
}

// asRoot is said at the start of a server that could do with less.
const asRoot = "this process runs as root: whatever breaks out of a sandbox could read every secret of this machine; give it a user of its own"

// enter connects to a platform, however long that takes, posts there, and
// hears people until ctx ends.
func (a *App) enter(ctx context.Context, c Connector) error {
	p, err := a.connect(ctx, c)
	if err != nil {
		return unlessOver(ctx, err)
	}
	a.joined.Join(p)
	a.talk.poster.Join(p)
	a.talk.chat.Join(p)
	if a.options.PostOnly {
		a.health.state(c.Name, func() error { return nil }) // it is only posted to
		return nil
	}
	if r, is := p.(routed); is {
		a.health.route(r.Routes())
	}
	a.health.state(c.Name, p.Ready)
	err = p.Listen(ctx, a.talk.chat.Receive)
	if errors.Is(err, bot.ErrRefused) {
		return &config.RefusedError{Cause: err}
	}
	return unlessOver(ctx, err)
}

// How long a platform that cannot be reached is left alone before the next attempt.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// connect tries until it is done or refused.
func (a *App) connect(ctx context.Context, c Connector) (bot.Platform, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		p, err := c.Connect(ctx)
		switch {
		case err == nil:
			return p, nil
		case errors.Is(err, bot.ErrRefused):
			return nil, &config.RefusedError{Cause: err}
		}
		a.health.away(c.Name, err)
		a.options.Log.Warn("cannot connect; trying again", "platform", c.Name, "pause", pause, "err", err)
		if !wait.Sleep(ctx, pause) {
			return nil, ctx.Err()
		}
	}
}

// unlessOver drops errors that only say that the process ends.
func unlessOver(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}
