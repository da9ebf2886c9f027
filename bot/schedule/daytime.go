package schedule

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/deckhand-bot/deckhand/agent/format"
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
	return format.List(words, "and")
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
		next := r.peek(0)
		switch {
		case !at || next == "":
		case expected || (next[0] >= '0' && next[0] <= '9'):
			err = fmt.Errorf(`%q is no time of day: write for example 9:00, 17:30 or 9am`, short(next))
		default: // "at the end": nothing of a schedule was said
			err = fmt.Errorf(`%w: %q is no time of day, write for example 9:00, 17:30 or 9am`, ErrUnknown, short(next))
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
	h, _ := strconv.Atoi(hour)   // two digits
	m, _ := strconv.Atoi(minute) // likewise, or none
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
