package text

// This file writes moments and places into texts as references, in the marks
// that principals stand in, too. A platform shows them in its own way (package
// bot, Ref): a moment in each reader's zone, a place by the name that the reader
// may see.

import (
	"strconv"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/format"
)

// What stands before a moment and a place between the marks; no principal
// begins so, since no platform is called so.
const (
	refTime  = "time:"
	refPlace = "place:"
	refDay   = ":day"
	refClock = ":clock"
)

// How moments are written where no platform does it for the reader.
const (
	MomentLayout = "2 Jan 15:04 MST"
	DayLayout    = "Monday, 2 January, 15:04 MST"
	ClockLayout  = "15:04:05 MST"
)

// Form is how much of a moment is told.
type Form string

// The forms: with its date, with its day of the week, and the time of day alone.
const (
	Short   Form = ""
	WithDay Form = refDay
	Seconds Form = refClock
)

// Moment is a point in time, to the second, as cards' texts refer to it.
func Moment(t time.Time) string { return Told(t, Short) }

// Day is a point in time that is told with its day of the week.
func Day(t time.Time) string { return Told(t, WithDay) }

// Clock is the time of day of a point in time that is near.
func Clock(t time.Time) string { return Told(t, Seconds) }

// Told is a point in time in the form.
func Told(t time.Time, f Form) string {
	return refer(refTime + strconv.FormatInt(t.Unix(), 10) + string(f))
}

// Place is a place by its address, as cards' texts refer to it.
func Place(address string) string { return refer(refPlace + format.Visible(address)) }

func refer(inner string) string {
	return string(agent.MentionOpen) + inner + string(agent.MentionClose)
}

// ReadMoment reads what stands between the marks of a moment.
func ReadMoment(inner string) (at time.Time, form Form, is bool) {
	line, is := strings.CutPrefix(inner, refTime)
	number, rest, _ := strings.Cut(line, ":")
	if rest != "" {
		form = Form(":" + rest)
	}
	seconds, err := strconv.ParseInt(number, 10, 64)
	if !is || err != nil {
		return time.Time{}, Short, false
	}
	return time.Unix(seconds, 0), form, true
}

// Layout is how a moment of the form is written where no platform does it for
// the reader.
func (f Form) Layout() string {
	switch f {
	case WithDay:
		return DayLayout
	case Seconds:
		return ClockLayout
	case Short:
	}
	return MomentLayout
}

// ReadPlace reads what stands between the marks of a place: its address.
func ReadPlace(inner string) (address string, is bool) { return strings.CutPrefix(inner, refPlace) }
