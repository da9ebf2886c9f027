package discord

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

	"github.com/bwmarrin/discordgo"
	"github.com/gorilla/websocket"

	"github.com/deckhand-bot/deckhand/adapters/discord/api"
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

// gatewayLink is one connection of the gateway.
type gatewayLink struct {
	d       *Discord
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
func (l *gatewayLink) read(ctx context.Context, beats *sync.WaitGroup) error {
	l.step()
	for {
		until := l.until
		if l.ready {
			until = time.Now().Add(2*l.interval + l.d.in.times.hello)
		}
		if err := l.conn.SetReadDeadline(until); err != nil {
			return err
		}
		_, raw, err := l.conn.ReadMessage()
		if err != nil && l.interval == 0 && !closedByFarEnd(err) {
			return errors.Join(errNoHello, err)
		}
		if err != nil {
			return err
		}
		var p packet
		if err := json.Unmarshal(raw, &p); err != nil || p.Op == nil {
			l.d.in.quiet.Warn(l.d.log, "a frame of Discord's cannot be read and is ignored", "why", errors.Join(errMalformed, err))
			continue
		}
		if err := l.packet(ctx, p, beats); err != nil {
			return err
		}
	}
}

// step gives the far end time for the next step.
func (l *gatewayLink) step() { l.until = time.Now().Add(l.d.in.times.hello) }

func closedByFarEnd(err error) bool {
	_, is := errors.AsType[*websocket.CloseError](err)
	return is
}

// packet deals with one frame; an error ends the connection.
func (l *gatewayLink) packet(ctx context.Context, p packet, beats *sync.WaitGroup) error {
	switch *p.Op {
	case opHello:
		return l.greeted(ctx, p.Data, beats)
	case opHeartbeat:
		return l.beat()
	case opAck:
		l.answered.Store(true)
	case opReconnect:
		return errAsked
	case opInvalid:
		if string(p.Data) != "true" {
			*l.session = session{}
		}
		return errInvalid
	case opDispatch:
		if p.Sequence != nil && *p.Sequence > l.session.sequence {
			l.session.sequence = *p.Sequence
			l.sequence.Store(*p.Sequence)
		}
		l.step()
		l.dispatch(p)
	}
	return nil
}

// greeted answers HELLO: it identifies, or resumes, and lets the heart beat.
func (l *gatewayLink) greeted(ctx context.Context, data json.RawMessage, beats *sync.WaitGroup) error {
	if l.interval != 0 {
		return nil // one greeting is enough
	}
	var hello struct {
		Interval int64 `json:"heartbeat_interval"`
	}
	if err := json.Unmarshal(data, &hello); err != nil || hello.Interval <= 0 || hello.Interval > longestBeat.Milliseconds() {
		return fmt.Errorf("%w: no interval of heartbeats: %w", errNoHello, errors.Join(errMalformed, err))
	}
	l.interval = max(time.Duration(hello.Interval)*time.Millisecond, shortestBeat)
	l.sequence.Store(l.session.sequence)
	l.answered.Store(true)
	l.step()
	beats.Go(func() { l.beatAlways(ctx, l.interval) })
	if l.session.id != "" {
		return l.send(opResume, map[string]any{"token": l.d.api.Token(), "session_id": l.session.id, "seq": l.session.sequence})
	}
	intents := discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages
	if l.d.cfg.Content {
		intents |= discordgo.IntentsMessageContent
	}
	return l.send(opIdentify, map[string]any{"token": l.d.api.Token(), "intents": int(intents), "large_threshold": 50,
		"properties": map[string]string{"os": runtime.GOOS, "browser": "deckhand", "device": "deckhand"}})
}

// beatAlways keeps the connection alive, and ends it when it is dead.
func (l *gatewayLink) beatAlways(ctx context.Context, interval time.Duration) {
	pause := rand.N(interval) // so that many clients do not beat at once
	for wait.Sleep(ctx, pause) {
		pause = interval
		if !l.answered.Swap(false) {
			l.d.log.Warn("Discord does not answer heartbeats; connecting again", "error", errZombie)
			l.close(closeToResume)
			return
		}
		if l.beat() != nil {
			_ = l.conn.Close() // the reader learns why
			return
		}
	}
}

func (l *gatewayLink) beat() error {
	n := l.sequence.Load()
	if n == 0 {
		return l.send(opHeartbeat, nil)
	}
	return l.send(opHeartbeat, n)
}

func (l *gatewayLink) send(op int, data any) error {
	l.write.Lock()
	defer l.write.Unlock()
	if err := l.conn.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return l.conn.WriteJSON(struct {
		Op   int `json:"op"`
		Data any `json:"d"`
	}{op, data})
}

// close says why and ends the connection. A frame that is being written stands
// in nobody's way.
func (l *gatewayLink) close(code int) {
	_ = l.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, ""), time.Now().Add(time.Second)) // it ends in any case
	_ = l.conn.Close()
}

