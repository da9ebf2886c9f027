package llmtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	goai "github.com/sashabaranov/go-openai"
	"go.uber.org/goleak"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client is another party's client: what it understands is the protocol.
func client(t *testing.T, s *Server) *goai.Client {
	t.Helper()
	cfg := goai.DefaultConfig("key")
	h := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(h.CloseIdleConnections)
	cfg.BaseURL, cfg.HTTPClient = s.URL, h
	return goai.NewClientWithConfig(cfg)
}

var ask = goai.ChatCompletionRequest{
	Model:    "m",
	Messages: []goai.ChatCompletionMessage{{Role: "user", Content: "hi"}},
	Tools:    []goai.Tool{{Type: goai.ToolTypeFunction, Function: &goai.FunctionDefinition{Name: "f", Parameters: json.RawMessage(`{"type":"object"}`)}}},
}

func scripted() Reply {
	return Reply{Text: "smörgåsbord", Chunk: 3, Calls: []llm.Call{{Name: "f", Arguments: `{"a":"äöü"}`}}, Usage: llm.Usage{Prompt: 9, Completion: 4, Cached: 2}}
}

func TestPlain(t *testing.T) {
	s := Start(t, func(Request) Reply { return scripted() })
	got, err := client(t, s).CreateChatCompletion(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	m := got.Choices[0].Message
	if m.Content != "smörgåsbord" || m.ToolCalls[0].Function.Arguments != `{"a":"äöü"}` || m.ToolCalls[0].ID != "call_0_0" ||
		got.Choices[0].FinishReason != "tool_calls" || got.Usage.TotalTokens != 13 || got.Usage.PromptTokensDetails.CachedTokens != 2 {
		t.Errorf("got %+v", got)
	}
}

func TestStreamed(t *testing.T) {
	s := Start(t, func(Request) Reply { return scripted() })
	request := ask
	request.StreamOptions = &goai.StreamOptions{IncludeUsage: true}
	stream, err := client(t, s).CreateChatCompletionStream(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	var text, args strings.Builder
	var finish goai.FinishReason
	var used *goai.Usage
	pieces := 0
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if chunk.Usage != nil {
			used = chunk.Usage
		}
		for _, c := range chunk.Choices {
			pieces++
			text.WriteString(c.Delta.Content)
			finish = c.FinishReason
			for _, tc := range c.Delta.ToolCalls {
				args.WriteString(tc.Function.Arguments)
			}
		}
	}
	if text.String() != "smörgåsbord" || args.String() != `{"a":"äöü"}` || finish != "tool_calls" || used == nil || used.PromptTokens != 9 || pieces < 8 {
		t.Errorf("got %q %q %q %+v in %d pieces", text.String(), args.String(), finish, used, pieces)
	}
}

func post(t *testing.T, s *Server, path, body string) (int, string) {
	t.Helper()
	h := &http.Client{Transport: &http.Transport{}}
	defer h.CloseIdleConnections()
	resp, err := h.Post(s.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(got)
}

// TestRefuses holds what a real endpoint refuses.
func TestRefuses(t *testing.T) {
	s := Start(t, func(Request) Reply { return Say("taken") })
	const user = `{"role":"user","content":"x"}`
	const called = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}`
	for name, tt := range map[string]struct{ body, want string }{
		"no JSON":             {`{`, "could not parse"},
		"no model":            {`{"messages":[` + user + `]}`, "model"},
		"no messages":         {`{"model":"m"}`, "too short"},
		"role":                {`{"model":"m","messages":[{"role":"robot","content":"x"}]}`, "invalid role"},
		"no content":          {`{"model":"m","messages":[{"role":"user"}]}`, "content"},
		"call without result": {`{"model":"m","messages":[` + user + `,` + called + `,` + user + `]}`, "must be followed"},
		"call at the end":     {`{"model":"m","messages":[` + user + `,` + called + `]}`, "must be followed"},
		"result without call": {`{"model":"m","messages":[{"role":"tool","content":"x","tool_call_id":"a"}]}`, "must be a response"},
		"result twice":        {`{"model":"m","messages":[` + called + `,{"role":"tool","content":"x","tool_call_id":"a"},{"role":"tool","content":"x","tool_call_id":"a"}]}`, "must be a response"},
		"call without id":     {`{"model":"m","messages":[{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"f"}}]}]}`, "without id"},
		"choice without tool": {`{"model":"m","messages":[` + user + `],"tool_choice":"required"}`, "tool_choice"},
		"usage of no stream":  {`{"model":"m","messages":[` + user + `],"stream_options":{"include_usage":true}}`, "stream_options"},
		"tool without schema": {`{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f"}}]}`, "invalid schema"},
		"tool twice":          {`{"model":"m","messages":[` + user + `],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}},{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}]}`, "twice"},
	} {
		status, body := post(t, s, "/chat/completions", tt.body)
		if status != http.StatusBadRequest || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d malformed requests reached the script", n)
	}
	status, body := post(t, s, "/chat/completions", `{"model":"m","messages":[`+user+`,`+called+`,{"role":"tool","content":"","tool_call_id":"a"}]}`)
	if status != http.StatusOK || !strings.Contains(body, "taken") {
		t.Errorf("a good request: %d %s", status, body)
	}
	if status, _ := post(t, s, "/completions", "{}"); status != http.StatusNotFound {
		t.Errorf("an unknown path: %d", status)
	}
}

