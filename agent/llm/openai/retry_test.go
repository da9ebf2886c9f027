package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

func TestPause(t *testing.T) {
	const most = 60 * time.Second
	for failed, top := range map[int]time.Duration{1: firstPause, 2: time.Second, 4: 4 * time.Second, 7: 32 * time.Second, 8: most, 100: most} {
		var longest time.Duration
		for range 2000 {
			d := retryPause(failed, -1, most)
			if d < 0 || d > top {
				t.Fatalf("pause(%d) = %s, want 0 to %s", failed, d, top)
			}
			longest = max(longest, d)
		}
		if longest < top*9/10 {
			t.Errorf("pause(%d) never came near %s (longest %s)", failed, top, longest)
		}
	}
	for after, want := range map[time.Duration]time.Duration{0: 0, 7 * time.Second: 7 * time.Second, time.Hour: most} {
		if got := retryPause(3, after, most); got != want {
			t.Errorf("after %s: %s, want %s", after, got, want)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, -1},
		{http.Header{"Retry-After": {"20"}}, 20 * time.Second},
		{http.Header{"Retry-After": {"0.25"}}, 250 * time.Millisecond},
		{http.Header{"Retry-After": {"20"}, "Retry-After-Ms": {"120"}}, 120 * time.Millisecond},
		{http.Header{"Retry-After": {"Sun, 01 Mar 2026 12:00:30 GMT"}}, 30 * time.Second},
		{http.Header{"Retry-After": {"Sun, 01 Mar 2026 11:00:00 GMT"}}, 0},
		{http.Header{"Retry-After": {"soon"}}, -1},
		{http.Header{"Retry-After": {"-5"}}, -1},
		{http.Header{"Retry-After": {"NaN"}}, -1},
		{http.Header{"Retry-After": {"1e300"}}, 24 * time.Hour},
	}
	for _, tt := range tests {
		if got := retryAfter(tt.header, now); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.header, got, tt.want)
		}
	}
}

// replies is a transport without a network, for tests with synctest's clock.
type replies struct {
	mu   sync.Mutex
	list []canned
	at   []time.Time
}

func (r *replies) RoundTrip(*http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.list[min(len(r.at), len(r.list)-1)]
	r.at = append(r.at, time.Now())
	h := http.Header{"Content-Type": {"application/json"}}
	if c.after != "" {
		h.Set("Retry-After", c.after)
	}
	return &http.Response{StatusCode: c.status, Header: h, Body: io.NopCloser(strings.NewReader(c.body))}, nil
}

type canned struct {
	status      int
	after, body string
}

func TestRetryAfterIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &replies{list: []canned{
			{429, "7", `{}`},
			{503, "600", `{}`},
			{200, "", `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`},
		}}
		c := New(Config{Retries: 5, RetryMaxWait: 20 * time.Second})
		c.http = &http.Client{Transport: tr}
		got, err := c.Complete(t.Context(), request())
		if err != nil || got.Message.Content != "ok" {
			t.Fatalf("got %+v, %v", got, err)
		}
		if a, b := tr.at[1].Sub(tr.at[0]), tr.at[2].Sub(tr.at[1]); a != 7*time.Second || b != 20*time.Second {
			t.Errorf("waited %s and %s, want 7s and 20s", a, b)
		}
	})
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := &replies{list: []canned{{429, "30", `{}`}}}
		c := New(Config{Retries: 5})
		c.http = &http.Client{Transport: tr}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		started := time.Now()
		_, err := c.Complete(ctx, request())
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(started) != 4*time.Second {
			t.Errorf("got %v after %s", err, time.Since(started))
		}
	})
}

// TestQuirks checks that a parameter which the endpoint does not take costs
// one request, and only one.
func TestQuirks(t *testing.T) {
	tests := []struct {
		name, model, message string
		status               int
		refuses              func(llmtest.Request) bool
	}{
		{"tool_choice", "m", "tool_choice 'required' is not supported", 400, func(r llmtest.Request) bool { return r.ToolChoice == "required" }},
		{"tool_choice, 501", "m", "Only 'auto' tool_choice is supported", 501, func(r llmtest.Request) bool { return r.ToolChoice == "required" }},
		{"stream_options", "m", "Extra inputs: stream_options", 422, func(r llmtest.Request) bool { return r.StreamUsage }},
		{"max_tokens", "m", "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.", 400, func(r llmtest.Request) bool { return strings.Contains(string(r.Body), `"max_tokens"`) }},
		{"max_completion_tokens", "gpt-5-mini", "unknown field max_completion_tokens", 400, func(r llmtest.Request) bool { return strings.Contains(string(r.Body), `"max_completion_tokens"`) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.Start(t, func(r llmtest.Request) llmtest.Reply {
				if tt.refuses(r) {
					return llmtest.Fail(tt.status, "", tt.message)
				}
				return llmtest.Say("ok")
			})
			c, r := client(t, s, nil), request()
			r.Model = tt.model
			for range 2 {
				if _, err := c.Complete(t.Context(), r); err != nil {
					t.Fatal(err)
				}
			}
			if n := len(s.Requests()); n != 3 {
				t.Errorf("%d requests, want 3", n)
			}
			if tt.model == "m" && strings.HasPrefix(tt.name, "tool_choice") && s.Requests()[2].ToolChoice != "auto" {
				t.Errorf("tool_choice %q, want auto", s.Requests()[2].ToolChoice)
			}
		})
	}
	t.Run("an error that quotes the request", func(t *testing.T) {
		s := llmtest.Start(t, func(r llmtest.Request) llmtest.Reply {
			return llmtest.Reply{Status: 422, ErrorBody: `{"error":{"message":"no"},"input":` + string(r.Body) + `}`}
		})
		if _, err := client(t, s, nil).Complete(t.Context(), request()); err == nil || len(s.Requests()) != 1 {
			t.Errorf("got %v after %d requests, want one", err, len(s.Requests()))
		}
	})
	t.Run("an endpoint that is never content", func(t *testing.T) {
		s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply {
			return llmtest.Fail(400, "", "tool_choice stream_options max_completion_tokens")
		})
		_, err := client(t, s, nil).Complete(t.Context(), request())
		var e *llm.Error
		if !errors.As(err, &e) || e.Fault != llm.Invalid || e.Tries > 6 {
			t.Errorf("got %v", err)
		}
	})
}

func TestContentFilterIsARefusal(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply {
		return llmtest.Fail(400, "content_filter", "The prompt was filtered")
	})
	got, err := client(t, s, nil).Complete(t.Context(), request())
	if err != nil || got.Message.Refusal != "The prompt was filtered" || got.Finish != "content_filter" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestModelsThatNeedCare(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Say("ok") })
	c, r := client(t, s, nil), request()
	r.Model = "gpt-6-sol"
	if _, err := c.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Requests()[0].Body); !strings.Contains(body, `"reasoning_effort":"none"`) || !strings.Contains(body, `"max_completion_tokens":100`) {
		t.Errorf("sent %s", body)
	}
	for model, fault := range map[string]llm.Fault{"gpt-6-astra": llm.Invalid, "text-davinci-003": llm.UnknownModel} {
		r.Model = model
		_, err := c.Complete(t.Context(), r)
		var e *llm.Error
		if !errors.As(err, &e) || e.Fault != fault {
			t.Errorf("%s: got %v", model, err)
		}
	}
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}
