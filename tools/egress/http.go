package egress

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"time"
)

// Transport is an http.Transport that dials through the guard. It uses no proxy of
// the environment: what it reaches would be the proxy's choice.
func (g *Guard) Transport() *http.Transport {
	return &http.Transport{
		DialContext:            g.DialContext,
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           8,
		IdleConnTimeout:        30 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  g.c.Time,
		MaxResponseHeaderBytes: 256 << 10,
	}
}

// Client is an http.Client within all bounds of the configuration.
func (g *Guard) Client() *http.Client {
	return &http.Client{
		Transport:     bounded{g, g.Transport()},
		Timeout:       g.c.Time,
		CheckRedirect: g.CheckRedirect,
	}
}

// Check says whether a URL may be asked for at all, before anything is resolved:
// its scheme, its host and its port.
func (g *Guard) Check(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return refused("%q is not a scheme of the web (http, https)", u.Scheme)
	}
	if u.User != nil {
		return refused("an address with a name or a password in it")
	}
	host, err := hostName(u.Hostname())
	if err != nil {
		return refused("%v", err)
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	if err := g.allowed(host, port); err != nil {
		return err
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return g.mayReach(host, port, a)
	}
	return nil
}

// CheckRedirect follows a bounded number of redirects, to addresses that may be
// asked for, and never from https to http.
func (g *Guard) CheckRedirect(next *http.Request, via []*http.Request) error {
	if len(via) > g.c.Redirects {
		return refused("more than %d redirects", g.c.Redirects)
	}
	if via[len(via)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
		return refused("a redirect from https to %s", next.URL.Scheme)
	}
	if err := g.Check(next.URL); err != nil {
		return fmt.Errorf("a redirect to %s: %w", next.URL.Host, err)
	}
	return nil
}

// bounded checks each request and cuts answers off.
type bounded struct {
	g    *Guard
	next http.RoundTripper
}

// RoundTrip makes one exchange.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := b.g.Check(r.URL); err != nil {
		return nil, err
	}
	answer, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if answer.ContentLength > b.g.c.Bytes {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("%w: it has %d bytes, and at most %d are read", ErrTooLong, answer.ContentLength, b.g.c.Bytes)
	}
	answer.Body = &cut{ReadCloser: answer.Body, left: b.g.c.Bytes, most: b.g.c.Bytes}
	return answer, nil
}

// ErrTooLong is returned by reads of an answer that is longer than it may be.
var ErrTooLong = errors.New("the answer is too long")

// cut ends a body with an error once it gave more than it may.
type cut struct {
	io.ReadCloser
	left, most int64
}

// Read reads what is left and one byte more, which tells whether there is more.
func (c *cut) Read(p []byte) (int, error) {
	if int64(len(p)) > c.left+1 {
		p = p[:c.left+1]
	}
	n, err := c.ReadCloser.Read(p)
	if int64(n) > c.left {
		n = int(c.left)
		c.left = 0
		return n, fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, c.most)
	}
	c.left -= int64(n)
	return n, err
}