func TestByPurpose(t *testing.T) {
	script := ByPurpose(map[llm.Purpose]func(Request) Reply{llm.Work: func(Request) Reply { return Say("w") }})
	if got := script(Request{Purpose: llm.Work}); got.Text != "w" {
		t.Errorf("got %+v", got)
	}
	if got := script(Request{Purpose: llm.Plan}); got.Status != http.StatusBadRequest || !strings.Contains(got.Message, "plan") {
		t.Errorf("got %+v", got)
	}
}

func TestRequestHelpers(t *testing.T) {
	r := Request{Messages: []llm.Message{{Content: "a"}, {Content: "b"}}, Functions: []llm.Function{{Name: "f"}}}
	if r.Last() != "b" || (Request{}).Last() != "" || !r.Offers("f") || r.Offers("g") {
		t.Error("Last or Offers is wrong")
	}
}

func TestModels(t *testing.T) {
	s := Start(t, func(Request) Reply { return Say("") })
	list, err := client(t, s).ListModels(t.Context())
	if err != nil || len(list.Models) != 2 || list.Models[0].ID != "test-model" {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestEmbeddings(t *testing.T) {
	s := Start(t, func(Request) Reply { return Say("") })
	texts := []string{"the cat sat on the mat", "The cat, on a mat", "quarterly revenue figures", ""}
	var data []goai.Embedding
	for _, format := range []goai.EmbeddingEncodingFormat{goai.EmbeddingEncodingFormatFloat, goai.EmbeddingEncodingFormatBase64} {
		got, err := client(t, s).CreateEmbeddings(t.Context(), goai.EmbeddingRequestStrings{Input: texts, Model: "e", EncodingFormat: format})
		if err != nil || len(got.Data) != len(texts) {
			t.Fatalf("%s: got %+v, %v", format, got, err)
		}
		for i, e := range got.Data {
			if diff := cmp.Diff(Embed(texts[i]), e.Embedding); diff != "" {
				t.Errorf("%s: %s", format, diff)
			}
			if length, _ := e.DotProduct(&e); math.Abs(float64(length)-1) > 1e-5 {
				t.Errorf("%q has length %v", texts[i], length)
			}
		}
		data = got.Data
	}
	near, _ := data[0].DotProduct(&data[1])
	far, _ := data[0].DotProduct(&data[2])
	if near < 0.5 || far > near/2 {
		t.Errorf("near %v, far %v", near, far)
	}
	if status, _ := post(t, s, "/embeddings", `{"model":"e","input":{"a":1}}`); status != http.StatusBadRequest {
		t.Errorf("a wrong input: %d", status)
	}
}

func TestCut(t *testing.T) {
	s := Start(t, func(Request) Reply { return Cut(Say(strings.Repeat("word ", 100)), 300) })
	h := &http.Client{Transport: &http.Transport{}}
	defer h.CloseIdleConnections()
	resp, err := h.Post(s.URL+"/chat/completions", "application/json", bytes.NewReader([]byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if !errors.Is(err, io.ErrUnexpectedEOF) || len(got) != 300 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
