package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Platform is the name of the platform: the first part of its addresses.
const Platform = "slack"

// Config says how to reach a workspace. The bot token is needed always, the app
// token for Socket Mode, the signing secret for the HTTP routes.
type Config struct {
	BotToken      string
	AppToken      string
	SigningSecret string
	// APIURL is the base of the Web API with "/api/"; empty: Slack's own.
	APIURL string
	// PostTimeout bounds one request that posts; default 3 s.
	PostTimeout time.Duration
	// EditsPerMinute bounds the edits of the whole workspace; default 50.
	EditsPerMinute int
	// Groups are the ids of the user groups that the configuration names.
	Groups []string
	// AllowBots are the bots that may speak to this one: "slack:B1".
	AllowBots []string
	// CatchUp is how far back threads are read after downtime; default 24 h.
	CatchUp time.Duration
	// Live lists the runs that have not ended: their threads are read back however
	// old they are. nil: none is known.
	Live func(ctx context.Context) ([]agent.RunID, error)
	// Names keeps how far each channel was read. It is part of the store; without
	// it nothing is caught up after downtime.
	Names agent.Names
	// Client makes every request; nil: one of its own, with two minutes for each.
	Client *http.Client
	Log    *slog.Logger
}

const (
	meWithin   = 10 * time.Second // for Slack to say who the bot is
	callWithin = 2 * time.Minute  // for any request, files included
)

// Slack is one bot account in one workspace. It is a bot.Platform.
type Slack struct {
	cfg    Config
	api    *slackapi.Client
	client *http.Client
	log    *slog.Logger

	team    string // workspace id
	botUser string // the bot as a person: what a mention names
	botID   string // the bot as an author

	in  intake
	out outlet
}

// New asks Slack who the bot is. A refused token is a bot.ErrRefused that names
// SLACK_BOT_TOKEN; any other error is worth another attempt.
func New(ctx context.Context, cfg Config) (*Slack, error) {
	cfg = cfg.withDefaults()
	options := []slackapi.Option{slackapi.OptionHTTPClient(cfg.Client), slackapi.OptionAppLevelToken(cfg.AppToken)}
	if cfg.APIURL != "" {
		options = append(options, slackapi.OptionAPIURL(cfg.APIURL))
	}
	s := &Slack{cfg: cfg, api: slackapi.New(cfg.BotToken, options...), client: cfg.Client, log: cfg.Log}
	asking, cancel := context.WithTimeout(ctx, meWithin)
	defer cancel()
	me, err := s.api.AuthTestContext(asking)
	if code := codeOf(err); tokenRefused(code) {
		return nil, fmt.Errorf("SLACK_BOT_TOKEN is refused (%s): %w; install the app again and set the new token", code, bot.ErrRefused)
	}
	if err != nil {
		return nil, fmt.Errorf("ask Slack who the bot is: %w", err)
	}
	s.team, s.botUser, s.botID = me.TeamID, me.UserID, me.BotID
	s.in.open(ingest.NewWatermarks(cfg.Names, s.seenName(), stamps))
	s.out.open(me.URL)
	return s, nil
}

// Name is the first part of the platform's addresses.
func (s *Slack) Name() string { return Platform }

func (c Config) withDefaults() Config {
	if c.PostTimeout <= 0 {
		c.PostTimeout = 3 * time.Second
	}
	if c.EditsPerMinute <= 0 {
		c.EditsPerMinute = 50
	}
	if c.CatchUp <= 0 {
		c.CatchUp = 24 * time.Hour
	}
	if c.APIURL != "" && !strings.HasSuffix(c.APIURL, "/") {
		c.APIURL += "/"
	}
	if c.Client == nil {
		c.Client = &http.Client{Timeout: callWithin}
	}
	if c.Names == nil {
		c.Names = ingest.NoNames{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// place is the address of a thread or message in the workspace; without an id
// it is the channel.
func (s *Slack) place(channel, id string) bot.Address {
	return bot.Address{Platform: Platform, Workspace: s.team, Channel: channel, ID: id}
}

// principal is a person, a bot or a user group as authority names them.
func principal(id string) string { return Platform + ":" + id }

// codeOf is the word with which Slack refused a call, empty for every other error.
func codeOf(err error) string {
	refused, _ := errors.AsType[slackapi.SlackErrorResponse](err)
	return refused.Err
}

// tokenRefused reports whether the word says that a token is good for nothing.
func tokenRefused(code string) bool {
	switch code {
	case "invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "not_allowed_token_type", "app_uninstalled":
		return true
	}
	return false
}
