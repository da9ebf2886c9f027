package mcp

// This file speaks to a server at an address: with the configured headers, which
// no other host gets, with bounds, and without waiting for a stream that broke.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// errRedirect is said of a server that sends its clients elsewhere.
var errRedirect = errors.New("it redirects to another host: write that address into the configuration if it is right")

// errLarge is said of a server that answers too much at once.
var errLarge = fmt.Errorf("it answers with more than %d MiB", maxMessage>>20)

// errBroken is the cause of a call that ended because the stream of its answer did.
var errBroken = errors.New("the connection broke off before the answer")

// lastWords is how long a call waits for its answer after the stream ended well:
// the answer may be on its way through the client.
const lastWords = time.Second

// overHTTP is the way to a server at an address.
func (s *Server) overHTTP() mcp.Transport {
	base := s.c.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	own, _ := url.Parse(s.c.URL) // the configuration was checked; else the transport complains
	return &mcp.StreamableClientTransport{
		Endpoint: s.c.URL, MaxRetries: 1, MaxEventSize: maxMessage,
		HTTPClient: &http.Client{
			Transport: carrier{base: base, own: own, headers: s.c.Headers},
			CheckRedirect: func(r *http.Request, via []*http.Request) error {
				if len(via) > 3 || own == nil || r.URL.Host != own.Host || r.URL.Scheme != own.Scheme {
					return errRedirect
				}
				return nil
			},
		},
	}
}

// carrier puts the configured headers on requests to the server itself, and
// bounds what comes back.
type carrier struct {
	base    http.RoundTripper
	own     *url.URL
	headers map[string]string
}

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if c.own != nil && r.URL.Host == c.own.Host {
		for name, v := range c.headers {
			r.Header.Set(name, v)
		}
	}
	one, waits := r.Context().Value(callKey{}).(*exchange)
	waits = waits && r.Method == http.MethodPost
	if waits {
		one.sent.Store(true)
	}
	resp, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	stream := strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	b := &body{ReadCloser: resp.Body, left: maxMessage}
	if stream {
		b.left = floodBytes // of one call; the SDK bounds each event
		if r.Method == http.MethodGet {
			b.left = -1 // it stays open as long as the connection
		}
	}
	if waits {
		b.over = func(err error) {
			switch {
			case !errors.Is(err, io.EOF):
				one.lost(fmt.Errorf("%w: %w", errBroken, err))
			case stream:
				time.AfterFunc(lastWords, func() { one.lost(errBroken) })
			}
		}
	}
	resp.Body = b
	return resp, nil
}

// callKey is where a call's context has its exchange.
type callKey struct{}

// exchange is what is known of a call on its way.
type exchange struct {
	sent atomic.Bool // some of it may have left
	lost context.CancelCauseFunc
}

// exchanged is a context for one call, which ends, too, when the stream of its
// answer breaks off.
func exchanged(ctx context.Context) (context.Context, *exchange) {
	ctx, lost := context.WithCancelCause(ctx)
	e := &exchange{lost: lost}
	return context.WithValue(ctx, callKey{}, e), e
}

// body is an answer of at most so many bytes; below 0: without a bound.
type body struct {
	io.ReadCloser
	left int
	over func(err error) // nil: nobody waits
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.left >= 0 {
		if b.left -= n; b.left < 0 {
			n, err = 0, errLarge
		}
	}
	if err != nil && b.over != nil {
		b.over(err)
		b.over = nil
	}
	return n, err
}
