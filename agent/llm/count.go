package llm

// bytesPerToken is the usual rate of English text and JSON in byte-pair
// vocabularies; it only serves where an endpoint reports no usage, and for
// reserving a call's price before it is made.
const bytesPerToken = 4

// perMessage is what the protocol adds to each message, in tokens.
const perMessage = 4

// Count estimates the tokens of a request's prompt: a token for each four
// bytes of messages and function descriptions, rounded up, and four a message.
func Count(r Request) int {
	n := 0
	for _, m := range r.Messages {
		n += len(m.Content) + len(m.CallID) + perMessage*bytesPerToken
		for _, c := range m.Calls {
			n += len(c.ID) + len(c.Name) + len(c.Arguments)
		}
	}
	for _, f := range r.Functions {
		n += len(f.Name) + len(f.Description) + len(f.Parameters)
	}
	return tokens(n)
}

// CountAnswer estimates the tokens of an answer.
func CountAnswer(m Message) int {
	n := len(m.Content) + len(m.Refusal)
	for _, c := range m.Calls {
		n += len(c.Name) + len(c.Arguments)
	}
	return tokens(n)
}

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }
