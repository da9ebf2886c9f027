package api

// This file holds the client through which every REST call goes: it waits for
// its turn within the rate limits, keeps tokens out of errors, and notices
// when Discord refuses the bot's own.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// Options say how to reach Discord.
type Options struct {
	Token string
	// URL is the base of the API with "/api", without a version; empty: Discord's own.
	URL string
	// HTTP makes every request.
	HTTP *http.Client
	// Timeout bounds one attempt of Read.
	Timeout time.Duration
	// OnToken learns from each call whether Discord takes the bot's token: nil, or
	// the error that names DISCORD_TOKEN. Nil: nobody wants to know.
	OnToken func(error)
}

// Client makes the calls of one bot account. The library builds and sends the
// requests; its waiting is left out, because it takes no notice of a context.
type Client struct {
	session *discordgo.Session
	files   *http.Client // for what is not the API: attachments
	limits  *limits
	timeout time.Duration
	onToken func(error)
}

// New makes a client without asking anything.
func New(o Options) (*Client, error) {
	var base *url.URL
	if o.URL != "" {
		var err error
		if base, err = url.Parse(strings.TrimSuffix(o.URL, "/")); err != nil || base.Host == "" {
			return nil, fmt.Errorf("DISCORD_API_URL is no address of an API; write https://HOST/api: %w", errors.Join(err, bot.ErrRefused))
		}
	}
	session, err := discordgo.New("Bot " + strings.TrimPrefix(o.Token, "Bot "))
	if err != nil {
		return nil, fmt.Errorf("make a client of Discord: %w", err)
	}
	c := &Client{session: session, files: o.HTTP, limits: newLimits(), timeout: o.Timeout, onToken: o.OnToken}
	own := *o.HTTP
	own.Transport = &transport{base: base, next: o.HTTP.Transport, limits: c.limits}
	session.Client = &own
	session.StateEnabled, session.ShouldReconnectOnError, session.ShouldRetryOnRateLimit, session.MaxRestRetries = false, false, false, 0
	return c, nil
}

// Token is what the gateway is told, too: "Bot …".
func (c *Client) Token() string { return c.session.Token }

// Call makes one request: in is sent as JSON, the answer is read into out; both
// may be nil. It is tried once. It waits for its turn within Discord's limits,
// unless ctx ends before that: nothing is sent then, and the error is a
// *bot.BusyError, as it is where Discord says so itself. A refusal is a
// *discordgo.RESTError; any other error says that no answer came. No error
// names the address, since there are tokens in some.
func (c *Client) Call(ctx context.Context, method, endpoint string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
	}
	answer, err := c.send(ctx, method, endpoint, "application/json", body)
	if err != nil || out == nil || len(answer) == 0 {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer of Discord cannot be read: %w", err)
	}
	return nil
}

// send is Call with a body of any type.
func (c *Client) send(ctx context.Context, method, endpoint, contentType string, body []byte) ([]byte, error) {
	if err := c.limits.wait(ctx, method, endpoint); err != nil {
		return nil, err
	}
	free := discordgo.NewRatelimiter().LockBucket(endpoint)
	answer, err := c.session.RequestWithLockedBucket(method, endpoint, contentType, body, free, 0,
		discordgo.WithContext(ctx), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	if hidden, is := errors.AsType[*url.Error](err); is {
		err = hidden.Err
		if !known(err) {
			err = fmt.Errorf("no answer of Discord's: %w", err)
		}
	}
	c.checkToken(endpoint, err)
	return answer, err
}

// checkToken tells what a call's result says about the bot's token. Calls with a
// token of their own say nothing about it.
func (c *Client) checkToken(endpoint string, err error) {
	ownToken := strings.HasPrefix(endpoint, discordgo.EndpointWebhooks) || strings.HasPrefix(endpoint, discordgo.EndpointAPI+"interactions/")
	switch {
	case ownToken || c.onToken == nil:
	case err == nil:
		c.onToken(nil)
	case TokenRefused(err):
		c.onToken(RefusedToken(err))
	}
}

// transport sends the library's requests where the configuration says, and
// learns Discord's limits from the answers.
type transport struct {
	base   *url.URL // nil: Discord's own
	next   http.RoundTripper
	limits *limits
}

// RoundTrip is one request. An answer that says "too many requests" is a
// *bot.BusyError, whoever gave it.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := r.URL
	if own, err := url.Parse(discordgo.EndpointDiscord); err == nil && t.base != nil && r.URL.Host == own.Host {
		r = r.Clone(r.Context())
		path, raw := strings.TrimPrefix(asked.Path, "/api"), strings.TrimPrefix(asked.EscapedPath(), "/api")
		r.URL.Scheme, r.URL.Host, r.Host = t.base.Scheme, t.base.Host, t.base.Host
		r.URL.Path, r.URL.RawPath = t.base.Path+path, t.base.EscapedPath()+raw
	}
	next := t.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	busy := t.limits.learn(r.Method, asked.String(), resp.StatusCode, resp.Header)
	if busy != nil {
		_ = resp.Body.Close() // there is nothing more to read
		return nil, busy
	}
	return resp, nil
}
