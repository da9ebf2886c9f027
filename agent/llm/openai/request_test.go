package openai

import (
	"bytes"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

func TestBody(t *testing.T) {
	r := request()
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "x", Name: "list_files", Arguments: `{"a":"<b>"}`}}},
		llm.Message{Role: llm.Tool, CallID: "x"})
	want := `{"model":"test-model","stream":true,"stream_options":{"include_usage":true},"max_tokens":100,"tool_choice":"required",` +
		`"tools":[{"type":"function","function":{"name":"list_files","description":"List files","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
		`{"type":"function","function":{"name":"finish_task","description":"End","parameters":{"type":"object","properties":{"summary":{"type":"string"}}}}}],` +
		`"messages":[{"role":"system","content":"You work."},{"role":"user","content":"Count <the> \"files\""},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"list_files","arguments":"{\"a\":\"<b>\"}"}}]},` +
		`{"role":"tool","content":"","tool_call_id":"x"}]}`
	got, _, err := New(Config{Stream: true}).encode(r)
	if string(got) != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

// TestBodyOnlyGrows holds the prefix that providers cache.
func TestBodyOnlyGrows(t *testing.T) {
	for _, mode := range []Mode{Tools, JSON} {
		c, r := New(Config{Mode: mode}), request()
		before, _, _ := c.encode(r)
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Content: "x"})
		after, _, _ := c.encode(r)
		if !bytes.HasPrefix(after, before[:len(before)-len("]}")]) {
			t.Errorf("%s: a longer conversation changed its beginning", mode)
		}
	}
}
