package slacktest

// This file hands events, clicks, forms and commands to the app over a socket
// or signed HTTP, and repeats what goes unacknowledged, so that tests see how
// the app copes with Slack's redeliveries.

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
)

const (
	kindEvents      = "events_api"
	kindInteractive = "interactive"
	kindSlash       = "slash_commands"
)

// ErrNotAnswered is what a person sees as a warning sign beside the button:
// the app did not acknowledge within three seconds.
var ErrNotAnswered = errors.New("slacktest: the app did not acknowledge in time")

// delivery is something for the app until it is acknowledged or given up.
type delivery struct {
	kind, typ, event string
	payload          json.RawMessage

	envelope string // of this attempt
	attempt  int
	reason   string
	link     *link
	timer    *time.Timer
	record   *Delivery
	fault    EventFault

	ended    chan struct{} // nil: nobody waits
	acked    bool
	response json.RawMessage
}

// outbox hands events, clicks, forms and commands over to the app.
type outbox struct {
	*workspace
	pending    map[string]*delivery // by envelope
	deliveries []*Delivery
}

// send starts a delivery, unless a fault says otherwise; the lock is held.
func (s *outbox) send(d *delivery) {
	if d.kind == kindEvents {
		if s.Held(func() { s.send(d) }) {
			return
		}
		d.fault = s.OfEvent()
	}
	if d.fault.Twice {
		twin := *d
		twin.fault = EventFault{}
		s.Later(d.fault.After+time.Millisecond, func() { s.attemptNow(&twin) })
	}
	if d.fault.After > 0 {
		s.Later(d.fault.After, func() { s.attemptNow(d) })
		return
	}
	s.attemptNow(d)
}

func (s *outbox) attemptNow(d *delivery) {
	if s.Closed() {
		return
	}
	d.envelope = s.id("env-")
	d.record = &Delivery{
		Kind: d.kind, Type: d.typ, EventID: d.event, EnvelopeID: d.envelope,
		Attempt: d.attempt, Reason: d.reason, Sent: time.Now(),
	}
	s.deliveries = append(s.deliveries, d.record)
	s.pending[d.envelope] = d
	d.timer = s.Later(s.cfg.AckWithin, func() { s.failed(d, d.envelope, "timeout") })
	defer s.Change()
	if s.cfg.Deliver != "" {
		envelope, attempt, reason := d.envelope, d.attempt, d.reason
		s.WG.Go(func() { s.deliverHTTP(d, envelope, attempt, reason) })
		return
	}
	l := s.sockets.pick()
	if l == nil {
		s.failed(d, d.envelope, "no_connection")
		return
	}
	d.link, d.record.Link = l, l.id
	l.Send(platformtest.Frame{Text: platformtest.Encode(obj{
		"envelope_id": d.envelope, "type": d.kind, "payload": d.payload,
		"accepts_response_payload": d.kind != kindEvents,
		"retry_attempt":            d.attempt, "retry_reason": d.reason,
	})})
	if d.fault.DropSocket {
		d.fault.DropSocket = false
		s.Later(time.Millisecond, l.Cut)
	}
}

// acknowledge ends a delivery; the lock is held.
func (s *outbox) acknowledge(envelope string, response json.RawMessage) {
	d := s.pending[envelope]
	if d == nil {
		return // late, or not ours
	}
	if d.fault.LostAck {
		d.fault.LostAck = false
		return
	}
	d.timer.Stop()
	delete(s.pending, envelope)
	d.record.Acked = time.Now()
	d.record.Latency = d.record.Acked.Sub(d.record.Sent)
	d.record.Response = response
	d.acked, d.response = true, response
	d.end()
	s.Change()
}

// failed ends an attempt and plans the next one, if there is one; the lock is held.
func (s *outbox) failed(d *delivery, envelope, why string) {
	if s.pending[envelope] != d {
		return
	}
	d.timer.Stop()
	delete(s.pending, envelope)
	d.record.Error = why
	s.Change()
	if d.kind != kindEvents || d.attempt >= len(s.cfg.Redeliver) {
		d.end()
		return
	}
	pause := s.cfg.Redeliver[d.attempt]
	d.attempt++
	d.reason = why
	s.Later(pause, func() { s.attemptNow(d) })
}

// giveUp ends every wait for an acknowledgement.
func (s *outbox) giveUp() {
	for _, d := range s.pending {
		d.timer.Stop()
	}
}

func (d *delivery) end() {
	if d.ended != nil {
		close(d.ended)
		d.ended = nil
	}
}

