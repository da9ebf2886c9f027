package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/discord"
	"github.com/deckhand-bot/deckhand/adapters/slack"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
	"github.com/deckhand-bot/deckhand/bot/authority"
	"github.com/deckhand-bot/deckhand/bot/intake"
	"github.com/deckhand-bot/deckhand/bot/posting"
	"github.com/deckhand-bot/deckhand/bot/recurring"
	"github.com/deckhand-bot/deckhand/tools/workspace"
)

// platform is a chat platform with the HTTP routes that it wants, by path.
type platform interface {
	bot.Platform
	Routes() map[string]http.Handler
}

// door is a platform that is configured, before it is connected.
type door struct {
	name    string
	connect func(ctx context.Context) (platform, error)
}

// doors are the platforms that are configured. What could never work is refused.
func (s *server) doors(chat *intake.Chat) ([]door, error) {
	var list []door
	if s.config.Slack.BotToken.present() {
		if s.listens { // who only posts needs no way in
			if err := s.config.slackComplete(); err != nil {
				return nil, err
			}
		}
		log := s.log.With("platform", slack.Platform)
		list = append(list, door{slack.Platform, func(ctx context.Context) (platform, error) {
			return slack.New(ctx, s.config.slackConfig(s.store, log))
		}})
	}
	if s.config.Discord.Token.present() {
		if s.listens {
			if err := s.config.discordComplete(); err != nil {
				return nil, err
			}
		}
		log := s.log.With("platform", discord.Platform)
		list = append(list, door{discord.Platform, func(ctx context.Context) (platform, error) {
			return discord.New(ctx, s.config.discordConfig(s.store, suggest(chat), log))
		}})
	}
	return list, nil
}

// enter connects to a platform, however long that takes, lets the voice post
// there, and hears people until ctx ends.
func (s *server) enter(ctx context.Context, d door, voice *posting.Poster, chat *intake.Chat) error {
	p, err := persist(ctx, s.log.With("platform", d.name), d.connect, func(err error) { s.front.away(d.name, err) })
	if err != nil {
		return quiet(ctx, err)
	}
	voice.Join(p)
	chat.Join(p)
	if !s.listens {
		s.front.there(d.name, nil)
		return nil
	}
	s.front.route(p.Routes())
	s.front.there(d.name, p)
	err = p.Listen(ctx, chat.Receive)
	if errors.Is(err, bot.ErrRefused) {
		return &exit{exitUsage, err}
	}
	return quiet(ctx, err)
}

// slackOff is said where somebody began to set Slack up.
const slackOff = "SLACK_APP_TOKEN or SLACK_SIGNING_SECRET is set, but not SLACK_BOT_TOKEN: Slack is off"

// present reports whether anything of Slack's is set.
func (c slackConfig) present() bool {
	return c.BotToken.present() || c.AppToken.present() || c.SigningSecret.present()
}

// slackComplete refuses a Slack that could hear nobody.
func (c config) slackComplete() error {
	switch {
	case !c.Slack.AppToken.present() && !c.Slack.SigningSecret.present():
		return usage("SLACK_BOT_TOKEN is set, but neither SLACK_APP_TOKEN (Socket Mode) nor SLACK_SIGNING_SECRET (HTTP): Slack could not reach Deckhand. " +
			"`deckhand manifest slack` tells where they come from")
	case !c.Slack.AppToken.present() && c.HTTP == "off":
		return usage("Slack is to send its events over HTTP (SLACK_SIGNING_SECRET), but the HTTP address is off: set DECKHAND_HTTP_ADDR, or SLACK_APP_TOKEN for Socket Mode")
	}
	return nil
}

func (c config) slackConfig(s store, log *slog.Logger) slack.Config {
	return slack.Config{
		BotToken: c.Slack.BotToken.Reveal(), AppToken: c.Slack.AppToken.Reveal(), SigningSecret: c.Slack.SigningSecret.Reveal(),
		APIURL: c.Slack.APIURL, PostTimeout: c.Voice.PostTimeout, EditsPerMinute: c.Voice.EditsPerMinute,
		Groups: c.slackGroups(), AllowBots: c.Authority.AllowBots, CatchUp: c.Retention.CatchUp, Names: s, Log: log,
		Live: func(ctx context.Context) ([]agent.RunID, error) { return live(ctx, s) },
	}
}

// live are the runs that have not ended.
func live(ctx context.Context, s store) ([]agent.RunID, error) {
	infos, err := s.Runs(ctx)
	var runs []agent.RunID
	for _, info := range infos {
		if info.Ended.IsZero() {
			runs = append(runs, info.Run)
		}
	}
	return runs, err
}

