package schedule

// This file reads cron lines of five or six fields, the shorthands such as
// @daily, and distances such as "@every 90m", and explains in its errors how
// to write them.

import (
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/deckhand-bot/deckhand/agent/format"
)

// Lines of cron, and the shorthands that begin with @.

var (
	numberField = regexp.MustCompile(`^[0-9*?][0-9*?/,-]*$`)
	anyField    = regexp.MustCompile(`^(?:[0-9*?/,-]|\b(?:l|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|sun|mon|tue|wed|thu|fri|sat)\b)+$`)
	lastDay     = regexp.MustCompile(`\bl\b`)
	fieldParser = cron.NewParser(cron.Second | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)
)

// longest is the longest distance of ticks: what is rarer has a date.
const longest = 10 * 366 * 24 * time.Hour

// shorthands are the words of cron for what has words here.
var shorthands = map[string]string{
	"@hourly": "every hour", "@daily": "every day at 0:00", "@midnight": "every day at 0:00", "@weekly": "every Sunday at 0:00",
	"@monthly": "on the 1st of every month at 0:00", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}

// cron steps over a cron line, a shorthand or a distance; the zero When if the
// text begins with something else.
func (r *reader) cron() (When, error) {
	first := r.peek(0)
	if strings.HasPrefix(first, "@") {
		return r.shorthand(first)
	}
	n := 0
	for anyField.MatchString(r.peek(n)) && (n > 1 || numberField.MatchString(r.peek(n))) {
		n++
	}
	switch {
	case n == 0 || (n == 1 && !strings.ContainsAny(first, "*?/")):
		return When{}, nil
	case n < 5 || n > 6:
		return When{}, fmt.Errorf(`%q has %s of a cron line, which has five (minute, hour, date, month, weekday) or six (seconds first): write for example "0 9 * * 1-5"`, r.said(n), format.Count(n, "field"))
	}
	line := lastDay.ReplaceAllString(r.said(n), "L")
	r.i += n
	c, err := fields(line)
	if err != nil {
		return When{}, err
	}
	return When{text: line, clock: c}, nil
}

// said are the next n words with one space between them.
func (r *reader) said(n int) string {
	var words []string
	for i := range n {
		words = append(words, r.peek(i))
	}
	return strings.Join(words, " ")
}

func (r *reader) shorthand(name string) (When, error) {
	r.i++
	if text, known := shorthands[name]; known {
		inner := &reader{text: text, toks: lex(text, true)}
		if text[0] != '0' {
			return inner.words()
		}
		return inner.cron()
	}
	if name != "@every" {
		return When{}, fmt.Errorf("%q is none of @every, @hourly, @daily, @weekly, @monthly and @yearly; %s", short(name), examples)
	}
	text := r.peek(0)
	d, err := time.ParseDuration(text)
	if err != nil {
		return When{}, fmt.Errorf(`%q is no length of time behind @every: write for example "@every 90m", "@every 2h" or "@every 48h"`, short(text))
	}
	r.i++
	return distance(d)
}

// distance is the schedule that ticks each time this much has passed.
func distance(d time.Duration) (When, error) {
	if d < time.Second || d > longest || d%time.Second != 0 {
		return When{}, fmt.Errorf(`"@every %s" is not possible, it takes whole seconds, at least one and at most ten years: write for example "@every 90m"`, d)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return When{text: "@every " + text, every: int64(d / time.Second)}, nil
}

// fields reads a cron line of five or six fields.
func fields(line string) (clock, error) {
	wrong := func(why string) error {
		return fmt.Errorf(`the cron line %q %s; write for example "0 9 * * 1-5" (minute, hour, date, month, weekday)`, line, why)
	}
	f := strings.Fields(line)
	if len(f) == 5 {
		f = append([]string{"0"}, f...)
	}
	c := clock{pace: fixed}
	days := strings.Split(f[3], ",")
	if kept := slices.DeleteFunc(days, func(d string) bool { return d == "L" }); len(kept) < strings.Count(f[3], ",")+1 {
		c.last, f[3] = true, strings.Join(kept, ",")
	}
	hours := f[2]
	alone := c.last && f[3] == ""
	if alone {
		f[3] = "1"
	}
	f[5] = sundays(f[5])
	read, err := fieldParser.Parse(strings.Join(f, " "))
	if err != nil {
		return clock{}, wrong("cannot be read: " + err.Error())
	}
	spec, ok := read.(*cron.SpecSchedule)
	if !ok {
		return clock{}, wrong("is none")
	}
	c.second, c.minute, c.hour, c.dom, c.month, c.dow = spec.Second, spec.Minute, spec.Hour, spec.Dom, spec.Month, spec.Dow
	if alone {
		c.dom = 0
	}
	switch {
	case bits.OnesCount64(c.hour&^star) == 24:
		c.pace = flowing
	case strings.HasPrefix(hours, "*/") && !strings.Contains(hours, ","):
		c.pace = stepped
	}
	if _, found := c.wall(0, horizon); !found {
		return clock{}, wrong("never comes: there is no such date")
	}
	return c, nil
}

var week = regexp.MustCompile(`^(?:([0-6])-)?7(?:/([1-7]))?$`)

// sundays writes the Sunday that other crons call 7 as the 0 that it is here.
func sundays(field string) string {
	var parts []string
	for part := range strings.SplitSeq(field, ",") {
		m := week.FindStringSubmatch(part)
		if m == nil {
			parts = append(parts, part)
			continue
		}
		from, step := 7, 1
		if m[1] != "" {
			from = int(m[1][0] - '0')
		}
		if m[2] != "" {
			step = int(m[2][0] - '0')
		}
		for d := from; d <= 7; d += step {
			parts = append(parts, strconv.Itoa(d%7))
		}
	}
	return strings.Join(parts, ",")
}
