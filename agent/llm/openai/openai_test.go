package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// client returns a client of s that ends with the test and hardly waits.
func client(t testing.TB, s *llmtest.Server, change func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: s.URL, Key: "sk-secret", Stream: true, Timeout: 20 * time.Second}
	if change != nil {
		change(&cfg)
	}
	c := New(cfg)
	t.Cleanup(c.Close)
	return c
}

func request() llm.Request {
	return llm.Request{
		Purpose: llm.Work, Run: "run123", Strand: "task/t1", Task: "t1", Model: "test-model", Required: true, MaxTokens: 100,
		Messages: []llm.Message{{Role: llm.System, Content: "You work."}, {Role: llm.User, Content: "Count <the> \"files\""}},
		Functions: []llm.Function{
			{Name: "list_files", Description: "List files", Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "finish_task", Description: "End", Parameters: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string"}}}`)},
		},
	}
}

func TestComplete(t *testing.T) {
	twoCalls := llmtest.Calls(
		llm.Call{ID: "call_a", Name: "list_files", Arguments: `{"path": "src/ünïcode",  "n": 1e3}`},
		llm.Call{ID: "call_b", Name: "finish_task", Arguments: `{"summary":"` + strings.Repeat("long ", 60) + `"}`},
	)
	twoCalls.Text = "I look."
	twoCalls.Usage = llm.Usage{Prompt: 120, Completion: 30, Cached: 64}
	refused := llmtest.Reply{Refusal: "I can't help with that."}
	bare := llmtest.Say("hello")
	bare.NoUsage = true
	tests := []struct {
		name  string
		reply llmtest.Reply
		want  llm.Response
	}{
		{"calls", twoCalls, llm.Response{
			Message: llm.Message{Role: llm.Assistant, Content: "I look.", Calls: twoCalls.Calls},
			Model:   "test-model", Usage: twoCalls.Usage, Finish: "tool_calls",
		}},
		{"refusal", refused, llm.Response{
			Message: llm.Message{Role: llm.Assistant, Refusal: refused.Refusal}, Model: "test-model", Finish: "stop",
			Usage: llm.Usage{Prompt: -1, Completion: 6},
		}},
		{"no usage", bare, llm.Response{
			Message: llm.Message{Role: llm.Assistant, Content: "hello"}, Model: "test-model", Finish: "stop",
			Usage: llm.Usage{Prompt: llm.Count(request()), Completion: 2}, Estimated: true,
		}},
	}
	for _, tt := range tests {
		for _, stream := range []bool{true, false} {
			name := tt.name + map[bool]string{true: " streamed", false: " plain"}[stream]
			t.Run(name, func(t *testing.T) {
				s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return tt.reply })
				c := client(t, s, func(c *Config) { c.Stream = stream })
				got, err := c.Complete(t.Context(), request())
				if err != nil {
					t.Fatal(err)
				}
				if tt.want.Usage.Prompt < 0 { // counted by the server
					got.Usage.Prompt = -1
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
				if r := s.Requests()[0]; r.Stream != stream || r.StreamUsage != stream {
					t.Errorf("stream %v, usage %v, want both %v", r.Stream, r.StreamUsage, stream)
				}
			})
		}
	}
}

func TestRequestOnTheWire(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Say("ok") })
	r := request()
	r.Task = "a\nb"
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "x1", Name: "list_files", Arguments: "{ \"path\":\t\"a\\u00e4\" }"}}},
		llm.Message{Role: llm.Tool, CallID: "x1"},
		llm.Message{Role: llm.Assistant, Refusal: "no"},
		llm.Message{Role: llm.User, Content: "go \u2028 on \x01"},
	)
	if _, err := client(t, s, nil).Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	got := s.Requests()[0]
	if diff := cmp.Diff(r.Messages, got.Messages); diff != "" {
		t.Errorf("messages (-sent +got):\n%s", diff)
	}
	if diff := cmp.Diff(r.Functions, got.Functions); diff != "" {
		t.Errorf("functions (-sent +got):\n%s", diff)
	}
	want := llmtest.Request{Purpose: llm.Work, Run: "run123", Strand: "task/t1", Task: "a_b", Model: "test-model", ToolChoice: "required", MaxTokens: 100, Turn: 2}
	if got.Purpose != want.Purpose || got.Run != want.Run || got.Strand != want.Strand || got.Task != want.Task || got.Model != want.Model ||
		got.ToolChoice != want.ToolChoice || got.MaxTokens != want.MaxTokens || got.Turn != want.Turn {
		t.Errorf("got %+v", got)
	}
	if h := got.Header.Get("Authorization"); h != "Bearer sk-secret" {
		t.Errorf("Authorization %q", h)
	}
}

