package llmtest

// An endpoint with limits, as OpenAI and others have them, and with outages.

import (
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Limits are what an endpoint takes in a minute. The zero Limits are none.
type Limits struct {
	// Requests and Tokens are taken in each Minute; 0: as many as one likes. The
	// tokens of a request are those of its prompt, by bytes/4, and its max_tokens.
	Requests, Tokens int
	// Minute is how long a minute is. Zero: a minute.
	Minute time.Duration
	// Fixed counts in minutes by the clock. Else it is a bucket that fills as time
	// passes and holds Burst of what a minute gives, 0: a whole minute.
	Fixed bool
	Burst float64
	// Silent sends no x-ratelimit headers.
	Silent bool
}

// Count is what an endpoint did.
type Count struct {
	Answered int // let through to the script
	Limited  int // answered 429
	Away     int // met an outage
}

// Limited is a script behind limits. It may be called from many goroutines.
type Limited struct {
	limits Limits
	script Script
	now    func() time.Time

	mu       sync.Mutex
	requests bucket
	tokens   bucket
	count    Count
	at       []time.Time // of what was let through
	outage   func(Request) Reply
}

// bucket is what is left of one limit.
type bucket struct {
	left   float64
	filled time.Time // for a fixed minute: its beginning
}

// NewLimited puts limits in front of a script.
func NewLimited(limits Limits, script Script) *Limited {
	if limits.Minute <= 0 {
		limits.Minute = time.Minute
	}
	if limits.Burst <= 0 || limits.Fixed {
		limits.Burst = 1
	}
	return &Limited{limits: limits, script: script, now: time.Now}
}

// Away makes the endpoint answer like this until Back: Unavailable, Overloaded,
// Closed, or a Cut answer.
func (l *Limited) Away(how func(Request) Reply) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outage = how
}

// Back ends an outage.
func (l *Limited) Back() { l.Away(nil) }

// Count is what it did so far.
func (l *Limited) Count() Count {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

// Times are when requests were let through, in order.
func (l *Limited) Times() []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]time.Time(nil), l.at...)
}

// Script is the script with the limits.
func (l *Limited) Script(r Request) Reply {
	l.mu.Lock()
	if how := l.outage; how != nil {
		l.count.Away++
		l.mu.Unlock()
		return how(r)
	}
	now := l.now()
	tokens := float64((len(r.Body)+3)/4 + r.MaxTokens)
	wait, what := max(l.requests.wait(l.limits, l.limits.Requests, 1, now), 0), "requests"
	if more := l.tokens.wait(l.limits, l.limits.Tokens, tokens, now); more > wait {
		wait, what = more, "tokens"
	}
	if wait == 0 {
		l.requests.left--
		l.tokens.left -= tokens
		l.count.Answered++
		l.at = append(l.at, now)
	} else {
		l.count.Limited++
	}
	header := l.header(now)
	l.mu.Unlock()
	var reply Reply
	if wait > 0 {
		reply = RateLimited(wait)
		reply.Type, reply.Message = what, fmt.Sprintf("Rate limit reached for %s on %s per min. Please try again in %s.", r.Model, what, wait.Round(time.Millisecond))
	} else {
		reply = l.script(r)
	}
	if reply.Header == nil {
		reply.Header = http.Header{}
	}
	maps.Copy(reply.Header, header)
	return reply
}

// wait fills the bucket and says how long so much has to wait, 0: it is there.
func (b *bucket) wait(l Limits, limit int, n float64, now time.Time) time.Duration {
	if limit <= 0 {
		return 0
	}
	room := float64(limit) * l.Burst
	switch {
	case b.filled.IsZero():
		b.left, b.filled = room, now
		if l.Fixed {
			b.filled = now.Truncate(l.Minute)
		}
	case l.Fixed && now.Sub(b.filled) >= l.Minute:
		b.left, b.filled = room, now.Truncate(l.Minute)
	case !l.Fixed:
		b.left = min(room, b.left+float64(limit)*float64(now.Sub(b.filled))/float64(l.Minute))
		b.filled = now
	}
	if n = min(n, room); b.left >= n {
		return 0
	}
	if l.Fixed {
		return max(b.filled.Add(l.Minute).Sub(now), time.Millisecond)
	}
	return max(time.Duration((n-b.left)/float64(limit)*float64(l.Minute)), time.Millisecond)
}

// header is what OpenAI sends beside each answer.
func (l *Limited) header(now time.Time) http.Header {
	h := http.Header{}
	if l.limits.Silent {
		return h
	}
	add := func(what string, limit int, b bucket) {
		if limit <= 0 {
			return
		}
		reset := time.Duration((float64(limit) - b.left) / float64(limit) * float64(l.limits.Minute))
		if l.limits.Fixed {
			reset = b.filled.Add(l.limits.Minute).Sub(now)
		}
		h.Set("X-Ratelimit-Limit-"+what, strconv.Itoa(limit))
		h.Set("X-Ratelimit-Remaining-"+what, strconv.Itoa(max(int(b.left), 0)))
		h.Set("X-Ratelimit-Reset-"+what, max(reset, 0).Round(time.Millisecond).String())
	}
	add("Requests", l.limits.Requests, l.requests)
	add("Tokens", l.limits.Tokens, l.tokens)
	return h
}

// Overloaded is a 529 as Anthropic's gateways send it.
func Overloaded() Reply {
	return Reply{Status: 529, Type: "overloaded_error", Message: "Overloaded"}
}

// BrokenOff is an answer whose stream breaks off in its middle.
func BrokenOff(Request) Reply {
	r := Cut(Say("This answer is going to be longer than what arrives of it, by far, and then some."), 400)
	r.Chunk, r.Usage = 8, llm.Usage{Prompt: 1, Completion: 1}
	return r
}
