package llmtest

// What tests write: scripts, and the replies that they give.

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Request is what a client asked, parsed.
type Request struct {
	// N counts the requests for an answer that this endpoint got, from 0.
	N int
	// Header is the request's header, with the key if one was sent.
	Header http.Header
	// Body is the request's JSON as it came.
	Body []byte

	// Purpose, Run, Strand and Task come from the X-Deckhand headers.
	Purpose           llm.Purpose
	Run, Strand, Task string

	Model     string
	Messages  []llm.Message
	Functions []llm.Function
	// ToolChoice is "auto", "required" or "none"; empty where it was not sent.
	ToolChoice string
	// MaxTokens is max_tokens or max_completion_tokens.
	MaxTokens int
	// Stream and StreamUsage are stream and stream_options.include_usage.
	Stream, StreamUsage bool
	// Turn is the number of assistant messages in Messages.
	Turn int
}

// Last returns the content of the last message, empty where there is none.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// Offers reports whether a function of that name was offered.
func (r Request) Offers(name string) bool {
	for i := range r.Functions {
		if r.Functions[i].Name == name {
			return true
		}
	}
	return false
}

// Script decides each answer. It may be called from many goroutines.
type Script func(Request) Reply

// Reply is one answer. The zero Reply is an empty message.
type Reply struct {
	Text    string
	Refusal string
	// Calls without an ID get one.
	Calls []llm.Call
	// Finish is the finish_reason. Empty: "tool_calls" with calls, else "stop".
	Finish string
	// Usage is reported as it stands. Zero: counted, bytes/4 of the request and
	// of the answer. NoUsage reports none.
	Usage   llm.Usage
	NoUsage bool

	// Status other than 0 and 200 answers with an error object of Message, Code
	// and Type, or with ErrorBody as it stands.
	Status              int
	Message, Code, Type string
	ErrorBody           string
	// Header is added to the answer's header.
	Header http.Header

	// Delay passes before the answer's first byte, Gap between two events.
	Delay, Gap time.Duration
	// Chunk is how many bytes of text or arguments one event carries. Zero: 64.
	Chunk int
	// CutAfter closes the connection after so many bytes of the body; 0 never.
	CutAfter int
	// Close closes the connection without an answer.
	Close bool

	// Raw is sent as the body of an answer with status 200 instead of all of
	// the above; ContentType goes with it (empty: application/json).
	Raw, ContentType string
}

// Say answers with text.
func Say(text string) Reply { return Reply{Text: text} }

// Call answers with one function call; arguments is JSON.
func Call(name, arguments string) Reply {
	return Reply{Calls: []llm.Call{{Name: name, Arguments: arguments}}}
}

// Calls answers with several function calls.
func Calls(calls ...llm.Call) Reply { return Reply{Calls: calls} }

// Fail answers with an error object in the protocol's own shape.
func Fail(status int, code, message string) Reply {
	return Reply{Status: status, Code: code, Message: message, Type: "invalid_request_error"}
}

// RateLimited is a 429 that asks for a pause, told in whole milliseconds by
// Retry-After-Ms and in whole seconds, rounded up, by Retry-After.
func RateLimited(after time.Duration) Reply {
	r := Reply{Status: http.StatusTooManyRequests, Code: "rate_limit_exceeded", Type: "requests", Message: "Rate limit reached"}
	r.Header = http.Header{
		"Retry-After":    {strconv.FormatInt(int64((after+time.Second-1)/time.Second), 10)},
		"Retry-After-Ms": {strconv.FormatInt(after.Milliseconds(), 10)},
	}
	return r
}

// Broken is a 500 in the protocol's shape.
func Broken() Reply {
	return Reply{Status: http.StatusInternalServerError, Type: "server_error", Message: "The server had an error"}
}

// Unavailable is a 503 from a proxy: a web page.
func Unavailable() Reply {
	return Reply{
		Status: http.StatusServiceUnavailable, ContentType: "text/html",
		ErrorBody: "<html><head><title>503 Service Temporarily Unavailable</title></head><body><h1>503</h1></body></html>",
	}
}

// Garbled answers 200 with something that is no JSON.
func Garbled() Reply { return Reply{Raw: `{"id": "chatcmpl-1", "choices": [{"mess`} }

// Closed closes the connection without an answer.
func Closed() Reply { return Reply{Close: true} }

// Cut is r with the connection closed after n bytes of its body.
func Cut(r Reply, n int) Reply {
	r.CutAfter = n
	return r
}

// Slow is r after a delay.
func Slow(r Reply, d time.Duration) Reply {
	r.Delay = d
	return r
}

// ByPurpose plays one script per purpose. A request of any other purpose is
// answered with a 400 that names it.
func ByPurpose(scripts map[llm.Purpose]func(Request) Reply) Script {
	return func(r Request) Reply {
		if s, ok := scripts[r.Purpose]; ok {
			return s(r)
		}
		return Fail(http.StatusBadRequest, "no_script", fmt.Sprintf("no script for purpose %q", r.Purpose))
	}
}

// Sequence answers the n-th request with the n-th reply, and every later one
// with the last.
func Sequence(replies ...Reply) Script {
	return func(r Request) Reply { return replies[min(r.N, len(replies)-1)] }
}
