package platformtest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"
)

// Fault is what happens to a call of the API instead of an answer, or beside it.
type Fault struct {
	Status      int             // answered with this status, and nothing happened
	RetryAfter  time.Duration   // with Status 429
	Global      bool            // with Status 429, on Discord: no route may be called
	Error       string          // of Slack: answered {"ok":false,"error":Error}, and nothing happened
	Code        int             // of Discord; with Status, or 400 without
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

// EventFault is what happens to an event on its way to the app.
type EventFault struct {
	Twice      bool          // delivered a second time; on Slack with the same event id
	After      time.Duration // delivered this late
	LostAck    bool          // on Slack: the first acknowledgement is not seen, so it is redelivered
	DropSocket bool          // the socket is cut after it was sent (on Discord all of them)
}

// Chaos are probabilities (0 to 1) of random faults, drawn from Seed.
type Chaos struct {
	Seed uint64

	RateLimited float64 // a call is answered 429
	Unavailable float64 // a call is answered 503 (on Discord 502 or 503), and nothing happened
	LostRequest float64 // a call is cut before anything happened
	LostAnswer  float64 // a call is accepted, and the connection cut
	LateAnswer  float64 // a call is accepted at once and answered late
	LateAccept  float64 // a call is accepted late

	TwiceEvent float64 // an event is delivered twice
	LateEvent  float64 // an event is delivered late, so perhaps after the next
	LostAck    float64 // an acknowledgement is not seen: the event is redelivered (on Slack)
	DropSocket float64 // the socket is cut after an event was sent on it

	Delay time.Duration // how late at most; default 300 ms
}

// WithDefaults is the same with the default delay.
func (c Chaos) WithDefaults() Chaos {
	Default(&c.Delay, 300*time.Millisecond)
	return c
}

// Faults are what goes wrong on a server, planned and at random.
type Faults struct {
	core    *Core
	chaos   Chaos
	dice    *rand.Rand
	planned []*planned
	events  []*plannedEvent
	held    []func()
	holding bool
	outage  bool
}

type planned struct {
	name  string
	left  int
	fault Fault
}

type plannedEvent struct {
	left  int
	fault EventFault
}

// Plan lets the next n calls of a name (or of "*") meet a fault.
func (f *Faults) Plan(name string, n int, fault Fault) {
	f.core.Mu.Lock()
	defer f.core.Mu.Unlock()
	f.planned = append(f.planned, &planned{name, n, fault})
}

// FailEvents lets the next n things that people do meet a fault on their way to
// the app.
func (f *Faults) FailEvents(n int, fault EventFault) {
	f.core.Mu.Lock()
	defer f.core.Mu.Unlock()
	f.events = append(f.events, &plannedEvent{n, fault})
}

// Forget forgets every planned fault and stops the random ones; the lock is held.
func (f *Faults) Forget() {
	f.planned, f.events = nil, nil
	f.chaos = Chaos{Delay: f.chaos.Delay}
}

// HoldEvents keeps events back until ReleaseEvents. Commands, clicks and forms
// are not events: a person waits for their answer.
func (f *Faults) HoldEvents() {
	f.core.Mu.Lock()
	defer f.core.Mu.Unlock()
	f.holding = true
}

// ReleaseEvents delivers what was kept back, in the given order of arrival, or
// the other way round.
func (f *Faults) ReleaseEvents(reversed bool) {
	f.core.Mu.Lock()
	defer f.core.Mu.Unlock()
	held := f.held
	f.held, f.holding = nil, false
	if reversed {
		slices.Reverse(held)
	}
	for _, send := range held {
		send()
	}
}

// Held keeps an event back if events are; the lock is held.
func (f *Faults) Held(send func()) bool {
	if f.holding {
		f.held = append(f.held, send)
	}
	return f.holding
}

// Outage cuts every socket and refuses everything, or ends that.
func (f *Faults) Outage(on bool) {
	f.core.Mu.Lock()
	defer f.core.Mu.Unlock()
	f.outage = on
	if on {
		f.core.cut()
	}
	f.core.Change()
}

// OfCall is what a call meets; the lock is held.
func (f *Faults) OfCall(name string) Fault {
	if f.outage {
		return LostRequest()
	}
	for _, p := range f.planned {
		if p.left > 0 && (p.name == name || p.name == "*") {
			p.left--
			return p.fault
		}
	}
	c := f.chaos
	switch {
	case f.roll(c.RateLimited):
		return RateLimited(f.delay())
	case f.roll(c.Unavailable):
		return Unavailable()
	case f.roll(c.LostRequest):
		return LostRequest()
	case f.roll(c.LostAnswer):
		return LostAnswer()
	case f.roll(c.LateAnswer):
		return Fault{AnswerAfter: f.delay()}
	case f.roll(c.LateAccept):
		return Fault{AcceptAfter: f.delay()}
	default:
		return Fault{}
	}
}

// OfEvent is what an event meets; the lock is held.
func (f *Faults) OfEvent() EventFault {
	for _, p := range f.events {
		if p.left > 0 {
			p.left--
			return p.fault
		}
	}
	c := f.chaos
	fault := EventFault{Twice: f.roll(c.TwiceEvent), LostAck: f.roll(c.LostAck), DropSocket: f.roll(c.DropSocket)}
	if f.roll(c.LateEvent) {
		fault.After = f.delay()
	}
	return fault
}

func (f *Faults) roll(p float64) bool { return p > 0 && f.dice.Float64() < p }

func (f *Faults) delay() time.Duration {
	return time.Duration(f.dice.Int64N(int64(f.chaos.Delay))) + 1
}
