package slacktest

import (
	"net/http"
	"slices"
	"time"
)

// Fault is what happens to a call of the Web API instead of an answer, or
// beside it.
type Fault struct {
	Status      int             // answered with this status, and nothing happened
	RetryAfter  time.Duration   // with Status 429; whole seconds go over the wire
	Error       string          // answered {"ok":false,"error":Error}, and nothing happened
	LostRequest bool            // the connection is cut, and nothing happened
	LostAnswer  bool            // it happened, and the connection is cut
	AcceptAfter time.Duration   // it happens this late, whether the client waits or not
	AcceptWhen  <-chan struct{} // it happens when this is closed, whether the client waits or not
	AnswerAfter time.Duration   // it happened at once; the answer is this late
	AnswerWhen  <-chan struct{} // it happened at once; the answer comes when this is closed
}

// RateLimited answers 429.
func RateLimited(after time.Duration) Fault {
	return Fault{Status: http.StatusTooManyRequests, RetryAfter: after}
}

// Unavailable answers 503.
func Unavailable() Fault { return Fault{Status: http.StatusServiceUnavailable} }

// LostAnswer accepts the call and cuts the connection.
func LostAnswer() Fault { return Fault{LostAnswer: true} }

// LostRequest cuts the connection, and nothing happened.
func LostRequest() Fault { return Fault{LostRequest: true} }

// APIError answers with an error of Slack's.
func APIError(code string) Fault { return Fault{Error: code} }

// EventFault is what happens to an event on its way to the app.
type EventFault struct {
	Twice      bool          // delivered a second time with the same event id
	After      time.Duration // delivered this late
	LostAck    bool          // the first acknowledgement is not seen: redelivered
	DropSocket bool          // the socket is cut after it was sent
}

type planned struct {
	method string
	left   int
	fault  Fault
}

type plannedEvent struct {
	left  int
	fault EventFault
}

// Fail lets the next n calls of a method (or of "*") meet a fault.
func (s *Server) Fail(method string, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &planned{method, n, f})
}

// FailEvents lets the next n events meet a fault.
func (s *Server) FailEvents(n int, f EventFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.eventFaults = append(s.eventFaults, &plannedEvent{n, f})
}

// Heal forgets every planned fault and stops the random ones.
func (s *Server) Heal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults, s.eventFaults = nil, nil
	s.cfg.Chaos = Chaos{Delay: s.cfg.Chaos.Delay}
	s.mute = 0
}

// HoldEvents keeps events back until ReleaseEvents.
func (s *Server) HoldEvents() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = true
}

// ReleaseEvents delivers what was kept back, in the given order of arrival, or
// the other way round.
func (s *Server) ReleaseEvents(reversed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := s.held
	s.held, s.holding = nil, false
	if reversed {
		slices.Reverse(held)
	}
	for _, d := range held {
		s.send(d)
	}
}

// Outage cuts every socket and refuses everything, or ends that.
func (s *Server) Outage(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = on
	if on {
		for _, l := range s.links {
			l.cut()
		}
	}
	s.change()
}

// fault is what this call meets; the lock is held.
func (s *Server) fault(method string) Fault {
	for _, p := range s.faults {
		if p.left > 0 && (p.method == method || p.method == "*") {
			p.left--
			return p.fault
		}
	}
	c := s.cfg.Chaos
	switch {
	case s.roll(c.RateLimited):
		return RateLimited(time.Second)
	case s.roll(c.Unavailable):
		return Unavailable()
	case s.roll(c.LostRequest):
		return LostRequest()
	case s.roll(c.LostAnswer):
		return LostAnswer()
	case s.roll(c.LateAnswer):
		return Fault{AnswerAfter: s.delay()}
	case s.roll(c.LateAccept):
		return Fault{AcceptAfter: s.delay()}
	default:
		return Fault{}
	}
}

func (s *Server) eventFault() EventFault {
	for _, p := range s.eventFaults {
		if p.left > 0 {
			p.left--
			return p.fault
		}
	}
	c := s.cfg.Chaos
	f := EventFault{Twice: s.roll(c.TwiceEvent), LostAck: s.roll(c.LostAck), DropSocket: s.roll(c.DropSocket)}
	if s.roll(c.LateEvent) {
		f.After = s.delay()
	}
	return f
}

func (s *Server) roll(p float64) bool { return p > 0 && s.dice.Float64() < p }

func (s *Server) delay() time.Duration {
	return time.Duration(s.dice.Int64N(int64(s.cfg.Chaos.Delay))) + 1
}
