package digest

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/deckhand-bot/deckhand/agent/format"
	"github.com/deckhand-bot/deckhand/bot/text"
)

// What a report says of itself where it comes late, or where others before it
// were missed.

// lateFrom is the lateness that is worth a word.
const lateFrom = 5 * time.Minute

// maxMissed is how many missed reports are listed with their times.
const maxMissed = 5

// Lateness is what became of a schedule's ticks: when the report that comes
// now was due, and the ticks before it that no report was made for.
type Lateness struct {
	Due, Now time.Time
	Missed   []time.Time // the newest of them, the oldest first
	Count    int         // of all that were missed, where that is more
	Why      string      // "" is that Deckhand was not running
	What     string      // is late; "" is a report
	Zone     *time.Location
}

// Late is the report with a word about its lateness and about what was missed,
// the same where there is nothing to say.
func (d Digest) Late(l Lateness) Digest {
	text := l.String()
	if text == "" {
		return d
	}
	d.Body = text + "\n\n" + d.Body
	if by := l.by(); by > 0 {
		d.Headline += " (" + format.Duration(by) + " late)"
	}
	return d
}

// by is how late the report is, in whole minutes; 0 where it is in time.
func (l Lateness) by() time.Duration {
	if late := l.Now.Sub(l.Due); late >= lateFrom {
		return late.Round(time.Minute)
	}
	return 0
}

// String says it in a sentence, "" where there is nothing to say.
func (l Lateness) String() string {
	zone := cmp.Or(l.Zone, time.UTC)
	why := "Deckhand was not running"
	if l.Why != "" {
		why = text.Quoted(l.Why, 160)
	}
	var times []string
	for _, t := range l.Missed[max(0, len(l.Missed)-maxMissed):] {
		times = append(times, t.In(zone).Format("Mon 2 Jan 15:04"))
	}
	missed := strings.Join(times, ", ")
	count := max(len(l.Missed), l.Count)
	if more := count - len(times); more > 0 {
		missed = format.Thousands(int64(more)) + " before, " + missed
	}
	what := cmp.Or(l.What, "report")
	wasMissed, earlier := what+"s were missed: ", " earlier ones were missed: "
	if count == 1 {
		wasMissed, earlier = what+" was missed: ", " earlier one was missed: "
	}
	n := format.Thousands(int64(count))
	zoned := " (" + text.Escape(zone.String()) + ")"
	switch by := l.by(); {
	case by > 0 && len(l.Missed) > 0:
		return fmt.Sprintf("This %s was due on %s%s and comes %s late because %s; %s%s%s.", what, dueOn(l.Due, zone), zoned, format.Duration(by), why, n, earlier, missed)
	case by > 0:
		return fmt.Sprintf("This %s was due on %s%s and comes %s late because %s.", what, dueOn(l.Due, zone), zoned, format.Duration(by), why)
	case len(l.Missed) > 0:
		return fmt.Sprintf("%s %s%s%s, because %s.", n, wasMissed, missed, zoned, why)
	}
	return ""
}

func dueOn(t time.Time, zone *time.Location) string { return t.In(zone).Format("Monday 2 Jan 15:04") }
