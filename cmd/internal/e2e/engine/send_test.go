package engine

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

const (
	// patience is how long a tool waits for an answer of the receiver.
	patience = 300 * time.Millisecond
	// travel is how long a request may be on its way after it was sent: nothing
	// is sent that could arrive after the call's deadline.
	travel = 700 * time.Millisecond
)

// sendTool is a tool whose effect is a request to the receiver.
type sendTool struct {
	spec     agent.ToolSpec
	receiver string // host:port
	sent     func(agent.Call)
}

func newSendTool(name string, class agent.Class, repeat agent.Repeat, o orders, e *effects) sendTool {
	return sendTool{receiver: o.Receiver, spec: agent.ToolSpec{
		Name: name, Description: "Sends a text to the receiver.", Class: class, Repeat: repeat, Deadline: o.Deadline,
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}, sent: func(c agent.Call) {
		if e.armed.Load() {
			e.killer.Die(death(c))
		}
	}}
}

// Spec describes the tool.
func (w sendTool) Spec() agent.ToolSpec { return w.spec }

// errUnsent says that nothing has left this process.
var errUnsent = errors.New("nothing was sent")

// Run sends. What was sent and not confirmed may have happened.
func (w sendTool) Run(ctx context.Context, c agent.Call) agent.Result {
	err := w.send(ctx, c)
	switch {
	case err == nil:
		return agent.Result{State: agent.OutcomeOK, Text: "sent", Trust: agent.Trusted}
	case errors.Is(err, errUnsent):
		return agent.Failed(err.Error())
	}
	return agent.Result{State: agent.OutcomeUnknown, Text: "error: " + err.Error(), Trust: agent.Trusted}
}

func (w sendTool) send(ctx context.Context, c agent.Call) error {
	var args struct{ Text string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	body, err := json.Marshal(parcel{Run: c.Run, Effect: c.Effect, Text: args.Text})
	if err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", w.receiver)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return fmt.Errorf("%w: %w", errUnsent, err)
	}
	request := fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", w.receiver, len(body), body)
	// The last moment: a process that was frozen wakes up before this line.
	if by, bound := ctx.Deadline(); !bound || time.Until(by) < travel {
		return fmt.Errorf("%w: too late to arrive before the deadline", errUnsent)
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	w.sent(c)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusNoContent {
		return errors.New("the receiver says " + answer.Status)
	}
	return nil
}

// Probe asks the receiver.
func (w sendTool) Probe(ctx context.Context, c agent.Call) (bool, agent.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	p := parcel{Run: c.Run, Effect: c.Effect}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.receiver+"/?key="+url.QueryEscape(p.key()), nil)
	if err != nil {
		return false, agent.Result{}, err
	}
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, agent.Result{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return false, agent.Result{}, fmt.Errorf("the receiver says %s: %w", resp.Status, err)
	}
	return b.String() == "seen", agent.Result{State: agent.OutcomeOK, Text: "sent", Trust: agent.Trusted}, nil
}
