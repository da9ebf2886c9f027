package llmtest

// Answers, plain and streamed.

import (
	"net/http"
	"unicode/utf8"

	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// created is the answers' time: a fixed one, so that answers are reproducible.
const created = 1700000000

// defaultChunk is how many bytes an event carries.
const defaultChunk = 64

type wireAnswer struct {
	ID      string       `json:"id"`
	Object  string       `json:"object"`
	Created int64        `json:"created"`
	Model   string       `json:"model"`
	Choices []wireChoice `json:"choices"`
	Usage   *wireUsage   `json:"usage,omitempty"`
}

type wireChoice struct {
	Index   int       `json:"index"`
	Message *wireSaid `json:"message,omitempty"`
	Delta   *wireSaid `json:"delta,omitempty"`
	Finish  *string   `json:"finish_reason"`
}

type wireSaid struct {
	Role    string     `json:"role,omitempty"`
	Content *string    `json:"content,omitempty"`
	Refusal *string    `json:"refusal,omitempty"`
	Calls   []wireCall `json:"tool_calls,omitempty"`
}

type wireUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

func usage(u llm.Usage) *wireUsage {
	w := &wireUsage{Prompt: u.Prompt, Completion: u.Completion, Total: u.Prompt + u.Completion}
	w.Details.Cached = u.Cached
	return w
}

func plain(w http.ResponseWriter, req Request, r Reply) {
	said := &wireSaid{Role: "assistant"}
	if r.Text != "" || len(r.Calls) == 0 {
		said.Content = &r.Text
	}
	if r.Refusal != "" {
		said.Refusal, said.Content = &r.Refusal, nil
	}
	for _, c := range r.Calls {
		said.Calls = append(said.Calls, wireCall{ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name, Arguments: c.Arguments}})
	}
	a := wireAnswer{
		ID: "chatcmpl-test", Object: "chat.completion", Created: created, Model: req.Model,
		Choices: []wireChoice{{Message: said, Finish: &r.Finish}},
	}
	if !r.NoUsage {
		a.Usage = usage(r.Usage)
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(encode(a)) // a client that went away needs no answer
}

// events sends server-sent events.
type events struct {
	w     http.ResponseWriter
	r     *http.Request
	model string
	reply Reply
	gone  bool
}

func streamed(w http.ResponseWriter, r *http.Request, req Request, reply Reply) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	e := &events{w: w, r: r, model: req.Model, reply: reply}
	empty := ""
	e.said(&wireSaid{Role: "assistant", Content: &empty}, nil)
	e.pieces(reply.Text, func(s string) *wireSaid { return &wireSaid{Content: &s} })
	e.pieces(reply.Refusal, func(s string) *wireSaid { return &wireSaid{Refusal: &s} })
	for i, c := range reply.Calls {
		e.said(&wireSaid{Calls: []wireCall{{Index: &i, ID: c.ID, Type: "function", Function: wireFunction{Name: c.Name}}}}, nil)
		e.pieces(c.Arguments, func(s string) *wireSaid {
			return &wireSaid{Calls: []wireCall{{Index: &i, Function: wireFunction{Arguments: s}}}}
		})
	}
	e.said(&wireSaid{}, &reply.Finish)
	if req.StreamUsage && !reply.NoUsage {
		e.send(wireAnswer{Choices: []wireChoice{}, Usage: usage(reply.Usage)})
	}
	e.line("[DONE]")
}

// pieces sends text in chunks that never split a character.
func (e *events) pieces(text string, said func(string) *wireSaid) {
	size := e.reply.Chunk
	if size <= 0 {
		size = defaultChunk
	}
	for text != "" {
		n := min(size, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		e.said(said(text[:n]), nil)
		text = text[n:]
	}
}

func (e *events) said(s *wireSaid, finish *string) {
	e.send(wireAnswer{Choices: []wireChoice{{Delta: s, Finish: finish}}})
}

func (e *events) send(a wireAnswer) {
	a.ID, a.Object, a.Created, a.Model = "chatcmpl-test", "chat.completion.chunk", created, e.model
	e.line(string(encode(a)))
	e.gone = e.gone || !wait.Sleep(e.r.Context(), e.reply.Gap)
}

func (e *events) line(data string) {
	if e.gone {
		return
	}
	if _, err := e.w.Write([]byte("data: " + data + "\n\n")); err != nil {
		e.gone = true
		return
	}
	if f, ok := e.w.(http.Flusher); ok && (e.reply.Gap > 0 || e.reply.CutAfter > 0) {
		f.Flush()
	}
}