// slackGroups are the user groups that the configuration names: "slack:S…".
func (c config) slackGroups() []string {
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

// How long a platform that cannot be reached is left alone before the next attempt.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// persist connects until it is done or refused.
func persist(ctx context.Context, log *slog.Logger, connect func(context.Context) (platform, error), away func(error)) (platform, error) {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		p, err := connect(ctx)
		switch {
		case err == nil:
			return p, nil
		case errors.Is(err, bot.ErrRefused):
			return nil, &exit{exitUsage, err}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		away(err)
		log.Warn("cannot connect; trying again", "pause", pause, "err", err)
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		}
	}
}

// chat hears people on the platforms that join it.
func (c config) chat(s store, r recurring.Reporter, log *slog.Logger) *intake.Chat {
	return intake.New(intake.Config{Desk: c.desk(s), Store: s, Brief: c.briefIn, Recurring: c.recurring(s), Reporter: r, Zone: c.Zone,
		Unpriced: c.unpriced(), CatchUp: c.Retention.CatchUp, Log: log})
}

// unpriced is why a run cannot have a budget in money, empty if it can.
func (c config) unpriced() string {
	if _, priced := c.Model.Prices[c.Model.Name]; priced {
		return ""
	}
	return fmt.Sprintf("The model `%s` has no price, so money cannot be counted. Give a budget as `tokens=100000`, `time=1h` or `steps=50`; "+
		"an administrator can set `model.prices`.", c.Model.Name)
}

// voice shows runs on the platforms that join it.
func (c config) voice(s store, w *workspace.Workspace, log *slog.Logger) *posting.Poster {
	return posting.New(posting.Config{
		Paces: s, Audience: c.authority().Audience, Files: shelf{w},
		CardEvery: c.Voice.CardEvery, Heartbeat: c.Voice.Heartbeat, PostTimeout: c.Voice.PostTimeout, Log: log,
	})
}

func (c config) authority() authority.Authority {
	places := make(map[string]authority.Place, len(c.Channels))
	for place, ch := range c.Channels {
		places[place] = authority.Place{Start: ch.Authority.Start, Operators: ch.Authority.Operators, Approvers: ch.Authority.Approvers}
	}
	return authority.Authority{
		Start: c.Authority.Start, Operators: c.Authority.Operators, Approvers: c.Authority.Approvers,
		RequesterMayApprove: c.Authority.RequesterMayApprove, Quorum: c.Authority.Quorum,
		AllowBots: c.Authority.AllowBots, Admins: c.Authority.Admins, Places: places,
	}
}

// briefIn is everything that is decided about a run of a channel before it
// starts, without who wants what.
func (c config) briefIn(place string) (agent.RunStarted, error) {
	limits, err := c.affordable(place)
	return agent.RunStarted{
		Limits: limits, PlanApproval: c.PlanApprovalIn(place), Autonomy: c.AutonomyIn(place),
		Expires: c.Authority.Expires, Slots: c.Engine.Slots, CheckIns: c.CheckIns.Steps, Quorum: c.Authority.Quorum,
		Reviewers: c.ReviewersIn(place),
	}, err
}

// affordable is what a run of a channel may spend ("" is the terminal). A
// money limit that nobody set is dropped where the model has no price; one that
// somebody set refuses to start.
func (c config) affordable(place string) (agent.Limits, error) {
	limits, given := c.LimitsIn(place)
	if _, priced := c.Model.Prices[c.Model.Name]; priced || limits.USD == 0 {
		return limits, nil
	}
	if given {
		key := "budget.run.usd"
		if own := member("channels", place) + "." + key; c.Given(own) {
			key = own
		}
		return limits, usage("a money budget of $%s is set (%s), but the model %q has no price: "+
			"set model.prices.%s: {input: …, output: …} in US$ per 1,000,000 tokens, or drop the limit with usd=0",
			limits.USD, c.At(key), c.Model.Name, c.Model.Name)
	}
	limits.USD = 0
	return limits, nil
}

// shelf is the workspace as the voice uses it.
type shelf struct{ w *workspace.Workspace }

// Open opens a file of a run's folder.
func (s shelf) Open(folder, path string) (io.ReadCloser, int64, error) {
	f, err := s.w.Open(folder)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	clean, err := workspace.Clean(path)
	if err != nil {
		return nil, 0, err
	}
	if _, err := f.Stat(clean); errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	file, info, err := f.Read(clean)
	if err != nil {
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// Create makes a file in a run's folder.
func (s shelf) Create(folder, path string, fill func(w io.Writer) error) error {
	f, err := s.w.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Create(path, fill)
}
