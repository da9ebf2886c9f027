package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

// These benchmarks hold what this package does by itself against what go-openai
// would do in its place.

// theirs is r as go-openai's own request.
func theirs(r llm.Request) goai.ChatCompletionRequest {
	ask := goai.ChatCompletionRequest{Model: r.Model, ToolChoice: "required", MaxCompletionTokens: r.MaxTokens}
	for _, m := range r.Messages {
		said := goai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content, ToolCallID: m.CallID}
		for _, c := range m.Calls {
			said.ToolCalls = append(said.ToolCalls, goai.ToolCall{ID: c.ID, Type: goai.ToolTypeFunction, Function: goai.FunctionCall{Name: c.Name, Arguments: c.Arguments}})
		}
		ask.Messages = append(ask.Messages, said)
	}
	for _, f := range r.Functions {
		ask.Tools = append(ask.Tools, goai.Tool{Type: goai.ToolTypeFunction, Function: &goai.FunctionDefinition{Name: f.Name, Description: f.Description, Parameters: f.Parameters}})
	}
	return ask
}

// BenchmarkEncode is a request of 200 messages, about 220 KB.
func BenchmarkEncode(b *testing.B) {
	r := request()
	for i := range 99 {
		id := "call_" + strconv.Itoa(i)
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: id, Name: "list_files", Arguments: `{"path":"src"}`}}},
			llm.Message{Role: llm.Tool, CallID: id, Content: strings.Repeat("a line of \"output\" with <some> text\n", 55)})
	}
	c := New(Config{Stream: true})
	last := len(r.Messages) - 2
	kept := r
	kept.Encoding = &llm.Encoding{}
	for name, encode := range map[string]func() (int, error){
		"ours": func() (int, error) { data, _, err := c.encode(r); return int(data.length()), err },
		"kept": func() (int, error) { // the conversation but for one step
			kept.Messages = r.Messages[:last]
			size := len(conversation(kept))
			kept.Messages = r.Messages
			data, _, err := c.encode(kept)
			*kept.Encoding = llm.Encoding{Messages: last, Last: r.Messages[last-1], Text: kept.Encoding.Text[:size]}
			return int(data.length()), err
		},
		"go-openai": func() (int, error) { data, err := json.Marshal(theirs(r)); return len(data), err },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n, err := encode()
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(int64(n))
			}
		})
	}
}

// cannedStream is a transport that answers with one stream.
type cannedStream []byte

func (s cannedStream) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(s))}, nil
}

// BenchmarkStream reads an answer of 2,000 events.
func BenchmarkStream(b *testing.B) {
	const event = `data: {"id":"chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT","object":"chat.completion.chunk","created":1741569952,"model":"test-model",` +
		`"system_fingerprint":"fp_44709d6fcb","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	endpoint := &http.Client{Transport: cannedStream(strings.Repeat(event, 2000) + finished + "data: [DONE]\n\n")}
	c, r := New(Config{Stream: true}), request()
	c.http = endpoint
	conf := goai.DefaultConfig("")
	conf.HTTPClient = endpoint
	library := goai.NewClientWithConfig(conf)
	for name, read := range map[string]func() (int, error){
		"ours": func() (int, error) {
			resp, err := c.Complete(b.Context(), r)
			return len(resp.Message.Content), err
		},
		"go-openai": func() (n int, err error) {
			s, err := library.CreateChatCompletionStream(b.Context(), theirs(r))
			if err != nil {
				return 0, err
			}
			defer s.Close()
			for {
				event, err := s.Recv()
				if errors.Is(err, io.EOF) {
					return n, nil
				} else if err != nil {
					return n, err
				}
				n += len(event.Choices[0].Delta.Content)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := read(); n != 2000*len(" word") || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkComplete(b *testing.B) {
	for _, stream := range []bool{true, false} {
		b.Run(map[bool]string{true: "streamed", false: "plain"}[stream], func(b *testing.B) {
			s := httptest.NewServer(llmtest.New(func(llmtest.Request) llmtest.Reply {
				return llmtest.Call("finish_task", `{"summary":"`+strings.Repeat("word ", 100)+`"}`)
			}))
			defer s.Close()
			c, r := New(Config{BaseURL: s.URL, Stream: stream}), request()
			defer c.Close()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Complete(b.Context(), r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkBare is what Complete is held against: a loop that encodes the same
// question with encoding/json, posts it and decodes the answer, and does
// nothing else.
func BenchmarkBare(b *testing.B) {
	s := httptest.NewServer(llmtest.New(func(llmtest.Request) llmtest.Reply {
		return llmtest.Call("finish_task", `{"summary":"`+strings.Repeat("word ", 100)+`"}`)
	}))
	defer s.Close()
	client := &http.Client{Transport: transport()}
	defer client.CloseIdleConnections()
	r := request()
	ask := theirs(r)
	b.ReportAllocs()
	for b.Loop() {
		body, err := json.Marshal(ask)
		if err != nil {
			b.Fatal(err)
		}
		resp, err := client.Post(s.URL+"/chat/completions", "application/json", bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		var got goai.ChatCompletionResponse
		if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || len(got.Choices) != 1 {
			b.Fatal(err)
		}
		_ = resp.Body.Close()
	}
}