// ask delivers and waits until the app acknowledged or did not.
func (s *outbox) ask(d *delivery) (json.RawMessage, error) {
	s.Mu.Lock()
	ended := make(chan struct{})
	d.ended = ended
	s.send(d)
	s.Mu.Unlock()
	select {
	case <-ended:
	case <-s.Done.Done():
		return nil, ErrNotAnswered
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if !d.acked {
		return nil, fmt.Errorf("%w (%s %s: %s)", ErrNotAnswered, d.kind, d.typ, d.record.Error)
	}
	return d.response, nil
}

// tell says that a message was posted; the lock is held.
func (s *outbox) tell(m *message) {
	c := s.channel(m.Channel)
	if c == nil || !c.has(BotUser) {
		return
	}
	if m.BotID == Bot && s.cfg.NoEcho {
		return
	}
	plain := s.messageJSON(m, true)
	plain["channel"], plain["channel_type"], plain["event_ts"] = c.ID, c.kind(), m.TS
	if c.IM != "" && m.User == c.IM {
		plain["app_context"] = s.sessions.context(m.User)
	}
	mention := s.mentionJSON(m)
	both := c.IM == "" && m.BotID != Bot && strings.Contains(m.Text, "<@"+BotUser+">")
	switch {
	case !both:
		s.emit(plain, m.User)
	case s.cfg.Mentions == OnlyAppMention:
		s.emit(mention, m.User)
	case s.cfg.Mentions == OnlyMessage:
		s.emit(plain, m.User)
	case s.cfg.Mentions == MessageFirst:
		s.emit(plain, m.User)
		s.emit(mention, m.User)
	default:
		s.emit(mention, m.User)
		s.emit(plain, m.User)
	}
}

// mentionJSON is the app_mention of a message: it has no channel_type and no subtype.
func (s *outbox) mentionJSON(m *message) obj {
	out := s.messageJSON(m, false)
	out["type"], out["channel"], out["event_ts"] = "app_mention", m.Channel, m.TS
	delete(out, "subtype")
	return out
}

func (s *outbox) tellChanged(m *message, before obj) {
	after := s.messageJSON(m, true)
	s.tellHidden(m, "message_changed", obj{"message": after, "previous_message": before})
}

// remove deletes m and says so; a parent with replies stays as a tombstone.
func (s *outbox) remove(m *message) {
	before := s.messageJSON(m, false)
	m.Deleted = true
	if len(s.replies(m.Channel, m.TS)) > 0 {
		m.Subtype, m.Text, m.Blocks, m.Files = "tombstone", "This message was deleted.", nil, nil
	}
	s.tellHidden(m, "message_deleted", obj{"deleted_ts": m.TS, "previous_message": before})
	s.Change()
}

func (s *outbox) tellHidden(m *message, subtype string, ev obj) {
	c := s.channel(m.Channel)
	if c == nil || !c.has(BotUser) || m.BotID == Bot && s.cfg.NoEcho {
		return
	}
	ts, _ := s.ts()
	ev["type"], ev["subtype"], ev["hidden"] = "message", subtype, true
	ev["channel"], ev["channel_type"], ev["ts"], ev["event_ts"] = c.ID, c.kind(), ts, ts
	s.emit(ev, m.User)
}

func (s *outbox) tellReaction(kind, user, name string, m *message) {
	c := s.channel(m.Channel)
	if c == nil || !c.has(BotUser) || user == BotUser && s.cfg.NoEcho {
		return
	}
	s.emit(obj{"type": kind, "user": user, "reaction": name, "item_user": m.User, "item": obj{"type": "message", "channel": m.Channel, "ts": m.TS}}, user)
}

// emit wraps an event and sends it off; the lock is held.
func (s *outbox) emit(ev obj, by string) {
	ts, at := s.ts()
	if ev["event_ts"] == nil {
		ev["event_ts"] = ts
	}
	id := s.id("Ev")
	kind, _ := ev["type"].(string)
	channel, _ := ev["channel"].(string)
	shared := false
	if c := s.channel(channel); c != nil {
		shared = c.Shared
	}
	body := obj{
		"token": "verification", "team_id": Team, "api_app_id": App, "event": ev, "type": "event_callback",
		"event_id": id, "event_time": at.Unix(), "is_ext_shared_channel": shared,
		"authorizations": []obj{{"enterprise_id": nil, "team_id": Team, "user_id": BotUser, "is_bot": true, "is_enterprise_install": false}},
		"event_context":  "4-" + id,
	}
	if u := s.user(by); u != nil {
		body["context_team_id"] = Team
	}
	s.send(&delivery{kind: kindEvents, typ: kind, event: id, payload: platformtest.Encode(body)})
}

// Raw delivers an event of any type, known to anybody or not, as the app's
// events are delivered. The event is JSON without its envelope.
func (s *outbox) Raw(event map[string]any) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.emit(obj(event), "")
}

