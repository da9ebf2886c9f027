package discord

// This file holds the adapter's configuration and its constructor, which asks
// Discord who the bot is and puts the parts of the adapter together.

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/adapters/discord/commands"
	"github.com/deckhand-bot/deckhand/adapters/discord/directory"
	"github.com/deckhand-bot/deckhand/adapters/discord/interact"
	"github.com/deckhand-bot/deckhand/adapters/discord/post"
	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot"
)

// Platform is the name of the platform: the first part of its addresses.
const Platform = api.Platform

// Config says how to reach Discord. The token is needed always, the public key
// for HTTP interactions.
type Config struct {
	Token string
	// PublicKey is the application's, in hex; with it /discord/interactions is served.
	PublicKey string
	// APIURL is the base of the API with "/api", without a version; empty: Discord's own.
	APIURL string
	// AppID is the application; empty: Discord is asked.
	AppID string
	// GuildID is the server where commands are registered; empty: everywhere.
	GuildID string
	// Gateway takes events from the gateway; without it only interactions over
	// HTTP come in.
	Gateway bool
	// Content asks for the privileged intent: what people write in threads is read
	// without a mention, too.
	Content bool
	// PostTimeout bounds one request that posts; default 3 s.
	PostTimeout time.Duration
	// AllowBots are the bots that may speak to this one: "discord:1".
	AllowBots []string
	// CatchUp is how far back threads are read after downtime; default 24 h.
	CatchUp time.Duration
	// Names keeps how far each channel was read. It is part of the store; without
	// it nothing is caught up after downtime.
	Names agent.Names
	// Clock is the store's time, by which all processes say until when all was
	// well; nil: this process goes by its own.
	Clock agent.Clock
	// Suggest lists what a person may name in a command: it completes while they
	// type. Without it nothing is suggested.
	Suggest Suggest
	// Client makes every request; nil: one of its own.
	Client *http.Client
	Log    *slog.Logger
}

// Suggest is what a person may name at a place, the likeliest first. Beside an
// error there is what could be read.
type Suggest func(ctx context.Context, what Suggested, by bot.Person, at bot.Address) ([]Suggestion, error)

// Suggested is a kind of things that can be named.
type Suggested string

// The kinds: the person's own runs, the live ones that they may look at, the
// questions that wait for them, and the schedules that they may see.
const (
	SuggestRuns      Suggested = commands.Runs
	SuggestLive      Suggested = commands.LiveRuns
	SuggestQuestions Suggested = commands.Questions
	SuggestReports   Suggested = commands.Reports
	SuggestGoals     Suggested = commands.Goals
)

// Suggestion is an id with what it stands for.
type Suggestion struct{ ID, Text string }

// Discord is one bot account. It is a bot.Platform.
type Discord struct {
	account
	*post.Poster

	cfg       Config
	directory *directory.Directory
	proofs    *interact.Verifier // nil without a public key
	log       *slog.Logger

	in      intake
	answers *answerer
}

// New asks Discord who the bot is. A refused token is a bot.ErrRefused that
// names DISCORD_TOKEN; any other error is worth another attempt.
func New(ctx context.Context, cfg Config) (*Discord, error) {
	cfg = cfg.withDefaults()
	d, err := dial(cfg)
	if err != nil {
		return nil, err
	}
	if err := d.whoami(ctx); err != nil {
		return nil, err
	}
	d.in.open(ingest.NewWatermarks(cfg.Names, d.seenName(), ids), cfg.Clock, cfg.Log)
	d.directory = directory.New(d.api, cfg.Log)
	d.Poster = post.New(d.api, d.botUser, cfg.PostTimeout, cfg.Log)
	d.answers = &answerer{in: &d.in, post: d.Poster, log: cfg.Log, botName: d.botName, timeout: cfg.PostTimeout}
	return d, nil
}

// dial makes the client without asking anything.
func dial(cfg Config) (*Discord, error) {
	d := &Discord{cfg: cfg, log: cfg.Log, account: account{allowBots: cfg.AllowBots}}
	var err error
	d.api, err = api.New(api.Options{Token: cfg.Token, URL: cfg.APIURL, HTTP: cfg.Client, Timeout: cfg.PostTimeout, OnToken: d.noteToken})
	if err != nil {
		return nil, err
	}
	if cfg.PublicKey != "" {
		if d.proofs, err = interact.NewVerifier(cfg.PublicKey); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// whoami asks who the bot and its application are.
func (d *Discord) whoami(ctx context.Context) error {
	var me discordgo.User
	err := d.api.Call(ctx, http.MethodGet, discordgo.EndpointUser("@me"), nil, &me)
	if api.TokenRefused(err) {
		return api.RefusedToken(err)
	}
	if err != nil {
		return fmt.Errorf("ask Discord who the bot is: %w", err)
	}
	d.botUser, d.botName, d.appID = me.ID, me.Username, d.cfg.AppID
	if d.appID != "" {
		return nil
	}
	var app discordgo.Application
	if err := d.api.Call(ctx, http.MethodGet, discordgo.EndpointOAuth2Application("@me"), nil, &app); err != nil {
		return fmt.Errorf("ask Discord which application the bot is (or set DISCORD_APP_ID): %w", err)
	}
	d.appID = app.ID
	return nil
}

// Name is the first part of the platform's addresses.
func (d *Discord) Name() string { return Platform }

func (c Config) withDefaults() Config {
	if c.PostTimeout <= 0 {
		c.PostTimeout = 3 * time.Second
	}
	if c.CatchUp <= 0 {
		c.CatchUp = 24 * time.Hour
	}
	if c.Client == nil {
		c.Client = &http.Client{}
	}
	if c.Names == nil {
		c.Names = ingest.NoNames{}
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return c
}

// Link is where a browser or Discord's own program opens a message or a thread.
func (d *Discord) Link(message bot.Address) string {
	at := "https://discord.com/channels/" + message.Workspace + "/" + message.Own()
	switch {
	case message.Workspace == "" || message.Channel == "":
		return ""
	case message.ID == "" || message.ID == message.Own():
		return at
	}
	return at + "/" + message.ID
}
