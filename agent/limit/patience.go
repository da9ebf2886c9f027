package limit

import (
	"math/rand/v2"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
)

// Patience is how an endpoint is met that is limited or away. The zero Patience
// gives up at once.
type Patience struct {
	// Wait is how long a strand asks again before its run pauses; 0: its call
	// fails after Retries further tries.
	Wait time.Duration
	// Retries counts the tries after the first one. Where Wait is set, they bound
	// only how often an endpoint is tried that nobody ever heard of.
	Retries int
	// Longest bounds the pause between two tries that the endpoint did not ask
	// for. Zero: a minute.
	Longest time.Duration
	// Refusals bounds the pause between two tries of an endpoint that refuses what
	// only a person can mend, such as a key; within Wait it is tried again all the
	// same. 0: it is not.
	Refusals time.Duration
}

// Choice is what becomes of a question that came to nothing.
type Choice int

// What becomes of it: it is put again, it fails, or its run pauses.
const (
	Again Choice = iota
	Fail
	Pause
)

// The longest pauses after the first try: of an endpoint that may answer any
// moment, and of one that waits for a person.
const (
	firstPause   = time.Second
	firstRefusal = time.Minute
)

// Waits reports whether a question that came to nothing is put again at all.
func (p Patience) Waits(fault *llm.Error) bool {
	return fault.Passing() || fault.Refused() && p.Refusals > 0 && p.Wait > 0
}

// Next decides about a question that came to nothing at the time, after those
// before it in a row: whether it is put again, and when. Unheard says that the
// endpoint has never answered anybody.
func (p Patience) Next(before agent.Retry, fault *llm.Error, unheard bool, now time.Time) (Choice, time.Time) {
	tries, since := before.Tries+1, before.Since
	if before.Tries == 0 {
		since = now
	}
	switch {
	case p.Wait <= 0 && tries > p.Retries:
		return Fail, time.Time{}
	case p.Wait <= 0:
	case now.Sub(since) >= p.Wait, unheard && tries > p.Retries:
		return Pause, now
	}
	first, longest := firstPause, p.Longest
	if fault.Refused() {
		first, longest = firstRefusal, p.Refusals
	}
	at := now.Add(pause(tries, first, longest, fault.RetryAfter))
	if last := since.Add(p.Wait); p.Wait > 0 && at.After(last) {
		at = last // the last try is not put off beyond the patience
	}
	return Again, at
}

// pause is how long to wait after so many tries: from half of first · 2^(tries-1)
// to the whole of it, at most longest; what the endpoint asked for where that is
// more. The half that is drawn keeps apart what failed together, and so does the
// quarter on top of what the endpoint asked of everybody.
func pause(tries int, first, longest, asked time.Duration) time.Duration {
	if longest <= 0 {
		longest = time.Minute
	}
	top := longest
	if shift := tries - 1; shift < 20 {
		top = min(first<<shift, longest)
	}
	own := top/2 + rand.N(top/2+1)
	if asked <= 0 {
		return own
	}
	return max(own, asked+rand.N(max(asked/4, time.Second)))
}
