package discordtest

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
)

// Sign sets the headers that prove that a body comes from Discord, sent at the
// given time.
func (s *Server) Sign(h http.Header, body []byte, at time.Time) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	h.Set("X-Signature-Timestamp", stamp)
	h.Set("X-Signature-Ed25519", hex.EncodeToString(ed25519.Sign(s.private, append([]byte(stamp), body...))))
}

// DeliverTo changes the base URL of signed HTTP interactions; empty is the gateway.
func (s *Server) DeliverTo(base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.Deliver = base
}

// Ping checks the app's endpoint as Discord does when it is entered: a PING
// that is answered with a pong, and a forged one that is refused with 401.
func (s *Server) Ping(ctx context.Context) error {
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
func (s *Server) SendPing(ctx context.Context, at time.Time, forged bool) (status int, body []byte, err error) {
	s.mu.Lock()
	id := s.id()
	s.mu.Unlock()
	return s.SendRaw(ctx, encode(obj{"id": id, "application_id": App, "type": askPing, "token": "ping" + id, "version": 1, "user": obj{"id": Olga}}), at, forged)
}

// SendRaw sends any body to the app's endpoint, signed at a time that may be
// stale, or forged, and says how it was answered.
func (s *Server) SendRaw(ctx context.Context, payload []byte, at time.Time, forged bool) (status int, body []byte, err error) {
	s.mu.Lock()
	base := strings.TrimSuffix(s.cfg.Deliver, "/")
	s.mu.Unlock()
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
	resp, err := s.out.Do(req)
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
func (s *Server) deliver(i *interaction) {
	ctx, cancel := context.WithTimeout(s.done, s.cfg.AckWithin)
	defer cancel()
	s.mu.Lock()
	f := s.eventFault()
	s.mu.Unlock()
	s.pause(f.After, nil)
	payload := encode(i.payload)
	status, body, err := s.SendRaw(ctx, payload, time.Now(), false)
	if f.Twice {
		s.wg.Go(func() { _, _, _ = s.SendRaw(s.done, payload, time.Now(), false) }) // nobody waits for the second answer
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed || status == http.StatusAccepted || i.acked:
		return
	case err != nil:
		s.giveUp(i, err.Error())
	case status != http.StatusOK:
		s.giveUp(i, "answered with status "+strconv.Itoa(status))
	default:
		if err := s.respond(i, &call{body: body}); err != nil {
			s.giveUp(i, "answered with a callback that Discord refuses: "+err.Error())
		}
	}
}
