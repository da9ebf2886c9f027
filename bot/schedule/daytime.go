package schedule

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// daytime is a time of day.
type daytime struct{ hour, minute int }

// String is the time of day with 24 hours: "9:00".
func (t daytime) String() string { return fmt.Sprintf("%d:%02d", t.hour, t.minute) }

func sayTimes(times []daytime) string {
	var words []string
	for _, t := range times {
		words = append(words, t.String())
	}
	return list(words)
}

var timeShape = regexp.MustCompile(`^(\d{1,2})(?::(\d{2}))?(am|pm)?$`)

// times steps over times of day: "at 9:00 and 17:00", "9am", "noon". Expected
// says that a number can be nothing else, and is an error if it is no time.
func (r *reader) times(expected bool) (times []daytime, err error) {
	mark := r.i
	at := r.accept("at", "@")
	item := func() bool {
		r.accept("at")
		t, found, wrong := r.daytime(expected || at)
		if wrong != nil {
			err = wrong
		}
		if found {
			times = append(times, t)
		}
		return found
	}
	if item() {
		for r.another(item) {
			continue
		}
	}
	if err == nil && len(times) == 0 {
		if at && r.i < len(r.toks) {
			err = fmt.Errorf(`%q is no time of day: write for example 9:00, 17:30 or 9am`, short(r.peek(0)))
		}
		r.i = mark
	}
	return times, err
}

// daytime steps over one time of day.
func (r *reader) daytime(expected bool) (t daytime, found bool, err error) {
	if r.accept("noon", "midday") {
		return daytime{12, 0}, true, nil
	}
	if r.accept("midnight") {
		return daytime{}, true, nil
	}
	said := r.peek(0)
	m := timeShape.FindStringSubmatch(said)
	if m == nil {
		if expected && said != "" && said[0] >= '0' && said[0] <= '9' {
			return daytime{}, false, fmt.Errorf(`%q is no time of day: write for example 9:00, 17:30 or 9am`, short(said))
		}
		return daytime{}, false, nil
	}
	r.i++
	half := m[3]
	if next := strings.ReplaceAll(r.peek(0), ".", ""); half == "" && (next == "am" || next == "pm") {
		half = next
		said += " " + next
		r.i++
	}
	r.accept("o'clock", "o’clock", "oclock")
	t, err = timeOf(said, m[1], m[2], half)
	return t, err == nil, err
}

// timeOf checks the parts of a time of day.
func timeOf(said, hour, minute, half string) (daytime, error) {
	h, _ := strconv.Atoi(hour)   //nolint:errcheck // two digits
	m, _ := strconv.Atoi(minute) //nolint:errcheck // likewise, or none
	switch {
	case half != "" && (h < 1 || h > 12):
		return daytime{}, fmt.Errorf("%q is no time of day: am and pm go with 1 to 12; write for example 9am or 21:00", said)
	case h == 24 && m == 0:
		return daytime{}, fmt.Errorf("%q is no time of day: midnight is 0:00 of the day that it begins", said)
	case h > 23 || m > 59:
		return daytime{}, fmt.Errorf("%q is no time of day, which go from 0:00 to 23:59: write for example 9:00 or 17:30", said)
	case half == "am" && h == 12:
		h = 0
	case half == "pm" && h != 12:
		h += 12
	}
	return daytime{h, m}, nil
}

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
	n := slices.Index(numbers, number)
	if n < 1 {
		var err error
		if n, err = strconv.Atoi(number); err != nil || n < 0 || n > 999999 {
			n = -1
		}
	}
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

// regular is the schedule that ticks by the clock if its hours or days are made
// of whole steps, and from the anchor on if they are not.
func regular(d time.Duration) (When, error) {
	line, minutes, hours := "", d/time.Minute, d/time.Hour
	switch {
	case d == time.Minute || d == time.Hour:
		line = map[time.Duration]string{time.Minute: "* * * * *", time.Hour: "0 * * * *"}[d]
	case d > 0 && d < time.Hour && d%time.Minute == 0 && time.Hour%d == 0:
		line = fmt.Sprintf("*/%d * * * *", minutes)
	case d > 0 && d < 24*time.Hour && d%time.Hour == 0 && (24*time.Hour)%d == 0:
		line = fmt.Sprintf("0 */%d * * *", hours)
	default:
		return distance(d)
	}
	c, err := fields(line)
	return When{text: "every " + spoken(int64(d/time.Second)), spoken: true, clock: c}, err
}
