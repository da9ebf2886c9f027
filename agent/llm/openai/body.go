package openai

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	goai "github.com/sashabaranov/go-openai"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// shape holds what a body says besides the conversation.
type shape struct {
	stream, usage    bool
	maxTokens        bool
	choice           string // tool_choice; empty: the endpoint's default
	completionTokens bool   // max_completion_tokens instead of max_tokens
	effort           string // reasoning_effort
	jsonObject       bool   // response_format json_object
}

// body appends r, encoded for this endpoint as far as its quirks are known, to b.
func (c *Client) body(b []byte, r llm.Request) ([]byte, shape) {
	s := shape{
		stream:           c.cfg.Stream,
		maxTokens:        r.MaxTokens > 0,
		usage:            c.cfg.Stream && !c.quirks.noStreamOptions.Load(),
		completionTokens: reasoning(r.Model) && !c.quirks.plainTokens.Load() || c.quirks.completionTokens.Load(),
	}
	if c.cfg.Mode == JSON {
		s.jsonObject = len(r.Functions) > 0 && !c.quirks.noFormat.Load()
		return encode(b, transcript(r), s), s
	}
	if len(r.Functions) > 0 {
		s.effort = effort(r.Model)
		if r.Required {
			s.choice = "required"
			if c.quirks.noRequired.Load() {
				s.choice = "auto"
			}
		}
	}
	return encode(b, r, s), s
}

// reasoning reports whether OpenAI's model of that name takes only
// max_completion_tokens. Other endpoints often know only max_tokens.
func reasoning(model string) bool {
	for _, p := range [...]string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, p) {
			return true
		}
	}
	return false
}

// effort is "none" for the models that offer functions over Chat Completions
// only without reasoning (go-openai's ReasoningValidator), else empty.
func effort(model string) string {
	if model == goai.GPT6Sol || model == goai.GPT6Luna {
		return goai.ReasoningEffortNone
	}
	return ""
}

// validate asks go-openai whether the model can be used this way at all.
func validate(r llm.Request, m Mode) error {
	if !strings.HasPrefix(r.Model, "gpt-6") || m == JSON || len(r.Functions) == 0 {
		return nil
	}
	return goai.NewReasoningValidator().Validate(goai.ChatCompletionRequest{
		Model: r.Model, ToolChoice: "auto", ReasoningEffort: effort(r.Model),
	})
}

// encode writes the body in one pass. Fields keep one order and the messages
// come last, so that a longer conversation only appends: providers' prompt
// caches and proxies see a stable prefix.
func encode(b []byte, r llm.Request, s shape) []byte {
	b = slices.Grow(b, size(r))
	b = append(b, `{"model":`...)
	b = appendString(b, r.Model)
	b = append(b, `,"stream":`...)
	b = strconv.AppendBool(b, s.stream)
	if s.usage {
		b = append(b, `,"stream_options":{"include_usage":true}`...)
	}
	if s.maxTokens {
		field := `,"max_tokens":`
		if s.completionTokens {
			field = `,"max_completion_tokens":`
		}
		b = strconv.AppendInt(append(b, field...), int64(r.MaxTokens), 10)
	}
	if s.effort != "" {
		b = append(append(append(b, `,"reasoning_effort":"`...), s.effort...), '"')
	}
	if s.jsonObject {
		b = append(b, `,"response_format":{"type":"json_object"}`...)
	}
	if s.choice != "" {
		b = append(append(append(b, `,"tool_choice":"`...), s.choice...), '"')
	}
	b = appendFunctions(b, r.Functions)
	b = append(b, `,"messages":[`...)
	for i := range r.Messages {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendMessage(b, &r.Messages[i])
	}
	return append(b, "]}"...)
}

// size is a guess that spares the buffer from growing: texts with an eighth
// for escapes.
func size(r llm.Request) int {
	n := 256
	for i := range r.Messages {
		n += messageBytes(r.Messages[i]) + 64 + 96*len(r.Messages[i].Calls)
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		n += len(f.Name) + len(f.Description) + len(f.Parameters) + 96
	}
	return n + n/8
}

func appendFunctions(b []byte, functions []llm.Function) []byte {
	if len(functions) == 0 {
		return b
	}
	b = append(b, `,"tools":[`...)
	for i := range functions {
		f := &functions[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = appendString(b, f.Name)
		b = append(b, `,"description":`...)
		b = appendString(b, f.Description)
		b = append(b, `,"parameters":`...)
		b = append(appendParameters(b, f), "}}"...)
	}
	return append(b, ']')
}

// appendParameters writes f's schema; a function without one takes no
// arguments.
func appendParameters(b []byte, f *llm.Function) []byte {
	if len(f.Parameters) == 0 {
		return append(b, `{"type":"object","properties":{}}`...)
	}
	return append(b, f.Parameters...)
}

// appendMessage writes one message. Empty content is null on an assistant
// message that carries calls, as endpoints send it, and "" everywhere else.
func appendMessage(b []byte, m *llm.Message) []byte {
	b = append(append(append(b, `{"role":"`...), m.Role...), `","content":`...)
	if m.Content == "" && len(m.Calls) > 0 {
		b = append(b, "null"...)
	} else {
		b = appendString(b, m.Content)
	}
	if m.Refusal != "" {
		b = appendString(append(b, `,"refusal":`...), m.Refusal)
	}
	if m.CallID != "" {
		b = appendString(append(b, `,"tool_call_id":`...), m.CallID)
	}
	if len(m.Calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i := range m.Calls {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(append(b, `{"id":`...), m.Calls[i].ID)
			b = appendString(append(b, `,"type":"function","function":{"name":`...), m.Calls[i].Name)
			b = appendString(append(b, `,"arguments":`...), m.Calls[i].Arguments)
			b = append(b, "}}"...)
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

const hex = "0123456789abcdef"

// safe marks the bytes that stand for themselves in a JSON string.
var safe = func() (t [256]bool) {
	for c := ' '; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// appendString writes s as a JSON string. Bytes that are not UTF-8 become
// U+FFFD, as in encoding/json.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	from := 0
	for i := 0; i < len(s); {
		if safe[s[i]] {
			i++
			continue
		}
		if c := s[i]; c < utf8.RuneSelf {
			b = append(b, s[from:i]...)
			b = appendEscape(b, c)
			i++
			from = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			b = append(append(b, s[from:i]...), `\ufffd`...)
			from = i + 1
		}
		i += n
	}
	return append(append(b, s[from:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// messageBytes is about how much of a message is text.
func messageBytes(m llm.Message) int {
	n := len(m.Content) + len(m.Refusal)
	for i := range m.Calls {
		n += len(m.Calls[i].Name) + len(m.Calls[i].Arguments)
	}
	return n
}
