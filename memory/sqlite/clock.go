package sqlite

// Time that never goes back.

import (
	"math"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// stampLayout is RFC 3339 with all nine decimals, in UTC: a person can read it,
// and it sorts as text.
const stampLayout = "2006-01-02T15:04:05.000000000Z"

// clock is the store's clock, in nanoseconds since 1970. It never goes back in
// a process: when the wall clock is set back it goes on at 7/8 of the speed until
// the wall clock has caught up. A clock that stands still ends no lease, and one
// that follows makes what was due wait for the step. It begins at the newest
// event of the file where the clock was set back while no process was there.
type clock struct {
	mu   sync.Mutex
	last int64
	read time.Time
}

func (c *clock) now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := time.Now()
	if c.read.IsZero() {
		c.read = t
	}
	c.last = advance(c.last, t.UnixNano(), t.Sub(c.read))
	c.read = t
	return c.last
}

// advance is the next reading after last, with the wall clock at wall and so
// much time passed between the readings.
func advance(last, wall int64, passed time.Duration) int64 {
	return max(wall, last+int64(max(passed, 0))/8*7)
}

// stamp is a reading as the time that callers see.
func stamp(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// never is the due time of a strand that is parked.
const never = math.MaxInt64

// due is a wake-up time as a reading not before now: what has been due for
// longer would otherwise always come first.
func due(t time.Time, now int64) int64 {
	switch {
	case t.Equal(agent.Parked), t.Year() > 2261: // where nanoseconds since 1970 end
		return never
	case t.Year() < 1970:
		return now
	}
	return max(t.UnixNano(), now)
}
