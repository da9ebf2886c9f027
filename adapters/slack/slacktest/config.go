package slacktest

import (
	"slices"
	"strings"
	"time"
)

// Config says what kind of workspace New opens. The zero value is one with
// Slack's own limits, reached through Socket Mode, whose redeliveries are fast.
type Config struct {
	Addr        string          // where to listen; default 127.0.0.1:0
	Deliver     string          // base URL of signed HTTP deliveries; empty: Socket Mode
	Scopes      []string        // what the bot token may do; default AllScopes()
	Limits      Limits          // the zero value enforces Slack's own
	AckWithin   time.Duration   // how long an acknowledgement may take; default 3 s
	Redeliver   []time.Duration // pauses before the redeliveries; default 5 ms, 1 s, 5 s; see SlackRedelivery
	PingEvery   time.Duration   // pings of the socket; default 5 s
	Refresh     time.Duration   // from refresh_requested to the cut; default 1 s (Slack: about 10 s)
	TriggerLife time.Duration   // default 3 s
	HookLife    time.Duration   // of a response_url; default 30 min
	Mentions    Mentions        // which events a mention causes; default BothEvents
	NoEcho      bool            // the bot does not hear its own messages
	Chaos       Chaos
}

// Mentions says which events a mention of the bot in a channel causes.
type Mentions int

// A mention arrives as app_mention and as message, with two event ids, unless
// the app subscribed to one of them only.
const (
	BothEvents Mentions = iota
	MessageFirst
	OnlyAppMention
	OnlyMessage
)

// SlackRedelivery is Slack's own pace: at once, after a minute, after five.
func SlackRedelivery() []time.Duration {
	return []time.Duration{0, time.Minute, 5 * time.Minute}
}

// Limits are the rate limits. The zero value means Slack's own.
type Limits struct {
	Off       bool
	PostEvery time.Duration  // chat.postMessage, per channel; default 1 s
	PostBurst int            // default 5
	PerMinute map[string]int // by method; instead of the tier's
}

// Chaos are probabilities (0 to 1) of random faults, drawn from Seed.
type Chaos struct {
	Seed uint64

	RateLimited float64 // a call is answered 429
	Unavailable float64 // a call is answered 503, and nothing happened
	LostRequest float64 // a call is cut before anything happened
	LostAnswer  float64 // a call is accepted, and the connection cut
	LateAnswer  float64 // a call is accepted at once and answered late
	LateAccept  float64 // a call is accepted late

	TwiceEvent float64 // an event is delivered twice
	LateEvent  float64 // an event is delivered late, so perhaps after the next
	LostAck    float64 // an acknowledgement is not seen: the event is redelivered
	DropSocket float64 // the socket is cut after an event was sent on it

	Delay time.Duration // how late at most; default 300 ms
}

func (c Config) withDefaults() Config {
	def(&c.Addr, "127.0.0.1:0")
	def(&c.AckWithin, 3*time.Second)
	def(&c.PingEvery, 5*time.Second)
	def(&c.Refresh, time.Second)
	def(&c.TriggerLife, 3*time.Second)
	def(&c.HookLife, 30*time.Minute)
	def(&c.Chaos.Delay, 300*time.Millisecond)
	if c.Scopes == nil {
		c.Scopes = AllScopes()
	}
	if c.Redeliver == nil {
		c.Redeliver = []time.Duration{5 * time.Millisecond, time.Second, 5 * time.Second}
	}
	c.Limits = c.Limits.withDefaults()
	return c
}

func (l Limits) withDefaults() Limits {
	def(&l.PostEvery, time.Second)
	def(&l.PostBurst, 5)
	return l
}

func def[T comparable](p *T, v T) {
	var zero T
	if *p == zero {
		*p = v
	}
}

// AllScopes is every scope that a method of this server asks for.
func AllScopes() []string {
	var out []string
	for _, m := range methods() {
		if rest, ok := strings.CutPrefix(m.scope, "*:"); ok {
			for _, kind := range scopeOf {
				out = append(out, kind+":"+rest)
			}
		} else if m.scope != "" {
			out = append(out, m.scope)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
