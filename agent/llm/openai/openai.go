package openai

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// Mode says how the model is asked for a decision.
type Mode string

// The modes of model.mode.
const (
	// Tools offers functions by the protocol's own function calling.
	Tools Mode = "tools"
	// JSON asks for one JSON object in the text, for endpoints without
	// function calling.
	JSON Mode = "json"
)

// DefaultBaseURL is OpenAI's own endpoint.
const DefaultBaseURL = "https://api.openai.com/v1"

// defaultTimeout is that of a Config without one.
const defaultTimeout = 120 * time.Second

// Config describes one endpoint.
type Config struct {
	// BaseURL is the endpoint's base with its version, for example
	// http://localhost:11434/v1. Empty: DefaultBaseURL.
	BaseURL string
	// Key goes out as bearer token. Empty: no Authorization header.
	Key string
	// Mode is Tools or JSON. Empty: Tools.
	Mode Mode
	// Stream asks for server-sent events.
	Stream bool
	// Timeout bounds one try. A streamed answer may take longer as a whole:
	// there it bounds the time to the first event and between two events.
	// Zero: 120 s.
	Timeout time.Duration
}

// Client is an llm.Model over one endpoint. It may be used from many
// goroutines.
type Client struct {
	cfg    Config
	host   string
	bad    error // why BaseURL cannot be used
	http   *http.Client
	quirks quirks
	tools  toolCache
}

var _ llm.Model = (*Client)(nil)

// New returns a client for cfg. A BaseURL that cannot be used is reported by
// the first Complete. Close releases the client's connections.
func New(cfg Config) *Client {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.Mode == "" {
		cfg.Mode = Tools
	}
	cfg.Key = strings.TrimSpace(cfg.Key) // keys come from files with a line's end
	if cfg.Timeout <= 0 {
		cfg.Timeout = defaultTimeout
	}
	c := &Client{cfg: cfg, http: &http.Client{
		Transport: transport(),
		// A redirected POST loses its body or its key: it is reported instead.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.host, c.bad = hostOf(cfg.BaseURL)
	if cfg.Mode != Tools && cfg.Mode != JSON {
		c.bad = errors.New("model.mode is neither tools nor json")
	}
	return c
}

// Close drops idle connections. Requests in flight are not touched.
func (c *Client) Close() { c.http.CloseIdleConnections() }

func transport() *http.Transport {
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		ForceAttemptHTTP2:   true,
		WriteBufferSize:     8 << 10,
		MaxIdleConnsPerHost: 4096, // as many as calls at once: a connection that is not kept is dialled again for the next call
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
		// Compressed events arrive in lumps, and unpacking costs more than the
		// bytes are worth.
		DisableCompression: true,
	}
}

// hostOf returns the part of base that may be shown to people.
func hostOf(base string) (string, error) {
	u, err := url.Parse(base)
	if err != nil {
		// The parser's error quotes the URL, which may hold a password.
		return "the endpoint", errors.New("the base URL cannot be read")
	}
	if u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "the endpoint", errors.New("the base URL has no http:// or https:// host")
	}
	return u.Host, nil
}

// quirks are what an endpoint was found not to take. They are remembered for
// the client's life, so that each costs one request.
type quirks struct {
	noRequired       atomic.Bool // tool_choice "required"
	completionTokens atomic.Bool // wants max_completion_tokens
	plainTokens      atomic.Bool // wants max_tokens
	noStreamOptions  atomic.Bool
	noFormat         atomic.Bool // response_format
}

// Complete asks the endpoint once, and again only where the question can be put
// in another way or where the connection broke before anything was heard. It
// returns an *llm.Error, or the context's error where that ended. A request
// that the endpoint's content filter turned away is a Response with Refusal.
func (c *Client) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	if c.bad != nil {
		return llm.Response{}, &llm.Error{Fault: llm.Invalid, Message: c.bad.Error() +
			": set OPENAI_BASE_URL to something like " + DefaultBaseURL + " and model.mode to tools or json", Err: c.bad}
	}
	if err := validate(r, c.cfg.Mode); err != nil {
		return llm.Response{}, c.unsupported(r.Model, err)
	}
	broken := false
	for try := 1; ; try++ {
		text, sent, err := c.encode(r)
		if err != nil {
			return llm.Response{}, &llm.Error{Fault: llm.Invalid, Message: c.host + ": the request cannot be encoded: " + err.Error(), Err: err}
		}
		got, err := c.try(ctx, r, text)
		if err == nil {
			return c.finish(r, got), nil
		}
		if ctx.Err() != nil {
			return llm.Response{}, ctx.Err()
		}
		v := c.judge(err)
		if v.refusal != "" {
			return c.finish(r, filtered(v)), nil
		}
		if c.adapt(v, sent) {
			continue
		}
		if again := brokenOff(err) && !broken; !again {
			return llm.Response{}, c.fail(r, v, try, spent(r, got))
		}
		broken = true
		if !wait.Sleep(ctx, rand.N(soonAgain)) {
			return llm.Response{}, ctx.Err()
		}
	}
}

// spent estimates what an answer has cost that broke off: the prompt and what
// was heard of the answer, nothing where no answer had begun.
func spent(r llm.Request, a answer) llm.Usage {
	switch {
	case a.usage.Prompt > 0 || a.usage.Completion > 0:
		return a.usage
	case !a.answered():
		return llm.Usage{}
	}
	return llm.Usage{Prompt: llm.Count(r), Completion: llm.CountAnswer(a.message())}
}

// finish completes an answer with what the endpoint left out.
func (c *Client) finish(r llm.Request, a answer) llm.Response {
	m := a.message()
	if c.cfg.Mode == JSON {
		m = command(m, r, a.finish)
	}
	resp := llm.Response{Message: m, Model: a.model, Usage: a.usage, Finish: a.finish, Quota: a.quota}
	if resp.Model == "" {
		resp.Model = r.Model
	}
	nameCalls(resp.Message.Calls, countTurns(r.Messages))
	if a.usage.Prompt == 0 && a.usage.Completion == 0 {
		resp.Usage = llm.Usage{Prompt: llm.Count(r), Completion: llm.CountAnswer(resp.Message)}
		resp.Estimated = true
	}
	return resp
}

func filtered(v verdict) answer {
	return answer{finish: "content_filter", refusal: []byte(v.refusal)}
}
