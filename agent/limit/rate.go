package limit

import "time"

// rate is one limit of a model: what may be asked of it in a minute. It is what
// the configuration says or, where that says nothing, the answers' headers; and
// less than that for a while after a refusal, which also teaches a limit that
// nobody knows.
type rate struct {
	told, heard float64 // a minute; 0: unknown

	// After a refusal: what was thought right then, and since when it grows again.
	ceiling float64
	since   time.Time

	seconds [window]struct {
		at int64 // since 1970
		n  int
	}
}

const (
	// used is the share of a limit that is asked for: endpoints count by clocks of
	// their own.
	used = 0.98
	// window is how many seconds an unknown rate is measured over.
	window = 10
	// decrease is what a refusal leaves of a rate that nobody told, caution of one
	// that somebody did; growth is the share that
	// comes back each second (additive increase, multiplicative decrease).
	decrease = 0.85
	caution  = 0.95
	growth   = 0.01
	// forget is by how much an unknown limit has grown when it is forgotten.
	forget = 3
	// slowest is what is asked in a minute at least where nobody told a limit: a
	// refusal of the first question teaches nothing.
	slowest = 30
	// settle is within what time refusals count as one.
	settle = 2 * time.Second
)

func (r *rate) known() float64 {
	if r.told > 0 {
		return r.told
	}
	return r.heard
}

// now is what may be asked in a minute at the time, 0: as much as one likes.
func (r *rate) now(at time.Time) float64 {
	known := r.known()
	if r.ceiling == 0 {
		return known
	}
	grown := r.ceiling * (1 + growth*at.Sub(r.since).Seconds())
	switch {
	case known > 0 && grown >= known, known == 0 && grown >= forget*r.ceiling:
		r.ceiling = 0
		return known
	}
	return grown
}

// takes is how long the limit needs to let so many through, 0: no time.
func (r *rate) takes(n int, at time.Time) time.Duration {
	a := r.now(at)
	if a == 0 || n <= 0 {
		return 0
	}
	return time.Duration(float64(n) * float64(time.Minute) / (a * used))
}

// answered counts what the endpoint let through.
func (r *rate) answered(n int, at time.Time) {
	s := &r.seconds[at.Unix()%window]
	if s.at != at.Unix() {
		s.at, s.n = at.Unix(), 0
	}
	s.n += n
}

// measured is what was let through in the last seconds, as a rate a minute.
func (r *rate) measured(at time.Time) float64 {
	sum, first := 0, at.Unix()
	for _, s := range r.seconds {
		if s.n > 0 && at.Unix()-s.at < window {
			sum, first = sum+s.n, min(first, s.at)
		}
	}
	return float64(sum) * 60 / float64(at.Unix()-first+1)
}

// refused asks for less.
func (r *rate) refused(at time.Time) {
	if r.ceiling > 0 && at.Sub(r.since) < settle {
		return
	}
	a, less := r.now(at), caution
	if r.known() == 0 {
		less = decrease
	}
	if a == 0 {
		a = max(r.measured(at), slowest/decrease)
	}
	r.ceiling, r.since = max(a*less, r.known()/20), at
}
