package request

// This file makes a request of a call's arguments. Credentials are named and go
// to their own hosts alone.

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// prepared is a request without its credentials.
type prepared struct {
	method      string
	url         *url.URL
	header      http.Header
	body        []byte
	credentials string
}

// own are the headers that a call does not set: the connection's, and those that
// would be credentials.
var own = []string{
	"Authorization", "Proxy-Authorization", "Cookie", "Host", "Connection", "Content-Length", "Transfer-Encoding", "Upgrade", "Te", "Trailer",
	"Expect", "Keep-Alive", "Proxy-Connection", "Accept-Encoding",
}

// build makes the request of a call; nothing is resolved.
func (t tool) build(c agent.Call) (prepared, error) {
	a := arguments{Method: http.MethodGet}
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return prepared{}, fmt.Errorf("the arguments do not fit: %w", err)
	}
	r := prepared{method: a.Method, header: http.Header{}, credentials: a.Credentials}
	u, err := url.Parse(strings.TrimSpace(a.URL))
	if err != nil || u.Host == "" {
		return r, fmt.Errorf("%q is no whole address: write it with https:// before it", format.Cut(a.URL, 200))
	}
	if err := t.c.Guard.Check(u); err != nil {
		return r, fmt.Errorf("%w; tools.http.hosts lists what may be reached", err)
	}
	u.Fragment = ""
	query := u.Query()
	for name, v := range a.Query {
		query.Set(name, fmt.Sprint(v))
	}
	if len(a.Query) > 0 {
		u.RawQuery = query.Encode()
	}
	r.url = u
	for _, name := range slices.Sorted(maps.Keys(a.Headers)) {
		if err := r.set(name, a.Headers[name]); err != nil {
			return r, err
		}
	}
	if err := r.fill(a.Body); err != nil {
		return r, err
	}
	return r, t.mayUse(r)
}

// set sets a header that a call may set.
func (r *prepared) set(name, value string) error {
	name = http.CanonicalHeaderKey(name)
	if slices.Contains(own, name) {
		return fmt.Errorf("the header %s is not for a call to set; tokens are named by credentials", name)
	}
	if strings.ContainsAny(name, " :\r\n") || strings.ContainsAny(value, "\r\n\x00") {
		return fmt.Errorf("the header %q has characters that no header has", name)
	}
	r.header.Set(name, value)
	return nil
}

// fill sets the body: a text as it is, anything else as JSON.
func (r *prepared) fill(raw json.RawMessage) error {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	kind := "application/json"
	var s string
	if json.Unmarshal(raw, &s) == nil {
		raw, kind = []byte(s), "text/plain; charset=utf-8"
	}
	switch {
	case len(raw) > maxBody:
		return fmt.Errorf("the body has %d bytes, at most %d are sent", len(raw), maxBody)
	case safe(r.method):
		return fmt.Errorf("%s has no body: put it into query, or use POST", r.method)
	}
	if r.header.Get("Content-Type") == "" {
		r.header.Set("Content-Type", kind)
	}
	r.body = raw
	return nil
}

// errNoCredentials is said of a name that nobody configured.
var errNoCredentials = errors.New("there are no credentials of that name")

// mayUse says whether the credentials go to the request's host.
func (t tool) mayUse(r prepared) error {
	if r.credentials == "" {
		return nil
	}
	c, is := t.c.Credentials[r.credentials]
	if !is {
		return fmt.Errorf("%w: %q (there are: %s)", errNoCredentials, format.Cut(r.credentials, 60), strings.Join(slices.Sorted(maps.Keys(t.c.Credentials)), ", "))
	}
	if err := c.Guard.Check(r.url); err != nil {
		return fmt.Errorf("the credentials %s are not for %s", r.credentials, r.url.Host)
	}
	return nil
}

// request is what is sent.
func (r *prepared) request(ctx context.Context, c Config) (*http.Request, error) {
	out, err := http.NewRequestWithContext(ctx, r.method, r.url.String(), bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	if len(r.body) == 0 {
		out.Body, out.GetBody = http.NoBody, nil
	}
	out.Header = r.header.Clone()
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", "Deckhand/"+c.Version)
	}
	c.Credentials[r.credentials].fill(out)
	return out, nil
}

// fill puts credentials into a request.
func (c Credentials) fill(r *http.Request) {
	for name, v := range c.Header {
		r.Header.Set(name, v)
	}
	if c.Bearer != "" {
		r.Header.Set("Authorization", "Bearer "+c.Bearer)
	}
	if user, password, is := strings.Cut(c.Basic, ":"); is {
		r.SetBasicAuth(user, password)
	}
}

// neverSent reports whether no byte of the request left.
func neverSent(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}
