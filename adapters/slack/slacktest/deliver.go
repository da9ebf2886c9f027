package slacktest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
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

// send starts a delivery, unless a fault says otherwise; the lock is held.
func (s *Server) send(d *delivery) {
	if d.kind == kindEvents {
		if s.holding {
			s.held = append(s.held, d)
			return
		}
		d.fault = s.eventFault()
	}
	if d.fault.Twice {
		twin := *d
		twin.fault = EventFault{}
		s.later(d.fault.After+time.Millisecond, func() { s.attemptNow(&twin) })
	}
	if d.fault.After > 0 {
		s.later(d.fault.After, func() { s.attemptNow(d) })
		return
	}
	s.attemptNow(d)
}

// later runs f with the lock held, unless the server was closed by then.
func (s *Server) later(after time.Duration, f func()) *time.Timer {
	return time.AfterFunc(after, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.closed {
			f()
		}
	})
}

func (s *Server) attemptNow(d *delivery) {
	if s.closed {
		return
	}
	d.envelope = s.id("env-")
	d.record = &Delivery{
		Kind: d.kind, Type: d.typ, EventID: d.event, EnvelopeID: d.envelope,
		Attempt: d.attempt, Reason: d.reason, Sent: time.Now(),
	}
	s.deliveries = append(s.deliveries, d.record)
	s.pending[d.envelope] = d
	d.timer = s.later(s.cfg.AckWithin, func() { s.failed(d, d.envelope, "timeout") })
	defer s.change()
	if s.cfg.Deliver != "" {
		envelope, attempt, reason := d.envelope, d.attempt, d.reason
		s.wg.Go(func() { s.deliverHTTP(d, envelope, attempt, reason) })
		return
	}
	l := s.pick()
	if l == nil {
		s.failed(d, d.envelope, "no_connection")
		return
	}
	d.link, d.record.Link = l, l.id
	l.write(encode(obj{
		"envelope_id": d.envelope, "type": d.kind, "payload": d.payload,
		"accepts_response_payload": d.kind != kindEvents,
		"retry_attempt":            d.attempt, "retry_reason": d.reason,
	}))
	if d.fault.DropSocket {
		d.fault.DropSocket = false
		s.later(time.Millisecond, l.cut)
	}
}

// acknowledge ends a delivery; the lock is held.
func (s *Server) acknowledge(envelope string, response json.RawMessage) {
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
	s.change()
}

// failed ends an attempt and plans the next one, if there is one; the lock is held.
func (s *Server) failed(d *delivery, envelope, why string) {
	if s.pending[envelope] != d {
		return
	}
	d.timer.Stop()
	delete(s.pending, envelope)
	d.record.Error = why
	s.change()
	if d.kind != kindEvents || d.attempt >= len(s.cfg.Redeliver) {
		d.end()
		return
	}
	pause := s.cfg.Redeliver[d.attempt]
	d.attempt++
	d.reason = why
	s.later(pause, func() { s.attemptNow(d) })
}

func (d *delivery) end() {
	if d.ended != nil {
		close(d.ended)
		d.ended = nil
	}
}

// ask delivers and waits until the app acknowledged or did not.
func (s *Server) ask(d *delivery) (json.RawMessage, error) {
	s.mu.Lock()
	ended := make(chan struct{})
	d.ended = ended
	s.send(d)
	s.mu.Unlock()
	select {
	case <-ended:
	case <-s.done.Done():
		return nil, ErrNotAnswered
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !d.acked {
		return nil, fmt.Errorf("%w (%s %s: %s)", ErrNotAnswered, d.kind, d.typ, d.record.Error)
	}
	return d.response, nil
}
