package schedule

import (
	"time"
)

const (
	day = 86400 // seconds
	// horizon is how far a tick is looked for: a 29th of February may be eight
	// years after the one before, as in 2104.
	horizon = 9 * 366 * day
	star    = 1 << 63 // the field is a star (as robfig/cron marks it)
)

// pace is how the ticks go through a change of the clocks.
type pace uint8

const (
	fixed   pace = iota // fixed hours: by the clock on the wall
	stepped             // every so many hours
	flowing             // in every hour
)

// clock is what a wall clock shows at the ticks: a set of bits per field, as
// robfig/cron reads them. Moments on the wall are counted in seconds as if the
// wall stood in UTC.
type clock struct {
	second, minute, hour, dom, month, dow uint64
	last                                  bool // on the last day of a month
	pace                                  pace
}

// wall is the first moment of [from, to) that matches.
func (c clock) wall(from, to int64) (int64, bool) {
	for d := floor(from, day); d*day < to; d++ {
		if !c.onDay(d) {
			continue
		}
		if s, found := c.inDay(max(0, from-d*day)); found {
			return d*day + s, d*day+s < to
		}
	}
	return 0, false
}

// onDay reports whether the day, counted from 1970-01-01, matches. As in every
// cron, days of the month and of the week add up if both are given.
func (c clock) onDay(d int64) bool {
	date := time.Unix(d*day, 0).UTC()
	if !has(c.month, int(date.Month())) {
		return false
	}
	dom := has(c.dom, date.Day()) || (c.last && date.AddDate(0, 0, 1).Day() == 1)
	dow := has(c.dow, int(date.Weekday()))
	if (c.dom|c.dow)&star != 0 {
		return dom && dow
	}
	return dom || dow
}

// inDay is the first matching second of a day that is not before from.
func (c clock) inDay(from int64) (int64, bool) {
	h0, m0, s0 := int(from/3600), int(from/60%60), int(from%60)
	for h := after(c.hour, h0); h < 24; h = after(c.hour, h+1) {
		if h > h0 {
			m0, s0 = 0, 0
		}
		for m := after(c.minute, m0); m < 60; m = after(c.minute, m+1) {
			if h > h0 || m > m0 {
				s0 = 0
			}
			if s := after(c.second, s0); s < 60 {
				return int64(h*3600 + m*60 + s), true
			}
		}
	}
	return 0, false
}

// closest is the shortest distance of two consecutive ticks on the wall.
func (c clock) closest() int64 {
	nearest, first, last := c.inOneDay()
	previous := int64(-1)
	days := int64(horizon / day) // from matching day to matching day
	for d := int64(0); d < horizon/day && days > 1; d++ {
		if !c.onDay(d) {
			continue
		}
		if previous >= 0 {
			days = min(days, d-previous)
		}
		previous = d
	}
	return min(nearest, days*day-last+first)
}

// inOneDay are the shortest distance of the ticks of one day, and its first
// and last tick.
func (c clock) inOneDay() (nearest, first, last int64) {
	nearest = horizon
	first, found := c.inDay(0)
	for s := first; found && s < day; {
		last = s
		if s, found = c.inDay(last + 1); found {
			nearest = min(nearest, s-last)
		}
	}
	return nearest, first, last
}

// inHour is the shortest distance of the ticks that an hour has.
func (c clock) inHour() int64 {
	nearest, first, last := clock{second: c.second, minute: c.minute, hour: 1}.inOneDay()
	return min(nearest, 3600-last+first)
}

func has(set uint64, bit int) bool { return set&(1<<bit) != 0 }

// floor divides and rounds down, where Go rounds to zero.
func floor(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
