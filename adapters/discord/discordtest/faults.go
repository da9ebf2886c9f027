package discordtest

import (
	"net/http"
	"slices"
	"time"
)

// Fault is what happens to a call of the REST API instead of an answer, or
// beside it.
type Fault struct {
	Status      int             // answered with this status, and nothing happened
	Code        int             // of Discord; with Status, or 400 without
	RetryAfter  time.Duration   // with Status 429
	Global      bool            // with Status 429: no route may be called
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

// BadGateway answers 502, which libraries like to try again by themselves.
func BadGateway() Fault { return Fault{Status: http.StatusBadGateway} }

// LostAnswer accepts the call and cuts the connection.
func LostAnswer() Fault { return Fault{LostAnswer: true} }

// LostRequest cuts the connection, and nothing happened.
func LostRequest() Fault { return Fault{LostRequest: true} }

// APIError answers with an error of Discord's.
func APIError(status, code int) Fault { return Fault{Status: status, Code: code} }

// EventFault is what happens to an event on its way to the app.
type EventFault struct {
	Twice      bool          // delivered a second time
	After      time.Duration // delivered this late
	DropSocket bool          // the sockets are cut after it was sent
}

type planned struct {
	route string
	left  int
	fault Fault
}

type plannedEvent struct {
	left  int
	fault EventFault
}

// Fail lets the next n calls of a route (or of "*") meet a fault. A route is
// written as in Request.Route; PostMessage and its neighbours are the frequent ones.
func (s *Server) Fail(route string, n int, f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &planned{route, n, f})
}

// FailEvents lets the next n things that people do meet a fault on their way
// to the app.
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
	s.mute, s.zombie = 0, false
}

// HoldEvents keeps events back until ReleaseEvents. Interactions are not
// events: a person waits for their answer.
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
	for _, e := range held {
		s.dispatch(e)
	}
}

// Outage cuts every socket and refuses everything, or ends that.
func (s *Server) Outage(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outage = on
	if on {
		s.dropAll()
	}
	s.change()
}

// RejectV2 switches whether components v2 are refused.
func (s *Server) RejectV2(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cfg.RejectV2 = on
}

// Revoke makes the bot's token worthless: calls are answered 401 and the
// sockets closed with 4004.
func (s *Server) Revoke() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.revoked = true
	s.closeAll(closeAuth, "Authentication failed.")
}

// fault is what this call meets; the lock is held.
func (s *Server) fault(route string) Fault {
	for _, p := range s.faults {
		if p.left > 0 && (p.route == route || p.route == "*") {
			p.left--
			return p.fault
		}
	}
	c := s.cfg.Chaos
	switch {
	case s.roll(c.RateLimited):
		return RateLimited(s.delay())
	case s.roll(c.Unavailable):
		return Fault{Status: http.StatusBadGateway + s.dice.IntN(2)}
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
	f := EventFault{Twice: s.roll(c.TwiceEvent), DropSocket: s.roll(c.DropSocket)}
	if s.roll(c.LateEvent) {
		f.After = s.delay()
	}
	return f
}

func (s *Server) roll(p float64) bool { return p > 0 && s.dice.Float64() < p }

func (s *Server) delay() time.Duration {
	return time.Duration(s.dice.Int64N(int64(s.cfg.Chaos.Delay))) + 1
}