// RawEnvelope delivers a payload as it is, in an envelope of the given type.
func (s *outbox) RawEnvelope(kind string, payload []byte) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.send(&delivery{kind: kind, typ: "raw", payload: payload})
}

// Sign sets the headers that prove that a body comes from Slack, sent at the
// given time.
func (s *outbox) Sign(h http.Header, body []byte, at time.Time) {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(s.SigningSecret))
	_, _ = fmt.Fprintf(mac, "v0:%s:%s", stamp, body) // a hash takes everything
	h.Set("X-Slack-Request-Timestamp", stamp)
	h.Set("X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
}

// DeliverTo changes the base URL of signed HTTP deliveries; empty is Socket Mode.
func (s *outbox) DeliverTo(base string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.cfg.Deliver = base
}

// Challenge sends url_verification to the app and says whether it was answered.
func (s *outbox) Challenge(ctx context.Context) error {
	want := "challenge-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	body := platformtest.Encode(obj{"type": "url_verification", "token": "verification", "challenge": want})
	got, _, err := s.sendHTTP(ctx, "/slack/events", "application/json", body, 0, "")
	if err != nil {
		return fmt.Errorf("slacktest: the challenge was not answered: %w", err)
	}
	var said struct {
		Challenge string `json:"challenge"`
	}
	if strings.TrimSpace(string(got)) == want || json.Unmarshal(got, &said) == nil && said.Challenge == want {
		return nil
	}
	return fmt.Errorf("slacktest: the challenge %q was answered with %q", want, got)
}

// deliverHTTP makes one attempt over HTTP; the lock is not held.
func (s *outbox) deliverHTTP(d *delivery, envelope string, attempt int, reason string) {
	path, kind, body := "/slack/events", "application/json", []byte(d.payload)
	switch d.kind {
	case kindInteractive:
		path, kind, body = "/slack/interactive", formType, []byte(url.Values{"payload": {string(d.payload)}}.Encode())
	case kindSlash:
		path, kind, body = "/slack/commands", formType, []byte(slashForm(d.payload))
	}
	ctx, cancel := context.WithTimeout(s.Done, s.cfg.AckWithin)
	defer cancel()
	got, noRetry, err := s.sendHTTP(ctx, path, kind, body, attempt, reason)
	s.Mu.Lock()
	defer s.Mu.Unlock()
	switch {
	case err == nil:
		s.acknowledge(envelope, got)
		if p := s.pending[envelope]; p != nil { // a lost acknowledgement looks like a timeout
			s.failed(p, envelope, "http_timeout")
		}
	case s.Closed():
	default:
		if noRetry {
			d.attempt = len(s.cfg.Redeliver)
		}
		s.failed(d, envelope, reasonOf(err))
	}
}

const formType = "application/x-www-form-urlencoded"

var errStatus = errors.New("the app answered with a status other than 2xx")

func (s *outbox) sendHTTP(ctx context.Context, path, kind string, body []byte, attempt int, reason string) (got []byte, noRetry bool, err error) {
	s.Mu.Lock()
	base := strings.TrimSuffix(s.cfg.Deliver, "/")
	s.Mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, bytes.NewReader(body))
	if err != nil {
		return nil, false, fmt.Errorf("delivering to %s: %w", base, err)
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	s.Sign(req.Header, body, time.Now())
	if attempt > 0 {
		req.Header.Set("X-Slack-Retry-Num", strconv.Itoa(attempt))
		req.Header.Set("X-Slack-Retry-Reason", reason)
	}
	resp, err := s.Out.Do(req)
	if err != nil {
		return nil, false, fmt.Errorf("delivering: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	got, err = io.ReadAll(io.LimitReader(resp.Body, maxBody))
	if err == nil && resp.StatusCode/100 != 2 {
		err = fmt.Errorf("%w: %s", errStatus, resp.Status)
	}
	return got, resp.Header.Get("X-Slack-No-Retry") == "1", err
}

func reasonOf(err error) string {
	var timeout net.Error
	switch {
	case errors.Is(err, errStatus):
		return "http_error"
	case errors.As(err, &timeout) && timeout.Timeout():
		return "http_timeout"
	default:
		return "connection_failed"
	}
}

func slashForm(payload json.RawMessage) string {
	form := url.Values{}
	for k, v := range callOf(payload).args {
		form.Set(k, v)
	}
	return form.Encode()
}
