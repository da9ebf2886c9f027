package llmtest

// Requests, read as strictly as a real endpoint reads them.

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// maxBody bounds a request, in bytes.
const maxBody = 64 << 20

type wireRequest struct {
	Model         string        `json:"model"`
	Messages      []wireMessage `json:"messages"`
	Tools         []wireTool    `json:"tools"`
	ToolChoice    string        `json:"tool_choice"`
	Stream        bool          `json:"stream"`
	StreamOptions *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
}

type wireMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Refusal string          `json:"refusal"`
	Calls   []wireCall      `json:"tool_calls"`
	CallID  string          `json:"tool_call_id"`
}

type wireTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Parameters  json.RawMessage `json:"parameters"`
	} `json:"function"`
}

type wireCall struct {
	Index    *int         `json:"index,omitempty"`
	ID       string       `json:"id,omitempty"`
	Type     string       `json:"type,omitempty"`
	Function wireFunction `json:"function"`
}

type wireFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}

// read parses and checks a request as a real endpoint does.
func read(r *http.Request) (Request, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody))
	if err != nil {
		return Request{}, err
	}
	var w wireRequest
	if err := json.Unmarshal(body, &w); err != nil {
		return Request{}, fmt.Errorf("we could not parse the JSON body of your request: %w", err)
	}
	h := r.Header
	req := Request{
		Header: h, Body: body,
		Purpose: llm.Purpose(h.Get("X-Deckhand-Purpose")), Run: h.Get("X-Deckhand-Run"),
		Strand: h.Get("X-Deckhand-Strand"), Task: h.Get("X-Deckhand-Task"),
		Model: w.Model, ToolChoice: w.ToolChoice, Stream: w.Stream,
		StreamUsage: w.StreamOptions != nil && w.StreamOptions.IncludeUsage,
		MaxTokens:   max(w.MaxTokens, w.MaxCompletionTokens),
	}
	if err := w.check(); err != nil {
		return req, err
	}
	for i := range w.Messages {
		m, err := w.Messages[i].message()
		if err != nil {
			return req, fmt.Errorf("messages[%d]: %w", i, err)
		}
		if m.Role == llm.Assistant {
			req.Turn++
		}
		req.Messages = append(req.Messages, m)
	}
	for _, t := range w.Tools {
		req.Functions = append(req.Functions, llm.Function{
			Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters,
		})
	}
	return req, answered(req.Messages)
}

// check refuses what is wrong around the messages.
func (w wireRequest) check() error {
	switch {
	case w.Model == "":
		return errors.New("you must provide a model parameter")
	case len(w.Messages) == 0:
		return errors.New("[] is too short - 'messages'")
	case w.ToolChoice != "" && len(w.Tools) == 0:
		return errors.New("'tool_choice' is only allowed when 'tools' are specified")
	case w.StreamOptions != nil && !w.Stream:
		return errors.New("the 'stream_options' parameter is only allowed when 'stream' is enabled")
	}
	seen := map[string]bool{}
	for i, t := range w.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if t.Type != "function" || t.Function.Name == "" {
			return fmt.Errorf("tools[%d]: neither a type 'function' nor a name", i)
		}
		if json.Unmarshal(t.Function.Parameters, &schema) != nil || schema.Type != "object" {
			return fmt.Errorf("invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'", t.Function.Name)
		}
		if seen[t.Function.Name] {
			return fmt.Errorf("tools[%d]: function '%s' is there twice", i, t.Function.Name)
		}
		seen[t.Function.Name] = true
	}
	return nil
}

func (w wireMessage) message() (llm.Message, error) {
	m := llm.Message{Role: llm.Role(w.Role), Refusal: w.Refusal, CallID: w.CallID}
	switch m.Role {
	case llm.System, llm.User, llm.Assistant, llm.Tool:
	default:
		return m, fmt.Errorf("invalid role %q", w.Role)
	}
	empty := len(w.Content) == 0 || string(w.Content) == "null"
	if empty && (m.Role != llm.Assistant || len(w.Calls) == 0 && w.Refusal == "") {
		return m, errors.New("missing required parameter: 'content'")
	}
	if !empty && json.Unmarshal(w.Content, &m.Content) != nil {
		return m, errors.New("'content' is not a string")
	}
	for _, c := range w.Calls {
		if c.ID == "" || c.Type != "function" || c.Function.Name == "" {
			return m, errors.New("a tool call without id, type or name")
		}
		m.Calls = append(m.Calls, llm.Call{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return m, nil
}

// answered holds conversations to the protocol's rule: right after an
// assistant message each of its calls has one tool message, and there are no
// others.
func answered(messages []llm.Message) error {
	open := map[string]bool{}
	for i, m := range messages {
		if m.Role == llm.Tool {
			if !open[m.CallID] {
				return fmt.Errorf("messages[%d]: messages with role 'tool' must be a response to a preceding message with 'tool_calls'", i)
			}
			delete(open, m.CallID)
			continue
		}
		if len(open) > 0 {
			return unanswered(open)
		}
		for _, c := range m.Calls {
			open[c.ID] = true
		}
	}
	if len(open) > 0 {
		return unanswered(open)
	}
	return nil
}

func unanswered(open map[string]bool) error {
	for id := range open {
		return fmt.Errorf("an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': %s has none", id)
	}
	return nil
}
