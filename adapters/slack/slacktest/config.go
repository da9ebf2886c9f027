package slacktest

import (
	"time"

	"github.com/deckhand-bot/deckhand/adapters/platformtest"
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

type (
	// Fault is what happens to a call instead of an answer, or beside it.
	Fault = platformtest.Fault
	// EventFault is what happens to an event on its way to the app.
	EventFault = platformtest.EventFault
	// Chaos are probabilities of random faults.
	Chaos = platformtest.Chaos
)

// The faults of every platform.
var (
	RateLimited = platformtest.RateLimited
	Unavailable = platformtest.Unavailable
	LostAnswer  = platformtest.LostAnswer
	LostRequest = platformtest.LostRequest
)

// APIError answers with an error of Slack's.
func APIError(code string) Fault { return Fault{Error: code} }

func (c Config) withDefaults() Config {
	platformtest.Default(&c.Addr, "127.0.0.1:0")
	platformtest.Default(&c.AckWithin, 3*time.Second)
	platformtest.Default(&c.PingEvery, 5*time.Second)
	platformtest.Default(&c.Refresh, time.Second)
	platformtest.Default(&c.TriggerLife, 3*time.Second)
	platformtest.Default(&c.HookLife, 30*time.Minute)
	c.Chaos = c.Chaos.WithDefaults()
	if c.Redeliver == nil {
		c.Redeliver = []time.Duration{5 * time.Millisecond, time.Second, 5 * time.Second}
	}
	c.Limits = c.Limits.withDefaults()
	return c
}

func (l Limits) withDefaults() Limits {
	platformtest.Default(&l.PostEvery, time.Second)
	platformtest.Default(&l.PostBurst, 5)
	return l
}
