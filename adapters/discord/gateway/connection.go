package gateway

// This file handles one WebSocket connection from HELLO to its end: frames,
// heartbeats, identifying or resuming. It ends with an error that says why,
// from which the caller decides how to connect again.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// The operations of the gateway.
const (
	opDispatch  = 0
	opHeartbeat = 1
	opIdentify  = 2
	opResume    = 6
	opReconnect = 7
	opInvalid   = 9
	opHello     = 10
	opAck       = 11
)

// Bounds of the interval that Discord asks for.
const (
	shortestBeat = 20 * time.Millisecond
	longestBeat  = 5 * time.Minute
)

// connection is one connection of the gateway.
type connection struct {
	cfg     *Config
	conn    *websocket.Conn
	session *session // of the reader alone

	write    sync.Mutex
	sequence atomic.Int64
	answered atomic.Bool // the last heartbeat was
	ready    bool
	interval time.Duration
	until    time.Time // the next step is to be done, as long as it is not ready
}

// packet is a frame of the gateway.
type packet struct {
	Op       *int            `json:"op"`
	Data     json.RawMessage `json:"d"`
	Sequence *int64          `json:"s"`
	Kind     string          `json:"t"`
}

// read takes frames until the connection ends. Until it is ready it has only a
// while for each step.
func (c *connection) read(ctx context.Context, beats *sync.WaitGroup) error {
	c.step()
	for {
		until := c.until
		if c.ready {
			until = time.Now().Add(2*c.interval + c.cfg.Hello)
		}
		if err := c.conn.SetReadDeadline(until); err != nil {
			return err
		}
		_, raw, err := c.conn.ReadMessage()
		if err != nil && c.interval == 0 && !closedByFarEnd(err) {
			return errors.Join(errNoHello, err)
		}
		if err != nil {
			return err
		}
		var p packet
		if err := json.Unmarshal(raw, &p); err != nil || p.Op == nil {
			c.cfg.Limiter.Warn(c.cfg.Log, "a frame of Discord's cannot be read and is ignored", "why", errors.Join(api.ErrMalformed, err))
			continue
		}
		if err := c.packet(ctx, p, beats); err != nil {
			return err
		}
	}
}

// step gives the far end time for the next step.
func (c *connection) step() { c.until = time.Now().Add(c.cfg.Hello) }

func closedByFarEnd(err error) bool {
	_, is := errors.AsType[*websocket.CloseError](err)
	return is
}

// packet deals with one frame; an error ends the connection.
func (c *connection) packet(ctx context.Context, p packet, beats *sync.WaitGroup) error {
	switch *p.Op {
	case opHello:
		return c.greeted(ctx, p.Data, beats)
	case opHeartbeat:
		return c.beat()
	case opAck:
		c.answered.Store(true)
	case opReconnect:
		return errAsked
	case opInvalid:
		if string(p.Data) != "true" {
			*c.session = session{}
		}
		return errInvalid
	case opDispatch:
		if p.Sequence != nil && *p.Sequence > c.session.sequence {
			c.session.sequence = *p.Sequence
			c.sequence.Store(*p.Sequence)
		}
		c.step()
		c.dispatch(p)
	}
	return nil
}

// greeted answers HELLO: it identifies, or resumes, and lets the heart beat.
func (c *connection) greeted(ctx context.Context, data json.RawMessage, beats *sync.WaitGroup) error {
	if c.interval != 0 {
		return nil // one greeting is enough
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if err := json.Unmarshal(data, &hello); err != nil || hello.Interval <= 0 || hello.Interval > longestBeat.Milliseconds() {
		return fmt.Errorf("%w: no interval of heartbeats: %w", errNoHello, errors.Join(api.ErrMalformed, err))
	}
	c.interval = max(time.Duration(hello.Interval)*time.Millisecond, shortestBeat)
	c.sequence.Store(c.session.sequence)
	c.answered.Store(true)
	c.step()
	beats.Go(func() {
		_ = guard.Keep(ctx, c.cfg.Log, "the heartbeat", func(ctx context.Context) error { c.beatAlways(ctx, c.interval); return nil }) // it has none
	})
	if c.session.id != "" {
		return c.send(opResume, map[string]any{"token": c.cfg.Client.Token(), "session_id": c.session.id, "seq": c.session.sequence})
	}
	return c.send(opIdentify, map[string]any{"token": c.cfg.Client.Token(), "intents": int(c.cfg.Intents), "large_threshold": 50,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "deckhand", "device": "deckhand"}})
}

// beatAlways keeps the connection alive, and ends it when it is dead.
func (c *connection) beatAlways(ctx context.Context, interval time.Duration) {
	pause := rand.N(interval) // so that many clients do not beat at once
	for wait.Sleep(ctx, pause) {
		pause = interval
		if !c.answered.Swap(false) {
			c.cfg.Log.Warn("Discord does not answer heartbeats; connecting again", "error", errZombie)
			c.close(closeToResume)
			return
		}
		if c.beat() != nil {
			_ = c.conn.Close() // the reader learns why
			return
		}
	}
}

func (c *connection) beat() error {
	n := c.sequence.Load()
	if n == 0 {
		return c.send(opHeartbeat, nil)
	}
	return c.send(opHeartbeat, n)
}

func (c *connection) send(op int, data any) error {
	c.write.Lock()
	defer c.write.Unlock()
	if err := c.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return c.conn.WriteJSON(struct {
		Op   int `json:"op"`
		Data any `json:"d"`
	}{op, data})
}

// close says why and ends the connection. A frame that is being written stands
// in nobody's way.
func (c *connection) close(code int) {
	_ = c.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second)) // it ends in any case
	_ = c.conn.Close()
}

// dispatch hands an event on, and notes when the connection is ready.
func (c *connection) dispatch(p packet) {
	switch p.Kind {
	case "READY":
		c.begin(p.Data)
	case "RESUMED":
		c.ready = true
		c.cfg.Linked(false)
	default:
		c.cfg.Event(p.Kind, p.Data)
	}
}

// begin notes a new session.
func (c *connection) begin(data json.RawMessage) {
	var r struct {
		ID  string `json:"session_id"`
		URL string `json:"resume_gateway_url"`
	}
	if err := json.Unmarshal(data, &r); err != nil || r.ID == "" {
		c.cfg.Limiter.Warn(c.cfg.Log, "Discord's READY cannot be read", "why", errors.Join(api.ErrMalformed, err))
		return
	}
	c.session.id, c.session.url = r.ID, r.URL
	c.ready = true
	c.cfg.Linked(true)
}
