package openai

import "github.com/deckhand-bot/deckhand/agent/llm"

// The framing that chat templates put around a message and a function, in
// bytes: about four tokens each.
const (
	messageFrame  = 16
	functionFrame = 16
)

// Count estimates the prompt tokens of r: the bytes of all message texts,
// calls and function descriptions plus 16 bytes of framing for each message
// and function, divided by four and rounded up. English text and code come
// within about 20 % of a byte-pair tokenizer; other scripts are counted too
// high. It is used where an endpoint reports no usage.
func Count(r llm.Request) int {
	n := 0
	for i := range r.Messages {
		n += messageBytes(r.Messages[i]) + messageFrame
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		n += len(f.Name) + len(f.Description) + len(f.Parameters) + functionFrame
	}
	return tokens(n)
}

func tokens(bytes int) int { return (bytes + 3) / 4 }

func messageBytes(m llm.Message) int {
	n := len(m.Content) + len(m.Refusal)
	for i := range m.Calls {
		n += len(m.Calls[i].Name) + len(m.Calls[i].Arguments)
	}
	return n
}
