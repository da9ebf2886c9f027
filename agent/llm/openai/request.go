package openai

import (
	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// body is a request as it goes out. The messages come last, so that a longer
// conversation only appends: providers' prompt caches and proxies see a stable
// prefix. go-openai's own request has them second, and leaves out content and
// arguments that are empty, which endpoints refuse.
type body struct {
	Model               string                             `json:"model"`
	Stream              bool                               `json:"stream"`
	StreamOptions       *goai.StreamOptions                `json:"stream_options,omitempty"`
	MaxTokens           int                                `json:"max_tokens,omitempty"`
	MaxCompletionTokens int                                `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string                             `json:"reasoning_effort,omitempty"`
	ResponseFormat      *goai.ChatCompletionResponseFormat `json:"response_format,omitempty"`
	ToolChoice          string                             `json:"tool_choice,omitempty"`
	Tools               []tool                             `json:"tools,omitempty"`
	Messages            []message                          `json:"messages"`
}

type tool struct {
	Type     goai.ToolType `json:"type"`
	Function llm.Function  `json:"function"`
}

// message has null content where an assistant message carries calls alone, as
// endpoints send it, and a text everywhere else.
type message struct {
	Role    llm.Role      `json:"role"`
	Content *string       `json:"content"`
	Refusal string        `json:"refusal,omitempty"`
	CallID  string        `json:"tool_call_id,omitempty"`
	Calls   []messageCall `json:"tool_calls,omitempty"`
}

type messageCall struct {
	ID       string        `json:"id"`
	Type     goai.ToolType `json:"type"`
	Function calledWith    `json:"function"`
}

type calledWith struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// encode returns r as this endpoint takes it, as far as its quirks are known,
// and what it says.
func (c *Client) encode(r llm.Request) ([]byte, body, error) {
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
		b.ReasoningEffort, b.Tools = effort(r.Model), tools(r.Functions)
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
	b.Messages = messages(r.Messages)
	data, err := format.JSON(b)
	return data, b, err
}

func tools(functions []llm.Function) []tool {
	list := make([]tool, len(functions))
	for i, f := range functions {
		f.Parameters = parameters(f)
		list[i] = tool{goai.ToolTypeFunction, f}
	}
	return list
}

func messages(conversation []llm.Message) []message {
	list := make([]message, len(conversation))
	for i := range conversation {
		m := &conversation[i]
		list[i] = message{Role: m.Role, Refusal: m.Refusal, CallID: m.CallID}
		if m.Content != "" || len(m.Calls) == 0 {
			list[i].Content = &m.Content
		}
		for _, c := range m.Calls {
			list[i].Calls = append(list[i].Calls, messageCall{c.ID, goai.ToolTypeFunction, calledWith{c.Name, c.Arguments}})
		}
	}
	return list
}
