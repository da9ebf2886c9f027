package llm

// Tokens, estimated where an endpoint reports none.

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
// high. It serves to reserve a call's price before it is made, and where an
// endpoint reports no usage.
func Count(r Request) int {
	n := 0
	for i := range r.Messages {
		n += r.Messages[i].size() + messageFrame
	}
	for i := range r.Functions {
		f := &r.Functions[i]
		n += len(f.Name) + len(f.Description) + len(f.Parameters) + functionFrame
	}
	return tokens(n)
}

// CountAnswer estimates the tokens of an answer: the bytes of its text, its
// refusal and its calls, divided by four and rounded up.
func CountAnswer(m Message) int { return tokens(m.size()) }

func tokens(bytes int) int { return (bytes + 3) / 4 }

func (m *Message) size() int {
	n := len(m.Content) + len(m.Refusal)
	for i := range m.Calls {
		n += len(m.Calls[i].Name) + len(m.Calls[i].Arguments)
	}
	return n
}
