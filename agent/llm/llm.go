package llm

// The types of a request and of an answer, and the contract Model.

import (
	"context"
	"encoding/json"
	"slices"
)

// Purpose says what a model is asked for. It travels in the header
// X-Deckhand-Purpose, in events and in the price report.
type Purpose string

// The purposes of a request.
const (
	Intake     Purpose = "intake"
	Plan       Purpose = "plan"
	Work       Purpose = "work"
	CheckIn    Purpose = "check-in"
	Judge      Purpose = "judge"
	Check      Purpose = "check" // no model is asked: a program looks at a result
	Report     Purpose = "report"
	Insight    Purpose = "insight"
	Importance Purpose = "importance"
	Compact    Purpose = "compact"
	Hear       Purpose = "hear"
)

// Role is the author of a message as the Chat Completions protocol names it.
type Role string

// The roles of the Chat Completions protocol.
const (
	System    Role = "system"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Call is a function call that the model asked for. Arguments is the text
// exactly as received: it goes back to the model unchanged.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Message is one turn of a conversation. Calls is set on assistant messages,
// CallID on tool messages.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content,omitempty"`
	Calls   []Call `json:"calls,omitempty"`
	CallID  string `json:"call_id,omitempty"`
	// Refusal is the model's own words when it declined to answer.
	Refusal string `json:"refusal,omitempty"`
}

// Function describes a function that the model may call. Parameters is a JSON
// Schema object.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// Request is one question to a model. Run, Strand and Task name the work that
// it belongs to and are sent as headers, never in the prompt.
type Request struct {
	Purpose           Purpose
	Run, Strand, Task string
	Model             string
	Messages          []Message
	// Functions are offered to the model. The list does not change once it was
	// sent: a client may know it again by its place in memory.
	Functions []Function
	// Required asks for tool_choice "required": one function must be called.
	Required bool
	// MaxTokens bounds the answer, in tokens; 0 leaves it to the endpoint.
	MaxTokens int
	// Watch, where set, begins to watch an answer's text as it arrives. What it
	// returns is called with each piece; true cuts the answer there. A client
	// that gets answers whole, or repeats a request, may call it any number of
	// times or never.
	Watch func() (write func(piece string) (cut bool)) `json:"-"`
	// Encoding, where set, is kept by the caller between the requests of one
	// conversation, one at a time; the client keeps in it what it encoded.
	Encoding *Encoding `json:"-"`
}

// Encoding is the beginning of a conversation as a client sent it, so that the
// next request encodes what is new only. The zero Encoding has nothing yet. It
// belongs to one client; Text is only ever appended to.
type Encoding struct {
	Messages int     // how many of them are in Text
	Last     Message // the newest of those
	Text     []byte
}

// Begins reports whether the conversation begins with what is encoded.
func (e *Encoding) Begins(messages []Message) bool {
	if e.Messages == 0 || e.Messages > len(messages) {
		return e.Messages == 0
	}
	m := &messages[e.Messages-1]
	return m.Role == e.Last.Role && m.Content == e.Last.Content && m.CallID == e.Last.CallID &&
		m.Refusal == e.Last.Refusal && slices.Equal(m.Calls, e.Last.Calls)
}

// Usage counts tokens. Cached is the part of Prompt that was served from the
// provider's prompt cache.
type Usage struct {
	Prompt, Completion, Cached int
}

// Quota is what an endpoint says about its limits beside an answer or a refusal.
// Requests and Tokens are what it takes in a minute, 0: it does not say.
type Quota struct {
	Requests, Tokens int
	// OutOfTokens says that it was the tokens that were used up.
	OutOfTokens bool
}

// Response is a model's answer. Estimated is true where the endpoint reported
// no usage and the client counted instead.
type Response struct {
	Message   Message
	Model     string
	Usage     Usage
	Estimated bool
	// Finish is the endpoint's finish_reason, for example "stop", "length",
	// "tool_calls" or "content_filter".
	Finish string
	Quota  Quota
}

// Model answers requests. Complete returns an *Error where the endpoint
// refused or could not be reached, and the context's error where that ended.
// It may be called from many goroutines.
type Model interface {
	Complete(ctx context.Context, r Request) (Response, error)
}
