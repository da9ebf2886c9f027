package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

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

func TestRetryAfterIsPassedOn(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.RateLimited(7 * time.Second) })
	_, err := client(t, s, nil).Complete(t.Context(), request())
	var e *llm.Error
	if !errors.As(err, &e) || e.RetryAfter != 7*time.Second || len(s.Requests()) != 1 {
		t.Errorf("got %v after %d requests", err, len(s.Requests()))
	}
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
