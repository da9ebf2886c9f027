package openai

// The bytes of a request.

import (
	"bytes"
	"io"
	"net"
	"sync"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// body is what a request says besides its tools and messages, which follow in
// this order: a longer conversation only appends, so that providers' prompt
// caches and proxies see a stable prefix. go-openai's own request has the
// messages second, and leaves out content and arguments that are empty, which
// endpoints refuse.
type body struct {
	Model               string                             `json:"model"`
	Stream              bool                               `json:"stream"`
	StreamOptions       *goai.StreamOptions                `json:"stream_options,omitempty"`
	MaxTokens           int                                `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                                `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string                             `json:"reasoning_effort,omitempty"`
	ResponseFormat      *goai.ChatCompletionResponseFormat `json:"response_format,omitempty"`
	ToolChoice          string                             `json:"tool_choice,omitempty"`
}

type tool struct {
	Type     goai.ToolType `json:"type"`
	Function llm.Function  `json:"function"`
}

// payload is a request's bytes in several pieces, so that a long conversation
// is not copied for every call.
type payload net.Buffers

func (p payload) length() (n int64) {
	for _, piece := range p {
		n += int64(len(piece))
	}
	return n
}

// reader reads the payload from its beginning; there may be several.
func (p payload) reader() io.ReadCloser {
	rest := append(net.Buffers(nil), p...)
	return io.NopCloser(&rest)
}

// encode returns r as this endpoint takes it, as far as its quirks are known,
// and what it says.
func (c *Client) encode(r llm.Request) (payload, body, error) {
	b := body{Model: r.Model, Stream: c.cfg.Stream}
	if b.Stream && !c.quirks.noStreamOptions.Load() {
		b.StreamOptions = &goai.StreamOptions{IncludeUsage: true}
	}
	if reasoning(r.Model) && !c.quirks.plainTokens.Load() || c.quirks.completionTokens.Load() {
		b.MaxCompletionTokens = r.MaxTokens
	} else {
		b.MaxTokens = r.MaxTokens
	}
	switch {
	case len(r.Functions) == 0:
	case c.cfg.Mode == JSON:
		if !c.quirks.noFormat.Load() {
			b.ResponseFormat = &goai.ChatCompletionResponseFormat{Type: goai.ChatCompletionResponseFormatTypeJSONObject}
		}
	default:
		b.ReasoningEffort = effort(r.Model)
		if r.Required {
			b.ToolChoice = "required"
			if c.quirks.noRequired.Load() {
				b.ToolChoice = "auto"
			}
		}
	}
	if c.cfg.Mode == JSON {
		r = transcript(r)
	}
	head, err := format.JSON(b)
	if err != nil {
		return nil, b, err
	}
	tools, err := c.tools.encode(r.Functions)
	if err != nil {
		return nil, b, err
	}
	return payload{bytes.TrimSuffix(head, []byte("}")), tools, []byte(`,"messages":[`), conversation(r), []byte("]}")}, b, nil
}

// toolCache keeps the functions of the last requests as JSON: many
// conversations offer the same list, and the same list is the same slice.
type toolCache struct {
	mu   sync.Mutex
	kept map[*llm.Function]encodedTools
}

type encodedTools struct {
	n    int // functions
	text []byte
}

// maxToolLists is how many lists are kept.
const maxToolLists = 64

// encode returns the field that offers the functions, empty where there are none.
func (t *toolCache) encode(functions []llm.Function) ([]byte, error) {
	if len(functions) == 0 {
		return nil, nil
	}
	t.mu.Lock()
	known, is := t.kept[&functions[0]]
	t.mu.Unlock()
	if is && known.n == len(functions) {
		return known.text, nil
	}
	list := make([]tool, len(functions))
	for i, f := range functions {
		f.Parameters = parameters(f)
		list[i] = tool{goai.ToolTypeFunction, f}
	}
	text, err := format.JSON(list)
	if err != nil {
		return nil, err
	}
	text = append([]byte(`,"tools":`), text...)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil || len(t.kept) >= maxToolLists {
		t.kept = map[*llm.Function]encodedTools{}
	}
	t.kept[&functions[0]] = encodedTools{len(functions), text}
	return text, nil
}
