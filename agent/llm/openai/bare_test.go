package openai

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
)

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
	ask := goai.ChatCompletionRequest{Model: r.Model, ToolChoice: "required", MaxCompletionTokens: r.MaxTokens}
	for _, m := range r.Messages {
		ask.Messages = append(ask.Messages, goai.ChatCompletionMessage{Role: string(m.Role), Content: m.Content})
	}
	for _, f := range r.Functions {
		ask.Tools = append(ask.Tools, goai.Tool{Type: goai.ToolTypeFunction, Function: &goai.FunctionDefinition{Name: f.Name, Description: f.Description, Parameters: f.Parameters}})
	}
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
