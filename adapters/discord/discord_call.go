package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/bwmarrin/discordgo"

	"github.com/deckhand-bot/deckhand/bot"
)

// call makes one request of the API: in is sent as JSON, the answer is read
// into out; both may be nil. It is tried once. It waits for its turn within
// Discord's limits, unless ctx ends before that: nothing is sent then, and the
// error is a *bot.BusyError, as it is where Discord says so itself. A refusal is
// a *discordgo.RESTError; any other error says that no answer came. No error
// names the address, since there are tokens in some.
func (d *Discord) call(ctx context.Context, method, endpoint string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
	}
	answer, err := d.send(ctx, method, endpoint, "application/json", body)
	if err != nil || out == nil || len(answer) == 0 {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("the answer of Discord cannot be read: %w", err)
	}
	return nil
}

// send is call with a body of any type. The library makes the request; its own
// waiting is left out, because it takes no notice of ctx.
func (d *Discord) send(ctx context.Context, method, endpoint, contentType string, body []byte) ([]byte, error) {
	if err := d.limits.wait(ctx, method, endpoint); err != nil {
		return nil, err
	}
	free := discordgo.NewRatelimiter().LockBucket(endpoint)
	answer, err := d.api.RequestWithLockedBucket(method, endpoint, contentType, body, free, 0,
		discordgo.WithContext(ctx), discordgo.WithRetryOnRatelimit(false), discordgo.WithRestRetries(0))
	if hidden, is := errors.AsType[*url.Error](err); is {
		err = hidden.Err
		if !known(err) {
			err = fmt.Errorf("no answer of Discord's: %w", err)
		}
	}
	d.noteCall(endpoint, err)
	return answer, err
}

// door sends the library's requests where the configuration says, and learns
// Discord's limits from the answers.
type door struct {
	base   *url.URL // nil: Discord's own
	next   http.RoundTripper
	limits *limits
}

// RoundTrip is one request. An answer that says "too many requests" is a
// *bot.BusyError, whoever gave it.
func (o *door) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := r.URL
	if own, err := url.Parse(discordgo.EndpointDiscord); err == nil && o.base != nil && r.URL.Host == own.Host {
		r = r.Clone(r.Context())
		path, raw := strings.TrimPrefix(asked.Path, "/api"), strings.TrimPrefix(asked.EscapedPath(), "/api")
		r.URL.Scheme, r.URL.Host, r.Host = o.base.Scheme, o.base.Host, o.base.Host
		r.URL.Path, r.URL.RawPath = o.base.Path+path, o.base.EscapedPath()+raw
	}
	next := o.next
	if next == nil {
		next = http.DefaultTransport
	}
	resp, err := next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	busy := o.limits.learn(r.Method, asked.String(), resp.StatusCode, resp.Header)
	if busy != nil {
		_ = resp.Body.Close() // there is nothing more to read
		return nil, busy
	}
	return resp, nil
}

// codeOf is the number with which Discord refused a call, 0 for every other error.
func codeOf(err error) int {
	if refused, is := errors.AsType[*discordgo.RESTError](err); is && refused.Message != nil {
		return refused.Message.Code
	}
	return 0
}

// statusOf is the HTTP status with which Discord refused a call, 0 for every other error.
func statusOf(err error) int {
	if refused, is := errors.AsType[*discordgo.RESTError](err); is && refused.Response != nil {
		return refused.Response.StatusCode
	}
	return 0
}

// tokenRefused reports whether Discord refuses the bot's token.
func tokenRefused(err error) bool {
	return statusOf(err) == http.StatusUnauthorized && codeOf(err) != discordgo.ErrCodeInvalidWebhookTokenProvided
}

func refusedToken(err error) error {
	return fmt.Errorf("DISCORD_TOKEN is refused (status %d): %w; reset the token on the application's page \"Bot\" and set the new one", statusOf(err), bot.ErrRefused)
}
