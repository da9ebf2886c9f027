package schedule

import (
	"fmt"
	"time"

	"github.com/robfig/cron/v3"
)

// When says at which moments something is to happen. The zero value never
// ticks; Parse and ParsePrefix make the others.
type When struct {
	text   string         // canonical, without the zone
	spoken bool           // the text is words, which people are shown as they are
	zone   *time.Location // known by an IANA name
	every  int64          // seconds from tick to tick, counted from anchor; 0: the clock says
	anchor int64          // in Unix seconds
	once   int64          // the one tick, in Unix seconds; 0: it comes again
	clock  clock
}

var _ cron.Schedule = When{}

// Next is the first tick that is later than after, in the zone of the
// schedule; the zero time if there is none. Ticks are whole seconds.
func (w When) Next(after time.Time) time.Time {
	switch {
	case w.zone == nil:
		return time.Time{}
	case w.once != 0:
		if at := time.Unix(w.once, 0); at.After(after) {
			return at.In(w.zone)
		}
		return time.Time{}
	case w.every > 0:
		n := max(1, floor(after.Unix()-w.anchor, w.every)+1)
		return time.Unix(w.anchor+n*w.every, 0).In(w.zone)
	}
	return w.clock.next(after, w.zone)
}

// String is the schedule for people: "every weekday at 9:00 (Europe/Berlin)",
// "every 90 minutes", "by cron 0 9 * * 1-5 (Europe/Berlin)".
func (w When) String() string {
	switch {
	case w.zone == nil:
		return "never"
	case w.every > 0:
		return "every " + spoken(w.every)
	case w.once != 0:
		return time.Unix(w.once, 0).In(w.zone).Format("once, on Monday, 2 January 2006 at 15:04") + fmt.Sprintf(" (%s)", w.zone)
	case w.spoken:
		return fmt.Sprintf("%s (%s)", w.text, w.zone)
	}
	return fmt.Sprintf("by cron %s (%s)", w.text, w.zone)
}

// Spec is the canonical text, which Parse with the same anchor reads back to
// an equal schedule, whatever zone it is given: "every weekday at 9:00
// Europe/Berlin". It is empty for the zero value.
func (w When) Spec() string {
	if w.zone == nil {
		return ""
	}
	return w.text + " " + w.zone.String()
}

// Equal reports whether both tick at the same moments for the same reason:
// text, zone and, if they count from it, anchor.
func (w When) Equal(other When) bool {
	return w.Spec() == other.Spec() && w.anchor == other.anchor
}

// Once reports whether it comes one time only.
func (w When) Once() bool { return w.once != 0 }

// IsZero reports whether this is the zero value, which never ticks.
func (w When) IsZero() bool { return w.zone == nil }

// Zone is where the clock hangs that the schedule goes by; nil for the zero
// value.
func (w When) Zone() *time.Location { return w.zone }

// Often is the shortest distance of two consecutive ticks, changes of the
// clocks aside; compare it with Shortest. It is 0 for the zero value.
func (w When) Often() time.Duration {
	if w.once != 0 {
		return longest
	}
	if w.every > 0 || w.zone == nil {
		return time.Duration(w.every) * time.Second
	}
	return time.Duration(w.clock.closest()) * time.Second
}

// Shortest is the distance of ticks below which a schedule is too much for
// people to read and for models to work on.
const Shortest = time.Minute

// spoken are the seconds in the largest unit that divides them.
func spoken(seconds int64) string {
	for _, unit := range []struct {
		seconds int64
		name    string
	}{{3600, "hour"}, {60, "minute"}, {1, "second"}} {
		switch n := seconds / unit.seconds; {
		case seconds%unit.seconds != 0:
		case n == 1:
			return unit.name
		default:
			return fmt.Sprintf("%d %ss", n, unit.name)
		}
	}
	return ""
}
