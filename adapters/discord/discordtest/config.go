package discordtest

import "time"

// Config says what kind of Discord New opens. The zero value is one with
// Discord's own limits, reached through the gateway, that grants no privileged
// intent.
type Config struct {
	Addr       string        // where to listen; default 127.0.0.1:0
	Deliver    string        // base URL of signed HTTP interactions; empty: over the gateway
	Privileged int           // the privileged intents that are granted; default none
	Limits     Limits        // the zero value enforces Discord's own
	AckWithin  time.Duration // how long the answer to an interaction may take; default 3 s
	TokenLife  time.Duration // of an interaction's token; default 15 min
	NonceLife  time.Duration // how long a nonce is remembered; default 5 min
	Heartbeat  time.Duration // interval of the gateway; default 41.25 s
	ResumeLife time.Duration // how long a lost session may be resumed; default 3 min
	RejectV2   bool          // components v2 are refused, as in older places
	Chaos      Chaos
}

// Rate is so many calls in each window.
type Rate struct {
	N   int
	Per time.Duration
}

// Limits are the rate limits. The zero value means Discord's own.
type Limits struct {
	Off    bool
	Global int             // calls a second; default 50
	Routes map[string]Rate // by route; instead of Discord's own
}

// Chaos are probabilities (0 to 1) of random faults, drawn from Seed.
type Chaos struct {
	Seed uint64

	RateLimited float64 // a call is answered 429
	Unavailable float64 // a call is answered 502 or 503, and nothing happened
	LostRequest float64 // a call is cut before anything happened
	LostAnswer  float64 // a call is accepted, and the connection cut
	LateAnswer  float64 // a call is accepted at once and answered late
	LateAccept  float64 // a call is accepted late

	TwiceEvent float64 // an event is delivered twice
	LateEvent  float64 // an event is delivered late, so perhaps after the next
	DropSocket float64 // the sockets are cut after an event was sent on them

	Delay time.Duration // how late at most; default 300 ms
}

func (c Config) withDefaults() Config {
	def(&c.Addr, "127.0.0.1:0")
	def(&c.AckWithin, 3*time.Second)
	def(&c.TokenLife, 15*time.Minute)
	def(&c.NonceLife, 5*time.Minute)
	def(&c.Heartbeat, 41250*time.Millisecond)
	def(&c.ResumeLife, 3*time.Minute)
	def(&c.Chaos.Delay, 300*time.Millisecond)
	c.Limits = c.Limits.withDefaults()
	return c
}

func (l Limits) withDefaults() Limits {
	def(&l.Global, 50)
	return l
}

func def[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}