func TestHeadersLeftOut(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Say("ok") })
	c := client(t, s, func(c *Config) { c.Key = "" })
	if _, err := c.Complete(t.Context(), llm.Request{Model: "m", Messages: request().Messages}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", "X-Deckhand-Purpose", "X-Deckhand-Run", "X-Deckhand-Strand", "X-Deckhand-Task"} {
		if v, ok := s.Requests()[0].Header[name]; ok {
			t.Errorf("%s was sent: %q", name, v)
		}
	}
}

func TestFaults(t *testing.T) {
	quota := llmtest.Fail(429, "insufficient_quota", "You exceeded your current quota")
	tests := []struct {
		name  string
		reply llmtest.Reply
		fault llm.Fault
		tries int
		says  string
	}{
		{"wrong key", llmtest.Fail(401, "invalid_api_key", "Incorrect API key provided: sk-secret"), llm.Unauthorised, 1, "OPENAI_API_KEY"},
		{"forbidden", llmtest.Fail(403, "", "no"), llm.Unauthorised, 1, "OPENAI_API_KEY"},
		{"model by status", llmtest.Reply{Status: 404, ErrorBody: `{"error":"model 'x' not found, try pulling it first"}`}, llm.UnknownModel, 1, "DECKHAND_MODEL"},
		{"model by code", llmtest.Fail(403, "model_not_found", "no access"), llm.UnknownModel, 1, `model "test-model"`},
		{"model by words", llmtest.Reply{Status: 400, ErrorBody: `{"detail":"Invalid model name"}`}, llm.UnknownModel, 1, "DECKHAND_MODEL"},
		{"too long", llmtest.Fail(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens"), llm.TooLong, 1, "larger context"},
		{"too long by words", llmtest.Fail(400, "", "the request exceeds the available context size"), llm.TooLong, 1, "larger context"},
		{"quota", quota, llm.Unpaid, 1, "no credit"},
		{"invalid", llmtest.Fail(400, "", "bad temperature"), llm.Invalid, 1, "bad temperature"},
		{"no tools", llmtest.Fail(400, "", "m does not support tools"), llm.Invalid, 1, "model.mode: json"},
		{"validation list", llmtest.Reply{Status: 422, ErrorBody: `{"detail":[{"msg":"field required"}]}`}, llm.Invalid, 1, "field required"},
		{"google's list", llmtest.Reply{Status: 400, ErrorBody: `[{"error":{"code":400,"message":"API key not valid","status":"INVALID_ARGUMENT"}}]`}, llm.Invalid, 1, "API key not valid"},
		{"redirect", llmtest.Reply{Status: 308, ErrorBody: "x", Header: http.Header{"Location": {"https://user:pw@new.example/v1/x?key=1"}}}, llm.Invalid, 1, "https://new.example/v1/x;"},
		{"web page", llmtest.Reply{Raw: "<html>login</html>", ContentType: "text/html"}, llm.Invalid, 1, "/v1"},
		{"rate limit", llmtest.RateLimited(time.Hour), llm.Limited, 1, "rate limit"},
		{"token limit", llmtest.Fail(429, "", "too many tokens per minute"), llm.Limited, 1, "rate limit"},
		{"500", llmtest.Broken(), llm.Away, 1, "server had an error"},
		{"503 page", llmtest.Unavailable(), llm.Away, 1, `web page titled "503 Service Temporarily Unavailable"`},
		{"408", llmtest.Fail(408, "", "slow"), llm.Away, 1, "slow"},
		{"closed", llmtest.Closed(), llm.Away, 2, "broke off"},
		{"bad JSON", llmtest.Garbled(), llm.Away, 1, "not a chat completion"},
		{"empty", llmtest.Reply{Raw: `{}`}, llm.Away, 1, "not a chat completion"},
		{"cut stream", llmtest.Cut(llmtest.Say(strings.Repeat("word ", 100)), 900), llm.Away, 1, "broke off"},
		{"stream without end", llmtest.Reply{ContentType: "text/event-stream", Raw: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n"}, llm.Away, 1, "broke off"},
		{"error in a plain answer", llmtest.Reply{Raw: `{"error":{"message":"upstream down","code":502}}`}, llm.Away, 1, "upstream down"},
		{"error in a stream", llmtest.Reply{ContentType: "text/event-stream", Raw: ": PROCESSING\n\nevent: error\ndata: {\"error\":{\"message\":\"upstream \\\"x\\\" down\",\"code\":502}}\n\n"}, llm.Away, 1, `upstream "x" down`},
		{"bare error in a stream", llmtest.Reply{ContentType: "text/event-stream", Raw: ": PROCESSING\n\n{\n  \"error\": {\n    \"message\": \"upstream down\",\n    \"code\": 502\n  }\n}\n"}, llm.Away, 1, "upstream down"},
		{"no words in a stream", llmtest.Reply{ContentType: "text/event-stream", Raw: "{\"message\": 1}\n"}, llm.Away, 1, "broke off"},
		{"key in a stream", llmtest.Reply{ContentType: "text/event-stream", Raw: "data: {\"id\":\"1\",\"error\":{\"message\":\"key sk-secret\",\"code\":401}}\n\n"}, llm.Unauthorised, 1, "[key]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return tt.reply })
			c := client(t, s, nil)
			_, err := c.Complete(t.Context(), request())
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Fault != tt.fault || e.Tries != tt.tries || len(s.Requests()) != tt.tries {
				t.Errorf("fault %q after %d tries (%d requests), want %q after %d", e.Fault, e.Tries, len(s.Requests()), tt.fault, tt.tries)
			}
			if passing := tt.fault == llm.Away || tt.fault == llm.Limited; e.Passing() != passing || passing && e.Plain == "" || strings.Contains(e.Plain, c.host) || !e.Reached && e.Status != 0 {
				t.Errorf("passing %v, plain %q, reached %v", e.Passing(), e.Plain, e.Reached)
			}
			for _, want := range []string{c.host, tt.says} {
				if !strings.Contains(e.Error(), want) {
					t.Errorf("%q does not contain %q", e, want)
				}
			}
			for _, secret := range []string{"sk-secret", "pw@", "%!"} {
				if strings.Contains(e.Error(), secret) {
					t.Errorf("%q contains %q", e, secret)
				}
			}
		})
	}
}

// A connection that breaks before anything was heard is mended by another one;
// whatever else fails is the caller's to wait for.
func TestABrokenConnectionIsMendedAtOnce(t *testing.T) {
	s := llmtest.Start(t, llmtest.Sequence(llmtest.Closed(), llmtest.Say("there")))
	got, err := client(t, s, nil).Complete(t.Context(), request())
	if err != nil || got.Message.Content != "there" {
		t.Errorf("%q, %v", got.Message.Content, err)
	}
}

// What an answer has cost that broke off is estimated by what was heard of it.
func TestABrokenAnswerIsPaid(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply {
		return llmtest.Cut(llmtest.Say(strings.Repeat("word ", 200)), 2000)
	})
	_, err := client(t, s, nil).Complete(t.Context(), request())
	var e *llm.Error
	if !errors.As(err, &e) || e.Spent.Prompt != llm.Count(request()) || e.Spent.Completion < 20 || e.Spent.Completion > 200 {
		t.Errorf("got %v, spent %+v", err, e.Spent)
	}
}

func TestNoConnection(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Say("") })
	s.Close()
	c := New(Config{BaseURL: strings.Replace(s.URL, "http://", "http://me:hidden@", 1)})
	defer c.Close()
	_, err := c.Complete(t.Context(), request())
	var e *llm.Error
	if !errors.As(err, &e) || e.Fault != llm.Away || e.Tries != 1 || e.Status != 0 || e.Reached || e.Plain != "cannot be reached" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(e.Message, "connection refused") || strings.Contains(e.Error(), "hidden") || strings.Contains(e.Unwrap().Error(), "hidden") {
		t.Errorf("got %q, cause %q", e, e.Unwrap())
	}
}

