package openai

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"net/http/httptest"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/llm/llmtest"
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
	got, _ := New(Config{Stream: true}).body(nil, r)
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBodyOnlyGrows holds the prefix that providers cache.
func TestBodyOnlyGrows(t *testing.T) {
	for _, mode := range []Mode{Tools, JSON} {
		c, r := New(Config{Mode: mode}), request()
		before, _ := c.body(nil, r)
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Content: "x"})
		after, _ := c.body(nil, r)
		if !bytes.HasPrefix(after, before[:len(before)-len("]}")]) {
			t.Errorf("%s: a longer conversation changed its beginning", mode)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "a\"b\\c", "\x00\x1f\x7f", "ä😀\u2028", "\xff\xc3", "tab\tnl\n\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(appendString(nil, s), &got); err != nil || got != strings.ToValidUTF8(s, "\ufffd") && !strings.Contains(got, "\ufffd") {
			t.Fatalf("%q became %q: %v", s, got, err)
		}
		want, err := json.Marshal(s)
		var again string
		if err != nil || json.Unmarshal(want, &again) != nil || again != got {
			t.Fatalf("%q: got %q, encoding/json %q", s, got, again)
		}
	})
}

// long is a conversation of about 60 KB.
func long() llm.Request {
	r := request()
	for i := range 30 {
		id := "call_" + strconv.Itoa(i)
		r.Messages = append(r.Messages,
			llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: id, Name: "list_files", Arguments: `{"path":"src"}`}}},
			llm.Message{Role: llm.Tool, CallID: id, Content: strings.Repeat("a line of \"output\" with <some> text\n", 55)})
	}
	return r
}

func BenchmarkBody(b *testing.B) {
	c, r := New(Config{Stream: true}), long()
	b.ReportAllocs()
	for b.Loop() {
		body, _ := c.body(nil, r)
		b.SetBytes(int64(len(body)))
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
