package schedule

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Schedules in words: days and times of day, in either order.

// days are the days of a schedule in words and as fields of a cron line.
type days struct {
	text     string // "every weekday"
	dom, dow string
}

var (
	weekdays = []string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"}
	ordinal  = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th)$`)
)

// words steps over a schedule in words.
func (r *reader) words() (When, error) {
	if w, err := r.interval(); err != nil || w.text != "" {
		return w, err
	}
	times, err := r.times(false)
	if err != nil {
		return When{}, err
	}
	mark := r.i
	if len(times) > 0 {
		r.accept(",")
	}
	d, err := r.days()
	switch {
	case err != nil:
		return When{}, err
	case d.text == "" && len(times) == 0:
		return When{}, fmt.Errorf("%w in %q: %s", ErrUnknown, short(r.text), examples)
	case d.text == "":
		r.i = mark
		said := sayTimes(times)
		return When{}, fmt.Errorf(`"at %s" was understood, but not on which days: write for example "every day at %s" or "every weekday at %s"`, said, said, said)
	}
	if len(times) == 0 {
		if times, err = r.times(true); err != nil {
			return When{}, fmt.Errorf("%q was understood, but %w", d.text, err)
		}
	}
	if len(times) == 0 {
		return When{}, fmt.Errorf(`%q needs a time of day: write for example "%s at 9:00"`, d.text, d.text)
	}
	return d.at(times)
}

// at is the schedule on these days at these times.
func (d days) at(times []daytime) (When, error) {
	slices.SortFunc(times, func(a, b daytime) int { return (a.hour*60 + a.minute) - (b.hour*60 + b.minute) })
	times = slices.Compact(times)
	var hours []string
	for _, t := range times {
		if t.minute != times[0].minute {
			return When{}, fmt.Errorf(`one schedule cannot be both at %s and at %s: make two, for example "%s at %s"`, times[0], t, d.text, t)
		}
		hours = append(hours, strconv.Itoa(t.hour))
	}
	c, err := fields(fmt.Sprintf("%d %s %s * %s", times[0].minute, strings.Join(hours, ","), d.dom, d.dow))
	if err != nil {
		return When{}, err
	}
	return When{text: d.text + " at " + sayTimes(times), spoken: true, clock: c}, nil
}

// days steps over the days of a schedule; zero if it is at something else.
func (r *reader) days() (days, error) {
	mark := r.i
	every := r.accept("every", "each")
	r.accept("on")
	r.accept("the")
	switch {
	case r.accept("daily", "everyday"), every && r.accept("day"):
		return days{"every day", "*", "*"}, nil
	case r.accept("weekday", "weekdays", "workday", "workdays"):
		return days{"every weekday", "*", "1-5"}, nil
	case slices.Contains([]string{"working", "business"}, r.peek(0)) && slices.Contains([]string{"day", "days"}, r.peek(1)):
		r.i += 2
		return days{"every weekday", "*", "1-5"}, nil
	case r.accept("weekend", "weekends"):
		return days{"every Saturday and Sunday", "*", "0,6"}, nil
	case r.accept("weekly"), every && r.accept("week"):
		return r.weekly()
	case r.accept("monthly"), every && r.accept("month"):
		return r.monthly()
	}
	if r.counted() {
		return days{}, fmt.Errorf(`%q is not possible, weekdays cannot be counted within a month: write for example "every Monday at 9:00" or "on the 1st of every month at 9:00"`, r.said(2))
	}
	if names := r.dayNames(); len(names) > 0 {
		return onWeekdays(names), nil
	}
	if doms := r.dates(); len(doms) > 0 {
		if r.ofMonth() {
			return onDates(doms), nil
		}
		return days{}, fmt.Errorf(`%q was understood, but not of what: write for example "on the %s of every month at 9:00"`, short(r.text[r.toks[mark].start:r.toks[r.i-1].end]), doms[0])
	}
	r.i = mark
	return days{}, nil
}

func (r *reader) weekly() (days, error) {
	r.accept("on", "every", "each")
	if names := r.dayNames(); len(names) > 0 {
		return onWeekdays(names), nil
	}
	return days{}, errors.New(`"every week" was understood, but not on which day: write for example "every Monday at 9:00"`)
}

func (r *reader) monthly() (days, error) {
	r.accept("on")
	r.accept("the")
	if doms := r.dates(); len(doms) > 0 {
		r.ofMonth()
		return onDates(doms), nil
	}
	return days{}, errors.New(`"every month" was understood, but not on which day, and weekdays cannot be counted within one: write for example "on the 1st of every month at 9:00" or "on the last day of every month at 18:00"`)
}

// counted reports whether a weekday with a number follows: "first Monday".
func (r *reader) counted() bool {
	first := r.peek(0)
	return dayOf(r.peek(1)) >= 0 &&
		(ordinal.MatchString(first) || slices.Contains([]string{"first", "second", "third", "fourth", "fifth", "last"}, first))
}

// ofMonth steps over "of the month" and its like.
func (r *reader) ofMonth() bool {
	mark := r.i
	r.accept("day")
	if r.accept("of", "in") {
		r.accept("the", "every", "each", "a")
		if r.accept("month", "months") {
			return true
		}
	}
	r.i = mark
	return false
}