// dispatch hands an event on. What is not understood is of no concern.
func (l *gatewayLink) dispatch(p packet) {
	d := l.d
	switch p.Kind {
	case "READY":
		l.begun(p.Data)
	case "RESUMED":
		l.ready = true
		d.in.link(false)
	case eventMessage, eventEdit, eventInteraction:
		if err := d.take(parcel{kind: p.Kind, payload: p.Data}); errors.Is(err, errDeaf) {
			d.in.quiet.Warn(d.log, "an event came too late: it is read back after the next start", "kind", p.Kind)
		}
	case "CHANNEL_CREATE", "CHANNEL_UPDATE", "THREAD_CREATE", "THREAD_UPDATE":
		var c api.Channel
		if json.Unmarshal(p.Data, &c) == nil {
			d.in.halls.learn(c)
		}
	case "CHANNEL_DELETE", "THREAD_DELETE":
		var c api.Channel
		if json.Unmarshal(p.Data, &c) == nil {
			d.in.halls.forget(c.ID)
		}
	case "GUILD_CREATE", "GUILD_DELETE":
		l.guild(p)
	case "GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE", "GUILD_ROLE_DELETE":
		l.role(p)
	}
}

// begun notes a new session.
func (l *gatewayLink) begun(data json.RawMessage) {
	var r struct {
		ID  string `json:"session_id"`
		URL string `json:"resume_gateway_url"`
	}
	if err := json.Unmarshal(data, &r); err != nil || r.ID == "" {
		l.d.in.quiet.Warn(l.d.log, "Discord's READY cannot be read", "why", errors.Join(errMalformed, err))
		return
	}
	l.session.id, l.session.url = r.ID, r.URL
	l.ready = true
	l.d.in.link(true)
}

// guild learns the channels of a server, and that the bot came or went.
func (l *gatewayLink) guild(p packet) {
	var g struct {
		ID          string           `json:"id"`
		Unavailable bool             `json:"unavailable"`
		Channels    []api.Channel    `json:"channels"`
		Threads     []api.Channel    `json:"threads"`
		Roles       []discordgo.Role `json:"roles"`
	}
	if json.Unmarshal(p.Data, &g) != nil {
		return
	}
	for _, c := range append(g.Channels, g.Threads...) {
		c.Guild = g.ID
		l.d.in.halls.learn(c)
	}
	l.d.in.people.recount()
	l.d.in.roles.learn(g.ID, g.Roles)
	if p.Kind == "GUILD_DELETE" && !g.Unavailable {
		l.d.in.roles.forget(g.ID, "")
		l.d.log.Warn("the bot was taken out of a server", "guild", g.ID)
	}
}

// role learns a role that came, changed or went.
func (l *gatewayLink) role(p packet) {
	var e struct {
		Guild string         `json:"guild_id"`
		Role  discordgo.Role `json:"role"`
		Gone  string         `json:"role_id"`
	}
	switch {
	case json.Unmarshal(p.Data, &e) != nil:
	case e.Gone != "":
		l.d.in.roles.forget(e.Guild, e.Gone)
	case e.Role.ID != "":
		l.d.in.roles.learn(e.Guild, []discordgo.Role{e.Role})
	}
}
