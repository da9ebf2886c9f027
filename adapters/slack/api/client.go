package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	slackapi "github.com/slack-go/slack"

	"github.com/deckhand-bot/deckhand/adapters/ingest"
	"github.com/deckhand-bot/deckhand/adapters/slack/wire"
	"github.com/deckhand-bot/deckhand/agent/wait"
	"github.com/deckhand-bot/deckhand/bot"
)

// meWithin is how long Slack has to say who the bot is.
const meWithin = 10 * time.Second

// Config says how to reach Slack's Web API.
type Config struct {
	BotToken, AppToken string
	URL                string // with "/api/"; empty: Slack's own
	HTTP               *http.Client
	Log                *slog.Logger
	// Token is told whether the bot's token is accepted.
	Token *ingest.Token
}

// Client asks Slack on behalf of one bot in one workspace.
type Client struct {
	*wire.Reader

	Web  *slackapi.Client
	Site string // of the workspace, with a slash at its end

	token  *ingest.Token
	people *ingest.Cache[bot.Person]
	groups *ingest.Cache[[]string]
	places *ingest.Cache[[]string] // the channels of a person
	log    *slog.Logger

	mu     sync.Mutex
	logged map[string]bool // what was logged once
}

// Web is the library's client.
func Web(cfg Config) *slackapi.Client {
	options := []slackapi.Option{slackapi.OptionHTTPClient(cfg.HTTP), slackapi.OptionAppLevelToken(cfg.AppToken)}
	if cfg.URL != "" {
		options = append(options, slackapi.OptionAPIURL(cfg.URL))
	}
	return slackapi.New(cfg.BotToken, options...)
}

// New asks Slack who the bot is. A refused token is a bot.ErrRefused that names
// SLACK_BOT_TOKEN; any other error is worth another attempt.
func New(ctx context.Context, cfg Config) (*Client, error) {
	c := &Client{Web: Web(cfg), token: cfg.Token, log: cfg.Log, logged: map[string]bool{},
		people: ingest.NewCache[bot.Person](knowPerson, maxPeople), groups: ingest.NewCache[[]string](knowGroup, maxGroups),
		places: ingest.NewCache[[]string](knowPlaces, maxPlaces)}
	ctx, cancel := context.WithTimeout(ctx, meWithin)
	defer cancel()
	me, err := c.Web.AuthTestContext(ctx)
	if code := CodeOf(err); TokenRefused(code) {
		return nil, refusedToken(code)
	}
	if err != nil {
		return nil, fmt.Errorf("ask Slack who the bot is: %w", err)
	}
	c.Reader, c.Site = &wire.Reader{Team: me.TeamID, BotUser: me.UserID, BotID: me.BotID}, me.URL
	return c, nil
}

func refusedToken(code string) error {
	return fmt.Errorf("SLACK_BOT_TOKEN is refused (%s): %w; install the app again and set the new token", code, bot.ErrRefused)
}

// NoteToken learns from a call's result whether the bot's token still works.
func (c *Client) NoteToken(err error) {
	code := CodeOf(err)
	switch {
	case err == nil:
		c.token.Note(nil)
	case TokenRefused(code) && c.token.Note(refusedToken(code)):
		c.log.Error("Slack refuses the bot's token; trying again until it is accepted", "variable", "SLACK_BOT_TOKEN", "error", code)
	}
}

// TryToken asks whether the bot's token works.
func (c *Client) TryToken(ctx context.Context) error {
	_, err := c.Web.AuthTestContext(ctx)
	c.NoteToken(err)
	return err
}

// OpenSocket asks for the address of a connection of Socket Mode. A refused app
// token is a bot.ErrRefused that names SLACK_APP_TOKEN.
func (c *Client) OpenSocket(ctx context.Context) (url string, err error) {
	_, url, err = c.Web.StartSocketModeContext(ctx)
	if code := CodeOf(err); TokenRefused(code) || code == "missing_scope" || code == "forbidden_for_app" {
		return "", fmt.Errorf("SLACK_APP_TOKEN is refused (%s): %w; it starts with xapp- and needs the scope connections:write", code, bot.ErrRefused)
	}
	if err != nil {
		return "", fmt.Errorf("ask Slack for a connection: %w", err)
	}
	return url, nil
}

// Patiently makes a call again while Slack is busy.
func (c *Client) Patiently(ctx context.Context, call func() error) error {
	for {
		err := call()
		c.NoteToken(err)
		busy, is := errors.AsType[*slackapi.RateLimitedError](err)
		if !is || !wait.Sleep(ctx, max(busy.RetryAfter, time.Second)) {
			return err
		}
	}
}

// LogOnce logs a lack of the configuration one time.
func (c *Client) LogOnce(text string, args ...any) {
	key := fmt.Sprint(append([]any{text}, args...)...)
	c.mu.Lock()
	seen := c.logged[key]
	c.logged[key] = true
	c.mu.Unlock()
	if !seen {
		c.log.Warn(text, args...) //nolint:sloglint // the callers' texts are constants
	}
}

// LogFailure logs what could not be shown, and what to do about it.
func (c *Client) LogFailure(text string, where bot.Address, err error) {
	if err == nil {
		return
	}
	c.NoteToken(err)
	if scope := NeededScope(err); scope != "" {
		c.log.Warn(text, "where", where.String(), "error", err, "scope", scope, "remedy", "add the scope and install the app again") //nolint:sloglint // the callers' texts are constants
		return
	}
	c.log.Warn(text, "where", where.String(), "error", err) //nolint:sloglint // the callers' texts are constants
}
