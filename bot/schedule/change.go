package schedule

import (
	"math"
	"time"
)

// Days on which the clocks of a zone change.

// stretch is a time between two changes of a zone's clocks, in Unix seconds.
type stretch struct {
	start, end     int64
	offset, before int64 // of the wall from UTC, here and before start
}

func stretchAt(at int64, zone *time.Location) stretch {
	t := time.Unix(at, 0).In(zone)
	_, offset := t.Zone()
	s := stretch{start: math.MinInt64 / 2, end: math.MaxInt64 / 2, offset: int64(offset), before: int64(offset)}
	start, end := t.ZoneBounds()
	if !start.IsZero() {
		_, before := start.Add(-time.Second).Zone()
		s.start, s.before = start.Unix(), int64(before)
	}
	if !end.IsZero() {
		s.end = end.Unix()
		if s.end <= at { // ZoneBounds takes leap years for 365 days: on their last day its end is the day's beginning
			s.end = max(s.end+day, at+1)
		}
	}
	return s
}

// next is the first tick after the moment.
func (c clock) next(after time.Time, zone *time.Location) time.Time {
	at := after.Unix()
	limit := at + horizon
	for at < limit {
		s := stretchAt(at+1, zone)
		s.end = min(s.end, limit)
		if tick, found := c.within(s, at); found {
			return time.Unix(tick, 0).In(zone)
		}
		at = s.end - 1
		if s.end == limit {
			break
		}
	}
	return time.Time{}
}

// within is the first tick of the stretch that is later than at.
func (c clock) within(s stretch, at int64) (int64, bool) {
	from := max(at+1, s.start)
	if again := s.start + s.before - s.offset; from < again && !c.repeats(s) {
		from = again
	}
	tick, found := c.wall(from+s.offset, s.end+s.offset)
	tick -= s.offset
	if late, missing := c.skipped(s, at); missing && late < s.end && (!found || late < tick) {
		return late, true
	}
	return tick, found
}

// repeats reports whether what the clock shows twice ticks twice: only where
// every hour that passes has its ticks, and not sooner than they usually are
// apart (an island sets its clock back by half an hour).
func (c clock) repeats(s stretch) bool {
	return c.pace == flowing && s.before-s.offset >= c.inHour()
}

// skipped is the first tick after at that stands for what the clock never
// showed, because it was set forward at the start of the stretch.
func (c clock) skipped(s stretch, at int64) (int64, bool) {
	from, to := s.start+s.before, s.start+s.offset
	if at >= s.start+to-from {
		return 0, false
	}
	if c.pace == stepped { // each where the old clock would have shown it
		from = max(from, at+1+s.before)
	}
	missing, found := c.wall(from, to)
	tick := missing - s.before
	if c.pace == fixed {
		tick = s.start
	}
	return tick, found && tick > at
}