func TestBadConfiguration(t *testing.T) {
	for _, cfg := range []Config{{BaseURL: "localhost:11434/v1"}, {BaseURL: "http://a b:pw@x/"}, {BaseURL: "ftp://x"}, {Mode: "yaml"}} {
		_, err := New(cfg).Complete(t.Context(), request())
		var e *llm.Error
		if !errors.As(err, &e) || e.Fault != llm.Invalid || strings.Contains(err.Error(), "pw") {
			t.Errorf("%+v: got %v", cfg, err)
		}
	}
}

func TestTimeout(t *testing.T) {
	late := llmtest.Slow(llmtest.Say("late"), time.Minute)
	gap := llmtest.Say(strings.Repeat("word ", 40))
	gap.Gap = time.Minute
	for name, reply := range map[string]llmtest.Reply{"before the first byte": late, "between events": gap} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return reply })
			_, err := client(t, s, func(c *Config) { c.Timeout = 30 * time.Millisecond }).Complete(t.Context(), request())
			var e *llm.Error
			if !errors.As(err, &e) || e.Fault != llm.Away || e.Tries != 1 || !strings.Contains(e.Message, "30ms") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSteadyStreamOutlivesTimeout(t *testing.T) {
	steady := llmtest.Say(strings.Repeat("word ", 40))
	steady.Gap, steady.Chunk = 20*time.Millisecond, 10
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return steady })
	started := time.Now()
	got, err := client(t, s, func(c *Config) { c.Timeout = 300 * time.Millisecond }).Complete(t.Context(), request())
	if err != nil || got.Message.Content != steady.Text {
		t.Errorf("got %q, %v", got.Message.Content, err)
	}
	if d := time.Since(started); d < 300*time.Millisecond {
		t.Errorf("took %s: the stream was not longer than the timeout", d)
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply {
		cancel()
		return llmtest.Slow(llmtest.Say("late"), time.Minute)
	})
	if _, err := client(t, s, nil).Complete(ctx, request()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
