package socket

// This file runs a single WebSocket from dialling to closing. Envelopes are
// acknowledged only after their taker reports success, so that Slack sends
// the others again.

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/deckhand-bot/deckhand/agent/guard"
)

const (
	maxFrame  = 4 << 20
	ackWithin = 5 * time.Second
	settled   = 10 * time.Second // a connection that lived so long was a good one
)

var errNoHello = errors.New("the connection was not greeted")

// connection is one connection of Socket Mode.
type connection struct {
	conn    *websocket.Conn
	write   sync.Mutex
	hello   chan struct{} // closed when it is greeted
	leaving chan struct{} // closed when it is told to go
	ended   chan struct{} // closed when it is over
	err     error         // why; set before ended
	greet   func()
	leave   func()
}

// connect opens a connection and waits for its greeting. It is read from then
// on until it breaks or ctx ends.
func (c *Config) connect(ctx context.Context, live *sync.WaitGroup) (*connection, error) {
	l, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	live.Go(func() {
		stop := context.AfterFunc(ctx, func() { _ = l.conn.Close() }) // ends the reading
		defer stop()
		l.err = guard.Do(c.Log, "a connection", func() error { return c.read(l) })
		_ = l.conn.Close() // it is broken already
		close(l.ended)
		select {
		case <-l.hello:
			c.Links.Unlinked(l.err)
		default:
		}
	})
	t := time.NewTimer(c.Times.Hello)
	defer t.Stop()
	select {
	case <-l.hello:
		return l, nil
	case <-l.ended:
		return nil, l.err
	case <-t.C:
		_ = l.conn.Close()
		<-l.ended
		return nil, errNoHello
	}
}

func (c *Config) dial(ctx context.Context) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Times.Hello)
	defer cancel()
	url, err := c.Open(ctx)
	if err != nil {
		return nil, err
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: c.Times.Hello}
	conn, resp, err := dialer.DialContext(ctx, url, nil)
	if resp != nil {
		_ = resp.Body.Close() // gorilla has read what there is
	}
	if err != nil {
		return nil, errors.New("open the connection that Slack named: " + unticketed(err))
	}
	l := &connection{conn: conn, hello: make(chan struct{}), leaving: make(chan struct{}), ended: make(chan struct{})}
	l.greet = sync.OnceFunc(func() { c.Links.Linked(); close(l.hello) })
	l.leave = sync.OnceFunc(func() { close(l.leaving) })
	return l, nil
}

// unticketed is an error without the address that it names: there is a secret in it.
func unticketed(err error) string {
	if errors.Is(err, websocket.ErrBadHandshake) {
		return "the far end refused it"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "no answer in time"
	}
	return "the far end could not be reached"
}

// read takes frames until the connection breaks or falls silent.
func (c *Config) read(l *connection) error {
	l.conn.SetReadLimit(maxFrame)
	alive := func() error { return l.conn.SetReadDeadline(time.Now().Add(c.Times.Silence)) }
	l.conn.SetPingHandler(func(data string) error {
		if err := alive(); err != nil {
			return err
		}
		_ = l.conn.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(ackWithin)) // the next read fails if the write did
		return nil
	})
	for {
		if err := alive(); err != nil {
			return err
		}
		_, frame, err := l.conn.ReadMessage()
		if err != nil {
			return err
		}
		c.frame(l, frame)
	}
}

// frame reads one frame. Only the envelope is looked at before it is
// acknowledged: what is in it may be of a kind that nobody knows yet.
func (c *Config) frame(l *connection, frame []byte) {
	var f struct {
		Type     string          `json:"type"`
		Reason   string          `json:"reason"`
		Envelope string          `json:"envelope_id"`
		Payload  json.RawMessage `json:"payload"`
		Retry    json.RawMessage `json:"retry_attempt"`
	}
	if err := json.Unmarshal(frame, &f); err != nil {
		c.Limited.Warn(c.Log, "a frame of Slack's cannot be read and is ignored", "why", err)
		return
	}
	switch {
	case f.Type == "hello":
		l.greet()
	case f.Type == "disconnect":
		c.Log.Info("Slack asks for a new connection", "reason", f.Reason)
		l.leave()
	case f.Envelope != "":
		again := len(f.Retry) > 0 && string(f.Retry) != "0" && string(f.Retry) != "null"
		c.Take(f.Type, f.Payload, again, func(now json.RawMessage, err error) {
			if err == nil {
				l.acknowledge(f.Envelope, now)
			}
		})
	}
}

// acknowledge answers an envelope, with what Slack is to do at once. If that
// fails, Slack sends it again.
func (l *connection) acknowledge(envelope string, now json.RawMessage) {
	l.write.Lock()
	defer l.write.Unlock()
	if l.conn.SetWriteDeadline(time.Now().Add(ackWithin)) == nil {
		_ = l.conn.WriteJSON(struct {
			Envelope string          `json:"envelope_id"`
			Payload  json.RawMessage `json:"payload,omitempty"`
		}{envelope, now})
	}
}

// retire closes the connection after a while, if Slack does not: until then it
// may bring events, and acknowledgements are on their way.
func (l *connection) retire(after time.Duration) {
	time.AfterFunc(after, func() { _ = l.conn.Close() })
}
