package schedule

// This file reads moments that come one time: "tomorrow at 9:00", "next Friday at
// 14:00", "on 2026-12-24 at 9:00", "in 90 minutes". They count from the anchor
// and become a date with a time of day, which is their canonical text.

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
)

// once is a moment as it was said: a day and a time of it, or a distance.
type once struct {
	said  string
	after time.Duration // from the anchor; 0: the day says
	days  int           // from the anchor's day
	week  int           // 1 + the weekday that comes next, behind the anchor's day; 0: none
	date  time.Time     // in UTC, whose date counts; zero: none
	time  daytime
}

var dateShape = regexp.MustCompile(`^(\d{4})-(\d{2})-(\d{2})$`)

// longestOnce is how far ahead something can be put.
const longestOnce = 366 * 24 * time.Hour

// once steps over a moment that comes one time; nil if it is at something else.
func (r *reader) once() (*once, error) {
	mark := r.i
	o, err := r.later()
	if o != nil || err != nil {
		return o, err
	}
	times, err := r.times(false) // "at 9:00 tomorrow"
	if err == nil && len(times) == 1 {
		r.accept(",")
		if o = r.onceDay(); o != nil {
			o.time = times[0]
			return o, nil
		}
	}
	r.i = mark
	r.accept("once")
	if o = r.onceDay(); o == nil {
		r.i = mark
		return nil, nil //nolint:nilnil // it comes again, or is no schedule
	}
	switch times, err = r.times(true); {
	case err != nil:
		return nil, fmt.Errorf("%q was understood, but %w", o.said, err)
	case len(times) != 1:
		return nil, fmt.Errorf(`%q needs one time of day: write for example "%s at 9:00"`, o.said, o.said)
	}
	o.time = times[0]
	return o, nil
}

// later steps over "in 90 minutes", "in 3 days".
func (r *reader) later() (*once, error) {
	mark := r.i
	if !r.accept("in") {
		return nil, nil //nolint:nilnil // something else follows
	}
	number, unit := r.peek(0), r.peek(1)
	step := 2
	if m := lengthShape.FindStringSubmatch(number); m != nil {
		number, unit, step = m[1], m[2], 1
	} else if number == "a" || number == "an" {
		number = "1"
	}
	n := numberOf(number)
	length, known := units[unit]
	switch unit {
	case "d", "day", "days":
		length, known = 24*time.Hour, true
	case "week", "weeks":
		length, known = 7*24*time.Hour, true
	}
	if n <= 0 || !known {
		r.i = mark
		return nil, nil //nolint:nilnil // "in Berlin", say
	}
	r.i += step
	said := "in " + number + " " + unit
	if length*time.Duration(n) > longestOnce {
		return nil, fmt.Errorf("%q is more than a year ahead", said)
	}
	o := &once{said: said, after: length * time.Duration(n)}
	if length < 24*time.Hour {
		return o, nil
	}
	o.days, o.after = int(length/(24*time.Hour))*n, 0
	times, err := r.times(true)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q was understood, but %w", said, err)
	case len(times) != 1:
		return nil, fmt.Errorf(`%q needs one time of day: write for example "%s at 9:00"`, said, said)
	}
	o.time = times[0]
	return o, nil
}

// onceDay steps over a day that comes one time, nil if none follows.
func (r *reader) onceDay() *once {
	mark := r.i
	r.accept("on")
	switch {
	case r.accept("today", "tonight"):
		return &once{said: "today"}
	case r.accept("tomorrow"):
		return &once{said: "tomorrow", days: 1}
	case r.peek(0) == "next" && dayOf(r.peek(1)) >= 0:
		week := dayOf(r.peek(1))
		r.i += 2
		return &once{said: "next " + weekdays[week], week: 1 + week}
	}
	if date, err := time.Parse(time.DateOnly, r.peek(0)); err == nil && dateShape.MatchString(r.peek(0)) {
		r.i++
		return &once{said: "on " + date.Format(time.DateOnly), date: date}
	}
	r.i = mark
	return nil
}

// on is the schedule that ticks at the moment, as the clock in the zone shows it.
func (o *once) on(zone *time.Location, anchor time.Time) (When, error) {
	from := anchor.In(zone)
	at := from.Add(o.after)
	if o.after == 0 {
		day := from
		switch {
		case !o.date.IsZero():
			day = o.date
		case o.week > 0:
			o.days = (o.week-1-int(from.Weekday())+6)%7 + 1
		}
		at = time.Date(day.Year(), day.Month(), day.Day()+o.days, o.time.hour, o.time.minute, 0, 0, zone)
	} else if at.Second() > 0 || at.Nanosecond() > 0 {
		at = at.Truncate(time.Second).Add(time.Duration(60-at.Second()) * time.Second)
	}
	switch {
	case !at.After(anchor):
		return When{}, fmt.Errorf("%s at %s is over already", o.said, o.time)
	case o.date.IsZero() && at.Sub(anchor) > longestOnce+48*time.Hour:
		return When{}, fmt.Errorf("%q is more than a year ahead", o.said)
	}
	text := "on " + at.Format(time.DateOnly) + " at " + strconv.Itoa(at.Hour()) + at.Format(":04")
	return When{text: text, spoken: true, zone: zone, once: at.Unix()}, nil
}
