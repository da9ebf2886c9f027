package openai

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// encoded is r's whole body.
func encoded(tb testing.TB, c *Client, r llm.Request) []byte {
	tb.Helper()
	pieces, _, err := c.encode(r)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(pieces.reader())
	if err != nil || int64(len(text)) != pieces.length() {
		tb.Fatalf("%d bytes, %v; said to be %d", len(text), err, pieces.length())
	}
	return text
}

func TestBody(t *testing.T) {
	r := request()
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: "x", Name: "list_files", Arguments: `{"a":"<b>"}`}, {ID: "y", Name: "list_files"}}},
		llm.Message{Role: llm.Tool, CallID: "x"},
		llm.Message{Role: llm.Assistant, Refusal: "no"})
	want := `{"model":"test-model","stream":true,"stream_options":{"include_usage":true},"max_tokens":100,"tool_choice":"required",` +
		`"tools":[{"type":"function","function":{"name":"list_files","description":"List files","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}},` +
		`{"type":"function","function":{"name":"finish_task","description":"End","parameters":{"type":"object","properties":{"summary":{"type":"string"}}}}}],` +
		`"messages":[{"role":"system","content":"You work."},{"role":"user","content":"Count <the> \"files\""},` +
		`{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"list_files","arguments":"{\"a\":\"<b>\"}"}},` +
		`{"id":"y","type":"function","function":{"name":"list_files","arguments":""}}]},` +
		`{"role":"tool","content":"","tool_call_id":"x"},{"role":"assistant","content":"","refusal":"no"}]}`
	if got := encoded(t, New(Config{Stream: true}), r); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestBodyOnlyGrows holds the prefix that providers cache.
func TestBodyOnlyGrows(t *testing.T) {
	for _, mode := range []Mode{Tools, JSON} {
		c, r := New(Config{Mode: mode}), request()
		before := encoded(t, c, r)
		r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Content: "x"})
		if after := encoded(t, c, r); !bytes.HasPrefix(after, before[:len(before)-len("]}")]) {
			t.Errorf("%s: a longer conversation changed its beginning", mode)
		}
	}
}

// A kept conversation gives the bytes that a new one gives, whatever was sent
// with it before.
func TestKeptConversation(t *testing.T) {
	more := func(r llm.Request, texts ...string) llm.Request {
		r.Messages = append([]llm.Message(nil), r.Messages...)
		for _, text := range texts {
			r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Calls: []llm.Call{{ID: text, Name: "list_files", Arguments: text}}})
		}
		return r
	}
	for _, mode := range []Mode{Tools, JSON} {
		c, kept := New(Config{Mode: mode}), &llm.Encoding{}
		first := request()
		for i, r := range []llm.Request{first, first, more(first, "a"), more(first, "a", "b", "c"), more(first, "a"), more(first, "other"), more(first, "other", "d"), {}, first} {
			want := encoded(t, New(Config{Mode: mode}), r)
			r.Encoding = kept
			if got := encoded(t, c, r); !bytes.Equal(got, want) {
				t.Errorf("%s, request %d: got  %s\nwant %s", mode, i, got, want)
			}
		}
	}
}

// Strings read back as encoding/json reads its own.
func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain text of some length", "a\"b\\c", "\x00\x1f \x7f\n\r\t\b\f", "Grüße, 世界 🚢", "cut \xe4\xb8", "\xff\xfe", "\u2028<&>", strings.Repeat("1234567\"", 4)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		theirs, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var want, got string
		if err := json.Unmarshal(theirs, &want); err != nil {
			t.Fatal(err)
		}
		ours := appendString([]byte("x"), s)[1:]
		if err := json.Unmarshal(ours, &got); err != nil || got != want {
			t.Errorf("%q became %s, which reads %q, %v", s, ours, got, err)
		}
	})
}
