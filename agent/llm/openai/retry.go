package openai

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// firstPause is the longest pause before the first retry.
const firstPause = 500 * time.Millisecond

// retryPause returns how long to wait after the failed-th failure: what the
// endpoint asked for (after ≥ 0), else a random time up to 0.5 s · 2^(failed-1)
// ("full jitter", AWS Architecture Blog, 2015); never above most.
func retryPause(failed int, after, most time.Duration) time.Duration {
	if after >= 0 {
		return min(after, most)
	}
	top := most
	if shift := failed - 1; shift < 20 {
		top = min(firstPause<<shift, most)
	}
	return rand.N(top + 1)
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
