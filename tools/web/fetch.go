package web

// This file fetches an address within bounds: what a server sends is cut off where
// it is too much, whatever it is packed in.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/tools/egress"
)

// fetched is what a server sent.
type fetched struct {
	url    *url.URL // where it was found in the end
	status int
	kind   string // its Content-Type
	data   []byte
	cut    bool // there is more
}

// wholeAddress is a text as an address of the web.
func wholeAddress(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q is no address: %w", format.Cut(text, 200), err)
	case u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%q is no whole address of the web: write it with https:// before it", format.Cut(text, 200))
	}
	u.Fragment = ""
	return u, nil
}

// fetch gets what is at an address.
func (b browse) fetch(ctx context.Context, u *url.URL) (fetched, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return fetched{}, err
	}
	r.Header.Set("User-Agent", agentName(b.c.Version))
	r.Header.Set("Accept", "text/html,application/xhtml+xml,application/pdf;q=0.9,text/*;q=0.9,application/json;q=0.8,*/*;q=0.5")
	r.Header.Set("Accept-Language", "en, *;q=0.5")
	resp, err := egress.Repeat(ctx, b.client, r)
	if err != nil {
		return fetched{}, inWords(u, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if packed := resp.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return fetched{}, fmt.Errorf("%s sends it packed as %s, which nobody asked for", u.Host, format.Cut(packed, 40))
	}
	f := fetched{url: resp.Request.URL, status: resp.StatusCode, kind: resp.Header.Get("Content-Type")}
	f.data, err = io.ReadAll(resp.Body)
	switch {
	case errors.Is(err, egress.ErrTooLong):
		f.cut = true
	case err != nil && len(f.data) == 0:
		return f, inWords(u, err)
	case err != nil:
		f.cut = true
	}
	return f, nil
}

// inWords says why an address could not be fetched.
func inWords(u *url.URL, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
		return fmt.Errorf("%s took longer than %s to answer", u.Host, MaxTime)
	case errors.Is(err, egress.ErrRefused):
		return fmt.Errorf("%w. This is the configuration's word: another address may be allowed", err)
	}
	return fmt.Errorf("%s cannot be fetched: %w", u.Host, err)
}

func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
