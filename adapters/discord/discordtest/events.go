package discordtest

// This file sends events to the gateway sessions that may see them and signed
// interactions to the app's HTTP endpoint, with the faults that a test asks
// for.

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

// outbox hands events and interactions over to the app.
type outbox struct{ *world }

// event is something that the sessions are told.
type event struct {
	kind   string
	intent int // 0: everybody is told
	echo   bool
	data   obj                    // of everybody
	each   func(intents int) obj  // instead of data
	wanted func(intents int) bool // instead of intent
	fault  EventFault
}

// tell tells all sessions, unless a fault says otherwise; the lock is held.
func (s *outbox) tell(e *event) {
	if e.kind == "INTERACTION_CREATE" || !s.Held(func() { s.dispatch(e) }) {
		s.dispatch(e)
	}
}

// dispatch sends an event; what the bot itself caused meets no fault.
func (s *outbox) dispatch(e *event) {
	if !e.echo {
		e.fault = s.OfEvent()
	}
	f := e.fault
	if f.Twice {
		s.Later(f.After+time.Millisecond, func() { s.send(e) })
	}
	if f.After > 0 {
		s.Later(f.After, func() { s.send(e) })
	} else {
		s.send(e)
	}
	if f.DropSocket {
		s.Later(f.After+2*time.Millisecond, s.sockets.cutAll)
	}
}

func (s *outbox) send(e *event) {
	s.sockets.sessions = slices.DeleteFunc(s.sockets.sessions, func(se *session) bool { return se.link == nil && time.Since(se.lost) > s.cfg.ResumeLife })
	for _, se := range s.sockets.sessions {
		if e.wanted != nil && !e.wanted(se.intents) || e.intent != 0 && se.intents&e.intent == 0 {
			continue
		}
		data := e.data
		if e.each != nil {
			data = e.each(se.intents)
		}
		se.give(e.kind, data)
	}
}

func (s *world) messageIntent(m *message) int {
	if c := s.channel(m.Channel); c != nil && c.Type == DMChannel {
		return IntentDirectMessages
	}
	return IntentMessages
}

// inGuild adds the guild of a channel.
func (s *world) inGuild(channel string, data obj) obj {
	for _, c := range s.channels {
		if c.ID == channel {
			platformtest.Put(data, "guild_id", c.Guild)
		}
	}
	return data
}

// tellMessage tells of a message as it is now, to each session what it may read.
func (s *outbox) tellMessage(kind string, m *message) {
	c := s.channel(m.Channel)
	if c == nil || !s.sees(BotUser, c) {
		return
	}
	now := *m
	bare, full := s.eventMessage(kind, &now, false), s.eventMessage(kind, &now, true)
	free := s.forBot(&now)
	s.tell(&event{
		kind: kind, intent: s.messageIntent(m), echo: m.Author == BotUser,
		each: func(intents int) obj {
			if free || intents&IntentContent != 0 {
				return full
			}
			return bare
		},
	})
}

func (s *outbox) eventMessage(kind string, m *message, content bool) obj {
	out := s.inGuild(m.Channel, s.messageJSON(m, content))
	if kind == "MESSAGE_CREATE" {
		platformtest.Put(out, "nonce", m.Nonce)
	}
	if c := s.channel(m.Channel); c != nil {
		out["channel_type"] = c.Type
		if g := s.guild(c.Guild); g != nil && g.member(m.Author) != nil {
			out["member"] = s.memberJSON(g, g.member(m.Author), false)
		}
	}
	return out
}

// Sign sets the headers that prove that a body comes from Discord, sent at the
// given time.
func (s *outbox) Sign(h http.Header, body []byte, at time.Time) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h.Set("X-Signature-Timestamp", stamp)
	h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(s.private, append([]byte(stamp), body...))))
}

// DeliverTo changes the base URL of signed HTTP interactions; empty is the gateway.
func (s *outbox) DeliverTo(base string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.cfg.Deliver = base
}

// Ping checks the app's endpoint as Discord does when it is entered: a PING
// that is answered with a pong, and a forged one that is refused with 401.
func (s *outbox) Ping(ctx context.Context) error {
	status, body, err := s.SendPing(ctx, time.Now(), false)
	var pong struct {
		Type int `json:"type"`
	}
	switch {
	case err != nil:
		return err
	case status != http.StatusOK || json.Unmarshal(body, &pong) != nil || pong.Type != backPong:
		return fmt.Errorf("discordtest: the PING was answered with %d and %q, not with a pong", status, body)
	}
	status, _, err = s.SendPing(ctx, time.Now(), true)
	if err == nil && status != http.StatusUnauthorized {
		err = fmt.Errorf("discordtest: a forged PING was answered with %d, not with 401", status)
	}
	return err
}

// SendPing sends a PING, signed at a time that may be stale, or forged, and
// says how it was answered.
func (s *outbox) SendPing(ctx context.Context, at time.Time, forged bool) (status int, body []byte, err error) {
	s.Mu.Lock()
	id := s.id()
	s.Mu.Unlock()
	return s.SendRaw(ctx, platformtest.Encode(obj{"id": id, "application_id": App, "type": askPing, "token": "ping" + id, "version": 1, "user": obj{"id": Olga}}), at, forged)
}

// SendRaw sends any body to the app's endpoint, signed at a time that may be
// stale, or forged, and says how it was answered.
func (s *outbox) SendRaw(ctx context.Context, payload []byte, at time.Time, forged bool) (status int, body []byte, err error) {
	s.Mu.Lock()
	base := strings.TrimSuffix(s.cfg.Deliver, "/")
	s.Mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/discord/interactions", bytes.NewReader(payload))
	if err != nil {
		return 0, nil, fmt.Errorf("discordtest: delivering to %q: %w", base, err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Discord-Interactions/1.0 (+https://discord.com)")
	signed := payload
	if forged {
		signed = slices.Concat(payload, []byte(" "))
	}
	s.Sign(req.Header, signed, at)
	resp, err := s.Out.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("discordtest: delivering: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err != nil {
		return 0, nil, fmt.Errorf("discordtest: reading the answer to an interaction: %w", err)
	}
	return resp.StatusCode, body, nil
}

// deliver hands an interaction over by HTTP; the answer is the callback. With
// 202 the callback comes over REST. The lock is not held.
func (s *outbox) deliver(i *interaction) {
	ctx, cancel := context.WithTimeout(s.Done, s.cfg.AckWithin)
	defer cancel()
	s.Mu.Lock()
	f := s.OfEvent()
	s.Mu.Unlock()
	s.Pause(f.After, nil)
	payload := platformtest.Encode(i.payload)
	status, body, err := s.SendRaw(ctx, payload, time.Now(), false)
	if f.Twice {
		s.WG.Go(func() { _, _, _ = s.SendRaw(s.Done, payload, time.Now(), false) }) // nobody waits for the second answer
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	switch {
	case s.Closed() || status == http.StatusAccepted || i.acked:
		return
	case err != nil:
		s.giveUp(i, err.Error())
	case status != http.StatusOK:
		s.giveUp(i, "answered with status "+strconv.Itoa(status))
	default:
		if err := respond(s.world, i, &call{body: body}); err != nil {
			s.giveUp(i, "answered with a callback that Discord refuses: "+err.Error())
		}
	}
}
