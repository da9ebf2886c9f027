package openai

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// soonAgain is the longest pause before the one retry of a connection that
// broke before anything was heard: an endpoint closed it as it was used again.
// All longer waiting is the caller's.
const soonAgain = 100 * time.Millisecond

// brokenOff reports whether the connection broke before any answer began, which
// a new connection may mend.
func brokenOff(err error) bool {
	if errors.Is(err, errCut) || errors.Is(err, errSlow) {
		return false
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// retryAfter reads Retry-After-Ms, then Retry-After in its two forms (seconds
// or a date, RFC 9110 §10.2.3). It is negative where neither can be read.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 {
		return atMostADay(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 {
		return atMostADay(s)
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(0, t.Sub(now))
	}
	return -1
}

// atMostADay turns seconds into a Duration of at most a day, which also keeps
// absurd numbers from overflowing.
func atMostADay(seconds float64) time.Duration {
	return time.Duration(min(seconds, 86400) * float64(time.Second))
}

// adapt learns from a rejection what the endpoint does not take. It reports
// whether the same question can be put in another way: then it is asked again
// at once, and every later one that way from the start.
func (c *Client) adapt(v verdict, sent body) bool {
	switch v.status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError, http.StatusNotImplemented:
	default:
		return false
	}
	switch {
	case sent.ToolChoice == "required" && (strings.Contains(v.text, "tool_choice") || strings.Contains(v.text, "tool choice")):
		c.quirks.noRequired.Store(true)
	case sent.StreamOptions != nil && strings.Contains(v.text, "stream_options"):
		c.quirks.noStreamOptions.Store(true)
	case sent.ResponseFormat != nil && (strings.Contains(v.text, "response_format") || strings.Contains(v.text, "json_object")):
		c.quirks.noFormat.Store(true)
	case sent.MaxTokens+sent.MaxCompletionTokens > 0 && strings.Contains(v.text, "max_completion_tokens"):
		return c.otherTokens(sent)
	default:
		return false
	}
	return true
}

// otherTokens changes the name of the answer's bound. An endpoint that has
// asked for max_completion_tokens gets no third try.
func (c *Client) otherTokens(sent body) bool {
	if sent.MaxCompletionTokens == 0 {
		c.quirks.completionTokens.Store(true)
		return true
	}
	c.quirks.plainTokens.Store(true)
	return !c.quirks.completionTokens.Load()
}
