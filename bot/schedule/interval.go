package schedule

// This file reads intervals in words, such as "hourly" or "every 90 minutes",
// and decides whether they tick by the clock on the wall or count from the
// schedule's start.

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// Times that come again after a while: "hourly", "every 90m".

var (
	lengthShape = regexp.MustCompile(`^(\d{1,6})([a-z]+)$`)
	units       = map[string]time.Duration{
		"s": time.Second, "sec": time.Second, "secs": time.Second, "second": time.Second, "seconds": time.Second,
		"m": time.Minute, "min": time.Minute, "mins": time.Minute, "minute": time.Minute, "minutes": time.Minute,
		"h": time.Hour, "hr": time.Hour, "hrs": time.Hour, "hour": time.Hour, "hours": time.Hour,
	}
	numbers = []string{"", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	larger  = []string{"d", "day", "days", "week", "weeks", "month", "months", "year", "years"}
)

// interval steps over "hourly", "every minute", "every 2 hours", "every 90m";
// the zero When if it is at something else.
func (r *reader) interval() (When, error) {
	if r.accept("hourly") {
		return regular(time.Hour)
	}
	mark := r.i
	if !r.accept("every", "each") {
		return When{}, nil
	}
	if unit, known := units[r.peek(0)]; known && unit > time.Second && len(r.peek(0)) > 1 {
		r.i++
		return regular(unit)
	}
	number, unit := r.peek(0), r.peek(1)
	if m := lengthShape.FindStringSubmatch(number); m != nil {
		number, unit = m[1], m[2]
		r.i--
	}
	n := numberOf(number)
	switch d, known := units[unit]; {
	case n >= 0 && known:
		r.i += 2
		return regular(time.Duration(n) * d)
	case (unit != "" && (number == "other" || number == "second")) || (n >= 0 && slices.Contains(larger, unit)):
		return When{}, fmt.Errorf(`"every %s %s" is not possible, it would lose count: name the days, for example "every Monday and Thursday at 9:00", or count from now with "@every 48h"`, number, unit)
	}
	r.i = mark
	return When{}, nil
}

// numberOf is a number in figures or in a word, -1 for anything else.
func numberOf(word string) int {
	if n := slices.Index(numbers, word); n >= 1 {
		return n
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < 0 || n > 999999 {
		return -1
	}
	return n
}

// regular is the schedule that ticks by the clock if its hours or days are made
// of whole steps, and from the anchor on if they are not.
func regular(d time.Duration) (When, error) {
	var line string
	switch {
	case d > 0 && d < time.Hour && d%time.Minute == 0 && time.Hour%d == 0:
		line = fmt.Sprintf("*/%d * * * *", d/time.Minute)
	case d > 0 && d < 24*time.Hour && d%time.Hour == 0 && (24*time.Hour)%d == 0:
		line = fmt.Sprintf("0 */%d * * *", d/time.Hour)
	default:
		return distance(d)
	}
	c, err := fields(line)
	return When{text: "every " + spoken(int64(d/time.Second)), spoken: true, clock: c}, err
}
