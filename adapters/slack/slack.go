package slack

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/api"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Platform is the name of the platform: the first part of its addresses.
const Platform = wire.Platform

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
	// Clock is the store's time, by which all processes say until when all was
	// well; nil: this process goes by its own.
	Clock agent.Clock
	// Client makes every request; nil: one of its own, with two minutes for each.
	Client *http.Client
	Log    *slog.Logger
}

// callWithin bounds any request, files included.
const callWithin = 2 * time.Minute

// Slack is one bot account in one workspace. It is a bot.Platform: what asks
// Slack and shows nothing is the client's.
type Slack struct {
	*api.Client

	cfg  Config
	http *http.Client
	log  *slog.Logger

	in       intake
	features features
	// By whom: the direct conversation. By conversation: what it offers to say.
	conversations, prompted *ingest.Cache[string]
}

// New asks Slack who the bot is. A refused token is a bot.ErrRefused that names
// SLACK_BOT_TOKEN; any other error is worth another attempt.
func New(ctx context.Context, cfg Config) (*Slack, error) {
	cfg = cfg.withDefaults()
	s := &Slack{cfg: cfg, http: cfg.Client, log: cfg.Log}
	client, err := api.New(ctx, cfg.api(&s.in.Token))
	if err != nil {
		return nil, err
	}
	s.Client = client
	s.AllowBots = cfg.AllowBots
	s.in.Init(ingest.NewWatermarks(cfg.Names, s.marksName(), stamps), func(ctx context.Context) (int64, error) {
		now, err := ingest.Now(ctx, cfg.Clock)
		return now.UnixMicro(), err
	}, cfg.Log)
	s.in.times = defaultTimeouts()
	s.features.init()
	s.conversations, s.prompted = ingest.NewCache[string](knowPrompts, maxPrompted), ingest.NewCache[string](knowPrompts, maxPrompted)
	return s, nil
}

// api is how to reach Slack's Web API.
func (c Config) api(token *ingest.Token) api.Config {
	return api.Config{BotToken: c.BotToken, AppToken: c.AppToken, URL: c.APIURL, HTTP: c.Client, Log: c.Log, Token: token}
}

// Name is the first part of the platform's addresses.
func (s *Slack) Name() string { return Platform }

// Link is where a browser or Slack's own program opens a message.
func (s *Slack) Link(message bot.Address) string {
	if s.Site == "" || message.ID == "" {
		return ""
	}
	return strings.TrimSuffix(s.Site, "/") + "/archives/" + message.Channel + "/p" + strings.ReplaceAll(message.ID, ".", "")
}

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
