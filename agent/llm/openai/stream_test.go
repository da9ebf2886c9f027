package openai

import (
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"net"
	"net/http"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

func delta(d string) string {
	return `data: {"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}` + "\n\n"
}

const finished = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}` + "\n\n"

// TestOddStreams holds what servers do besides the protocol.
func TestOddStreams(t *testing.T) {
	two := []llm.Call{{ID: "a", Name: "f", Arguments: `{"x":1}`}, {ID: "b", Name: "g", Arguments: `{"y":2}`}}
	noIDs := []llm.Call{{ID: "call_0_0", Name: "f", Arguments: `{"x":1}`}, {ID: "call_0_1", Name: "g", Arguments: `{"y":2}`}}
	same := []llm.Call{{ID: "call_0_0", Name: "f", Arguments: `{"x":1}`}, {ID: "call_0_1", Name: "f", Arguments: `{"x":2}`}}
	tests := []struct {
		name, raw string
		want      []llm.Call
	}{
		{"by index, interleaved", delta(`{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}},{"index":1,"id":"b","function":{"name":"g","arguments":""}}]}`) +
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":"{\"y\""}}]}`) + delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}}]}`) +
			delta(`{"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]}`) + finished + "data: [DONE]\n\n", two},
		{"indexes out of order", delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`) +
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`) + finished, two},
		{"no index, whole calls in one delta", delta(`{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`) + finished, two},
		{"no index, in pieces", delta(`{"tool_calls":[{"id":"a","function":{"name":"f"}}]}`) + delta(`{"tool_calls":[{"function":{"arguments":"{\"x\":1}"}}]}`) +
			delta(`{"tool_calls":[{"id":"b","function":{"name":"g"}}]}`) + delta(`{"tool_calls":[{"function":{"arguments":"{\"y\":2}"}}]}`) + finished, two},
		{"index 0 for every call", delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`) +
			delta(`{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`) + finished, two},
		{"id and name repeated", delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}`) + delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":":1}"}}]}`) +
			delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`) + finished, two},
		{"no ids", delta(`{"tool_calls":[{"function":{"name":"f","arguments":"{\"x\":1}"}},{"function":{"name":"g","arguments":"{\"y\":2}"}}]}`) + finished, noIDs},
		{"no ids, same name, same index", delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":1}"}}]}`) + delta(`{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"x\":2}"}}]}`) + finished, same},
		{"arguments as object", delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":{"x":1}}},{"index":1,"id":"b","function":{"name":"g","arguments":{"y":2}}}]}`) + finished, two},
		{"CRLF, comments, no space, no newline at the end", strings.ReplaceAll(": ping\n\nevent: message\ndata:"+delta(`{"content":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}}]}`)[6:]+
			delta(`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`)+finished, "\n", "\r\n") + "data: [DONE]", two},
		{"[DONE] without finish_reason", delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`) + "data: [DONE]\n\n", two},
		{"other choices", `data: {"choices":[{"index":1,"delta":{"tool_calls":[{"index":0,"id":"z","function":{"name":"z","arguments":"{}"}}]}}]}` + "\n\n" +
			delta(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":2}"}}]}`) + finished, two},
	}
	for _, tt := range tests {
		for _, kind := range []string{"text/event-stream", "text/plain"} {
			t.Run(tt.name+", "+kind, func(t *testing.T) {
				s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: tt.raw, ContentType: kind} })
				got, err := client(t, s, nil).Complete(t.Context(), request())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got.Message.Calls); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

func TestPlainAnswerToAStreamRequest(t *testing.T) {
	raw := `{"model":"m2","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}],"usage":{"prompt_tokens":7,"completion_tokens":3,"prompt_cache_hit_tokens":5}}`
	for _, kind := range []string{"application/json; charset=utf-8", "text/plain"} {
		s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply { return llmtest.Reply{Raw: raw, ContentType: kind} })
		got, err := client(t, s, nil).Complete(t.Context(), request())
		want := llm.Response{
			Message: llm.Message{Role: llm.Assistant, Content: "ab"}, Model: "m2", Finish: "stop",
			Usage: llm.Usage{Prompt: 7, Completion: 3, Cached: 5},
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v %s", kind, err, diff)
		}
	}
}

func TestCompleteAnswerBeforeACutIsKept(t *testing.T) {
	s := llmtest.Start(t, func(llmtest.Request) llmtest.Reply {
		return llmtest.Reply{Raw: delta(`{"content":"done"}`) + finished + "data: {\"usa", ContentType: "text/event-stream"}
	})
	got, err := client(t, s, nil).Complete(t.Context(), request())
	if err != nil || got.Message.Content != "done" || !got.Estimated {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(llmtest.New(func(r llmtest.Request) llmtest.Reply {
		if r.N%3 == 2 {
			return llmtest.Fail(429, "", "slow down")
		}
		return llmtest.Call("finish_task", `{"summary":"done"}`)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	for _, stream := range []bool{true, false} {
		opened.Store(0)
		c := New(Config{BaseURL: s.URL, Stream: stream})
		for range 20 {
			var busy *llm.Error
			if _, err := c.Complete(t.Context(), request()); err != nil && (!errors.As(err, &busy) || busy.Fault != llm.Limited) {
				t.Fatal(err)
			}
		}
		c.Close()
		if n := opened.Load(); n != 1 {
			t.Errorf("stream %v: %d connections, want 1", stream, n)
		}
	}
}
