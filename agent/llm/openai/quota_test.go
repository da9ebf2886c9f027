package openai

import (
	"errors"
	"net/http"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

func TestQuota(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for name, tt := range map[string]struct {
		header http.Header
		want   llm.Quota
	}{
		"nothing":        {header(), llm.Quota{}},
		"OpenAI's":       {header("x-ratelimit-limit-requests", "600", "x-ratelimit-reset-requests", "100ms", "x-ratelimit-limit-tokens", "200000", "x-ratelimit-reset-tokens", "1m0s"), llm.Quota{Requests: 600, Tokens: 200_000}},
		"a day's limit":  {header("x-ratelimit-limit-requests", "14400", "x-ratelimit-reset-requests", "2m59.56s", "x-ratelimit-limit-tokens", "6000", "x-ratelimit-reset-tokens", "7.66s"), llm.Quota{Tokens: 6000}},
		"no tokens left": {header("x-ratelimit-limit-tokens", "6000", "x-ratelimit-remaining-tokens", "0"), llm.Quota{Tokens: 6000, OutOfTokens: true}},
		"no number":      {header("x-ratelimit-limit-requests", "many", "x-ratelimit-limit-tokens", "-5"), llm.Quota{}},
	} {
		if got := quota(tt.header); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
	endpoint := llmtest.NewLimited(llmtest.Limits{Requests: 1}, func(llmtest.Request) llmtest.Reply { return llmtest.Say("ok") })
	s := llmtest.Start(t, endpoint.Script)
	c := client(t, s, nil)
	if got, err := c.Complete(t.Context(), request()); err != nil || got.Quota.Requests != 1 {
		t.Errorf("an answer says %+v, %v", got.Quota, err)
	}
	_, err := c.Complete(t.Context(), request())
	var e *llm.Error
	if !errors.As(err, &e) || e.Fault != llm.Limited || e.Quota.Requests != 1 || e.RetryAfter <= 0 {
		t.Errorf("a refusal says %v", err)
	}
	endpoint.Away(func(llmtest.Request) llmtest.Reply { return llmtest.Overloaded() })
	if _, err = c.Complete(t.Context(), request()); !errors.As(err, &e) || e.Fault != llm.Away || e.Plain != "is overloaded (HTTP 529)" {
		t.Errorf("overloaded: %v", err)
	}
	endpoint.Away(llmtest.BrokenOff)
	if _, err = c.Complete(t.Context(), request()); !errors.As(err, &e) || e.Fault != llm.Away || e.Spent.Prompt == 0 {
		t.Errorf("broken off: %v", err)
	}
}
