package mcp

// This file is one tool of a server and one call of it: sent at most once where
// nobody says that it may be repeated, and told truly what became of it.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/deckhand-bot/deckhand/agent"
)

// tool is one tool of a server.
type tool struct {
	server *Server
	spec   agent.ToolSpec
	// call asks the server.
	call func(ctx context.Context, now *session, c agent.Call) (answer, error)
}

// answer is what a server answered, before it is made safe.
type answer struct {
	content    []mcp.Content
	resources  []*mcp.ResourceContents
	structured any
	failed     bool
	text       string
}

// intentGrace is how much longer than its timeout a call may still take effect.
const intentGrace = 5 * time.Second

// tool is a tool as the server describes it. What it says of its own harmlessness
// is not believed.
func (s *Server) tool(t *mcp.Tool) agent.Tool {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil || string(schema) == "null" {
		schema = json.RawMessage(`{"type":"object"}`)
	}
	description := t.Description
	if title := strings.TrimSpace(t.Title); title != "" && !strings.Contains(description, title) {
		description = title + ". " + description
	}
	name := t.Name
	return tool{server: s, spec: s.spec(name, description, schema), call: func(ctx context.Context, now *session, c agent.Call) (answer, error) {
		p := &mcp.CallToolParams{Name: name, Arguments: c.Arguments}
		p.SetProgressToken(token(c))
		r, err := now.CallTool(ctx, p)
		if err != nil {
			return answer{}, err
		}
		return answer{content: r.Content, structured: r.StructuredContent, failed: r.IsError}, nil
	}}
}

func (s *Server) spec(name, description string, schema json.RawMessage) agent.ToolSpec {
	return agent.ToolSpec{
		Name: name, Description: description, Parameters: schema,
		Class: agent.ClassSend, Repeat: agent.RepeatOnce,
		Timeout: s.c.Timeout, Deadline: s.c.Timeout + intentGrace,
	}
}

// Spec describes the tool.
func (t tool) Spec() agent.ToolSpec { return t.spec }

// Run makes the call. A call that surely did not reach the server, or that may be
// repeated, is made once more after the server was started anew.
func (t tool) Run(ctx context.Context, c agent.Call) agent.Result {
	for again := false; ; again = true {
		now, err := t.server.connected(ctx)
		if err != nil {
			return agent.Failed(fmt.Sprintf("%s: %v. Nothing was sent", t.spec.Name, err))
		}
		r, fate, err := t.once(ctx, now, c)
		switch {
		case fate == answered:
			return r
		case !again && ctx.Err() == nil && (fate == unsent || repeatable(c)):
			continue
		}
		return t.lost(fate, c, err)
	}
}

// fate is what is known of a call without an answer.
type fate int

const (
	answered fate = iota
	unsent        // it did not reach the server
	refused       // the server did not carry it out
	unknown       // it may have been carried out
)

// repeatable reports whether a call may be made twice.
func repeatable(c agent.Call) bool {
	return c.Repeat == agent.RepeatRead || c.Repeat == agent.RepeatIdempotent
}

// once makes the call on a connection.
func (t tool) once(ctx context.Context, now *session, c agent.Call) (agent.Result, fate, error) {
	bound, way := exchanged(ctx)
	defer way.lost(nil)
	defer now.calls.begin(c)()
	drain(now.asked)
	before := now.written()
	a, err := t.call(bound, now, c)
	if err == nil {
		return t.server.result(a, t.spec.Name, c, drain(now.asked)), answered, nil
	}
	if cause := context.Cause(bound); cause != nil {
		err = cause
	}
	var said *jsonrpc.Error
	var dial *net.OpError
	switch {
	case errors.As(err, &dial) && dial.Op == "dial":
		t.server.giveUp(now, err)
		return agent.Result{}, unsent, err
	case errors.Is(err, mcp.ErrSessionMissing): // the server forgot the session, and looked at nothing
		t.server.giveUp(now, err)
		return agent.Result{}, unsent, err
	case errors.As(err, &said):
		return agent.Result{}, refused, errors.New(said.Message)
	case errors.Is(err, mcp.ErrConnectionClosed):
		t.server.ended(now)
		if !way.sent.Load() && now.written() == before {
			return agent.Result{}, unsent, err
		}
	case errors.Is(err, errBroken):
		t.server.giveUp(now, err)
	case ctx.Err() != nil:
		go t.server.alive(context.WithoutCancel(ctx), now)
	}
	return agent.Result{}, unknown, err
}

// alive gives a server up that does not even answer a ping.
func (s *Server) alive(ctx context.Context, now *session) {
	ctx, cancel := context.WithTimeout(ctx, pingWait)
	defer cancel()
	err := now.Ping(ctx, nil)
	var said *jsonrpc.Error
	if err != nil && !errors.As(err, &said) { // an error is an answer, too
		s.giveUp(now, errors.New("it does not answer"))
	}
}

// drain takes the questions of a server that nobody was asked.
func drain(asked chan string) []string {
	var list []string
	for {
		select {
		case q := <-asked:
			list = append(list, q)
		default:
			return list
		}
	}
}

// lost is the result of a call without an answer.
func (t tool) lost(f fate, c agent.Call, err error) agent.Result {
	why := t.server.hidden.hide(err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		why = fmt.Sprintf("there was no answer within %s", t.spec.Timeout)
	}
	name := t.spec.Name
	switch {
	case f == unsent:
		return agent.Failed(fmt.Sprintf("%s: the server %s cannot be reached, nothing was done: %s", name, t.server.c.Name, why))
	case f == refused:
		r := agent.Failed(fmt.Sprintf("%s was refused by the server %s: %s. Change the call accordingly", name, t.server.c.Name, why))
		r.Trust = agent.Untrusted
		return r
	case repeatable(c):
		return agent.Failed(fmt.Sprintf("%s: %s. It only reads, or may be repeated: try again, or use another way", name, why))
	}
	return agent.Result{State: agent.OutcomeUnknown, Trust: agent.Trusted,
		Text: fmt.Sprintf("error: %s: %s. Whether the server carried it out is not known", name, why)}
}
