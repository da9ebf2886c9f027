package openai

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent/bounds"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// endless answers every request with the pieces, one after the other, until the
// client has had enough.
func endless(t *testing.T, first string, more func(nth int) string) *Client {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, err := w.Write([]byte(first))
		for n := 0; err == nil && r.Context().Err() == nil; n++ {
			_, err = w.Write([]byte(more(n)))
		}
	}))
	t.Cleanup(s.Close)
	c := New(Config{BaseURL: s.URL, Stream: true, Timeout: 20 * time.Second})
	t.Cleanup(c.Close)
	return c
}

// An answer that goes on beyond what was asked for is cut, and what came counts.
func TestAnswersAreBounded(t *testing.T) {
	begun := delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"text\":\""}}]}`)
	piece, blanks := strings.Repeat("x", 1000), strings.Repeat(" ", 1000)
	for name, c := range map[string]*Client{
		"arguments without end": endless(t, begun, func(int) string {
			return delta(`{"tool_calls":[{"index":0,"function":{"arguments":"` + piece + `"}}]}`)
		}),
		"words without end": endless(t, "", func(int) string { return delta(`{"content":"` + piece + `"}`) }),
		"calls without end": endless(t, "", func(n int) string {
			return delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":"c%d","function":{"name":"f","arguments":"{}"}}]%s}`, n, n, blanks))
		}),
		"nothing without end": endless(t, begun, func(int) string { return delta(`{` + blanks + `}`) }),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.Complete(t.Context(), request())
			if err != nil || got.Finish != "length" {
				t.Fatalf("finish %q: %v", got.Finish, err)
			}
			size := len(got.Message.Content)
			for _, c := range got.Message.Calls {
				size += len(c.Arguments)
			}
			if size > bounds.Answer(request().MaxTokens)+len(piece) || len(got.Message.Calls) > 2*bounds.Calls {
				t.Errorf("%d bytes in %d calls", size, len(got.Message.Calls))
			}
			if got.Usage.Prompt == 0 || got.Usage.Completion == 0 || !got.Estimated {
				t.Errorf("usage %+v", got.Usage)
			}
		})
	}
}

// What is no answer and never ends is a failure.
func TestLongAnswersWithoutEvents(t *testing.T) {
	long := strings.Repeat("x", 64<<20)
	for kind, raw := range map[string]string{"text/event-stream": "data: " + long, "application/json": `{"choices":[{"message":{"content":"` + long + `"}}]}`} {
		s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: raw, ContentType: kind} })
		_, err := client(t, s, nil).Complete(t.Context(), request())
		fault, is := errors.AsType[*llm.Error](err)
		if !is || !strings.Contains(fault.Error(), "far longer than was asked for") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// An endpoint that counts wrongly gives nobody money back.
func TestUsageIsPlausible(t *testing.T) {
	for counted, want := range map[string]llm.Usage{
		`{"prompt_tokens":-5000000,"completion_tokens":-3000000}`:                                  {},
		`{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":900}}`: {Prompt: 10, Completion: 5, Cached: 10},
		`{"prompt_tokens":10,"completion_tokens":5,"prompt_cache_hit_tokens":-4}`:                  {Prompt: 10, Completion: 5},
		`{"prompt_tokens":9000000000000,"completion_tokens":5}`:                                    {Prompt: maxTokens, Completion: 5},
	} {
		raw := `{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"ab"}}],"usage":` + counted + `}`
		s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: raw, ContentType: "application/json"} })
		got, err := client(t, s, nil).Complete(t.Context(), request())
		if err != nil {
			t.Fatal(err)
		}
		if want == (llm.Usage{}) {
			if !got.Estimated || got.Usage.Prompt <= 0 || got.Usage.Completion <= 0 {
				t.Errorf("%s: %+v", counted, got)
			}
			continue
		}
		if got.Usage != want {
			t.Errorf("%s: %+v, want %+v", counted, got.Usage, want)
		}
	}
}
