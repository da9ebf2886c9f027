package schedule

import (
	"time"
)

// Which tick is to be served now, and which ones were missed.

// Missed is what happens to a tick that came while nobody was there to serve it.
type Missed string

// What config calls missed.
const (
	Late Missed = "late" // the newest is served late; the zero value means the same
	Skip Missed = "skip" // none is served; the next one is
)

const (
	listed  = 10   // missed ticks that a Turn names
	counted = 1000 // missed ticks that a Turn counts
)

// Turn is what is to be done now. Each tick is served or missed, never both.
type Turn struct {
	// Tick is the one tick to serve; zero: none.
	Tick time.Time
	// Late says that the tick is served although it is older than the grace.
	Late bool
	// Missed are the newest of the ticks that nobody serves, oldest first, at
	// most ten.
	Missed []time.Time
	// Count is how many ticks nobody serves; 1000 stands for 1000 or more.
	Count int
	// Until is the newest tick that this turn handles, served or missed: the
	// next one's last. It is zero when nothing was due.
	Until time.Time
}

// Due says what is to be done at now. The ticks after last (the newest one that
// was handled, or the time of creation; not zero) until now are due. The newest
// is served if it is on time, that is at most grace ago; if it is not, the
// policy decides. Older ones are missed in any case. The work is bounded,
// however long ago last was.
func Due(w When, last, now time.Time, grace time.Duration, policy Missed) Turn {
	newest := latest(w, last, now)
	if newest.IsZero() {
		return Turn{}
	}
	turn := Turn{Until: newest}
	missed := now
	late := now.Sub(newest) > grace
	if !late || policy != Skip {
		turn.Tick, turn.Late = newest, late
		missed = newest.Add(-time.Second)
	}
	for tick := w.Next(last); turn.Count < counted && !tick.IsZero() && !tick.After(missed); tick = w.Next(tick) {
		turn.Count++
	}
	for tick := latest(w, last, missed); len(turn.Missed) < listed && !tick.IsZero(); tick = latest(w, last, tick.Add(-time.Second)) {
		turn.Missed = append([]time.Time{tick}, turn.Missed...)
	}
	return turn
}

// latest is the newest tick after last that is not after now; zero if there is
// none. It halves the time instead of walking along it.
func latest(w When, last, now time.Time) time.Time {
	due := func(at int64) (time.Time, bool) {
		tick := w.Next(time.Unix(at, 0))
		return tick, !tick.IsZero() && !tick.After(now)
	}
	from, to := last.Unix(), now.Unix()
	tick, found := due(from)
	if !found {
		return time.Time{}
	}
	for from+1 < to {
		middle := from + (to-from)/2
		if later, found := due(middle); found {
			tick, from = later, middle
		} else {
			to = middle
		}
	}
	return tick
}
