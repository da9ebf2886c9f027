package egress

// This file makes requests again that failed for a passing reason. It is for
// requests that change nothing, or mean the same when they come twice.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// How often a request is made, and how long the pauses between are.
const (
	attempts     = 3
	firstPause   = 300 * time.Millisecond
	longestPause = 10 * time.Second
)

// Repeat makes a request, and again after a pause where the far end is not
// reached, or says 429 or that it cannot now (500, 502, 503, 504): three times in
// all. The last answer is returned whatever it says. A refusal of this package is
// not tried again. The request's body must be one that can be read again (GetBody).
func Repeat(ctx context.Context, client *http.Client, r *http.Request) (*http.Response, error) {
	pauses := wait.Backoff{First: firstPause, Longest: longestPause}
	for attempt := 1; ; attempt++ {
		again := r.Clone(ctx)
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, fmt.Errorf("the request cannot be made again: %w", err)
			}
			again.Body = body
		}
		resp, err := client.Do(again)
		pause := pauses.Next()
		switch {
		case errors.Is(err, ErrRefused) || errors.Is(err, ErrTooLong) || ctx.Err() != nil:
			return nil, plain(err)
		case err == nil && !passing(resp.StatusCode):
			return resp, nil
		case err == nil:
			pause = max(pause, retryAfter(resp.Header))
		}
		if attempt == attempts || pause > longestPause || !wait.Sleep(ctx, pause) {
			if err != nil {
				return nil, fmt.Errorf("tried %s: %w", format.Count(attempt, "time"), plain(err))
			}
			return resp, nil
		}
		if err == nil {
			_, _ = io.CopyN(io.Discard, resp.Body, 64<<10) // so that the connection is used again
			_ = resp.Body.Close()
		}
	}
}

// plain is an error without the method and the address that net/http puts before it.
func plain(err error) error {
	if u, is := errors.AsType[*url.Error](err); is {
		return u.Err
	}
	return err
}

// passing reports whether an answer is a reason to try again later.
func passing(code int) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter is how long the far end asks to wait, 0: it does not say.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 && seconds < 1<<20 {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
