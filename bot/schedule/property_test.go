package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// years have every kind of change of the clocks: by one hour, two, half an
// hour, at midnight, a minute past it, in Ramadan, by a day, and none.
var years = []struct {
	zone string
	year int
}{
	{"Europe/Berlin", 2028}, {"Europe/Berlin", 2060}, {"America/New_York", 2027}, {"Australia/Lord_Howe", 2027}, {"Antarctica/Troll", 2027}, {"Africa/Casablanca", 2027}, {"Asia/Kolkata", 2028},
	{"Africa/Cairo", 2027}, {"America/Sao_Paulo", 2017}, {"America/St_Johns", 2006}, {"America/St_Johns", 1988}, {"Pacific/Apia", 2011}, {"Pacific/Kwajalein", 1993}, {"Asia/Pyongyang", 2018},
}

// wallOf are the minutes that the clock of a zone shows, one by one, for a time
// that begins at a minute in UTC.
func wallOf(zone *time.Location, start time.Time, minutes int) []int64 {
	wall := make([]int64, minutes)
	for i := range wall {
		t := start.Add(time.Duration(i) * time.Minute).In(zone)
		_, offset := t.Zone()
		wall[i] = (t.Unix() + int64(offset)) / 60
	}
	return wall
}

// expected are the minutes after the start at which a schedule ticks whose
// moments on the wall are known, found by looking at every single minute.
func expected(wall []int64, matches func(minute int64) bool, p pace, apart int64) (ticks []int) {
	newest := wall[0]
	for i, now := range wall[1:] {
		i++
		previous := wall[i-1]
		for m, first := previous+1, true; m < now; m++ {
			if !matches(m) {
				continue
			}
			switch {
			case p == fixed:
				ticks = append(ticks, i)
			case p == stepped || first:
				ticks = append(ticks, i+int(m-previous-1))
			}
			first = false
		}
		if matches(now) && (now > newest || (p == flowing && repeatedBy(wall, i) >= apart)) {
			ticks = append(ticks, i)
		}
		newest = max(newest, now)
	}
	slices.Sort(ticks)
	return slices.Compact(ticks)
}

// repeatedBy is how long ago the clock showed the same before.
func repeatedBy(wall []int64, i int) int64 {
	for j := i - 1; j >= 0; j-- {
		if wall[j] == wall[i] {
			return int64(i - j)
		}
	}
	return 0
}

// drawn is a cron line as lists of numbers, which is how the reference reads it.
type drawn struct {
	minutes, hours, doms, dows []int // empty: a star
	step                       int   // of the hours, 0: none
}

func (d drawn) line() string {
	field := func(list []int) string {
		var words []string
		for _, n := range list {
			words = append(words, strconv.Itoa(n))
		}
		return strings.Join(words, ",")
	}
	star := func(list []int) string {
		if len(list) == 0 {
			return "*"
		}
		return field(list)
	}
	hours := star(d.hours)
	if d.step > 0 {
		hours = fmt.Sprintf("*/%d", d.step)
	}
	return fmt.Sprintf("%s %s %s * %s", field(d.minutes), hours, star(d.doms), star(d.dows))
}

func (d drawn) pace() pace {
	switch {
	case d.step > 1:
		return stepped
	case d.step == 1 || len(d.hours) == 0:
		return flowing
	}
	return fixed
}

// apart is the shortest distance of the minutes of an hour and the next.
func (d drawn) apart() int64 {
	nearest := 60
	for _, a := range d.minutes {
		for _, b := range d.minutes {
			if a != b {
				nearest = min(nearest, (b-a+60)%60)
			}
		}
	}
	return int64(nearest)
}

func (d drawn) matches(minute int64) bool {
	if !slices.Contains(d.minutes, int(minute%60)) {
		return false
	}
	t := time.Unix(minute*60, 0).UTC()
	hour := slices.Contains(d.hours, t.Hour())
	if d.step > 0 {
		hour = t.Hour()%d.step == 0
	} else if len(d.hours) == 0 {
		hour = true
	}
	dom, dow := slices.Contains(d.doms, t.Day()), slices.Contains(d.dows, int(t.Weekday()))
	date := dom || dow
	if len(d.doms) == 0 || len(d.dows) == 0 {
		date = (len(d.doms) == 0 || dom) && (len(d.dows) == 0 || dow)
	}
	return hour && date
}

func draw(t *rapid.T) drawn {
	list := func(from, to, least, most int, label string) []int {
		return rapid.SliceOfNDistinct(rapid.IntRange(from, to), least, most, rapid.ID[int]).Draw(t, label)
	}
	d := drawn{minutes: list(0, 59, 1, 3, "minutes")}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		d.step = rapid.IntRange(1, 12).Draw(t, "step")
	case 1:
	default:
		d.hours = list(0, 4, 1, 4, "hours") // where clocks change
	}
	if rapid.Bool().Draw(t, "dates") {
		d.doms = list(1, 31, 1, 20, "doms")
	}
	if rapid.Bool().Draw(t, "days") {
		d.dows = list(0, 6, 1, 5, "dows")
	}
	return d
}

// same compares the ticks of a schedule with the expected ones.
func same(t rapid.TB, w When, d drawn, start time.Time, wall []int64) {
	t.Helper()
	tick, n := start, 0
	for _, i := range expected(wall, d.matches, d.pace(), d.apart()) {
		if i < 1 || i >= len(wall) {
			continue
		}
		want := start.Add(time.Duration(i) * time.Minute)
		if tick = w.Next(tick); !tick.Equal(want) {
			t.Fatalf("%q: tick %d is %s, want %s", w.Spec(), n, tick.Format(shown), want.In(tick.Location()).Format(shown))
		}
		n++
	}
	if tick = w.Next(tick); tick.Before(start.Add(time.Duration(len(wall)) * time.Minute)) {
		t.Fatalf("%q: one more tick at %s", w.Spec(), tick.Format(shown))
	}
}

// No tick is lost and none comes twice, compared with a look at every minute.
func TestNoTickIsLostOrDoubled(t *testing.T) {
	for _, y := range years {
		zone := place(t, y.zone)
		start := time.Date(y.year, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Minute)
		wall := wallOf(zone, start, 366*24*60)
		for _, d := range []drawn{
			{minutes: []int{30}, hours: []int{2}},
			{minutes: []int{0, 15, 30, 45}},
			{minutes: []int{0, 30}, step: 2},
			{minutes: []int{0}, hours: []int{0}, dows: []int{1, 2, 3, 4, 5}},
		} {
			w, err := Parse(d.line(), zone, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			same(t, w, d, start, wall)
		}
		changes := []int{720, len(wall) - 1440} // minutes of the year around which rapid draws
		for i := range wall[1:] {
			if wall[i+1] != wall[i]+1 {
				changes = append(changes, i)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			d := draw(t)
			w, err := Parse(d.line(), zone, time.Time{})
			if err != nil {
				t.Fatal(err)
			}
			from := max(0, rapid.SampledFrom(changes).Draw(t, "change")-rapid.IntRange(1600, 9000).Draw(t, "before"))
			for _, c := range slices.Backward(changes[2:]) { // what a change skipped comes for a day after it
				if c < from && from-c < 1600 {
					from = max(0, c-1600)
				}
			}
			to := min(len(wall), from+12000)
			same(t, w, d, start.Add(time.Duration(from)*time.Minute), wall[from:to])
		})
	}
}

// Next is later than what it is asked for, the same from anywhere before it,
// and a whole second; Spec reads back; Often holds.
func TestProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SampledFrom(years).Draw(t, "zone")
		text := draw(t).line()
		if rapid.Bool().Draw(t, "every") {
			text = fmt.Sprintf("@every %ds", rapid.IntRange(1, 1_000_000).Draw(t, "seconds"))
		}
		anchor := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "anchor"), 0)
		w, err := Parse(text+" "+y.zone, nil, anchor)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(w.Spec(), nil, anchor); err != nil || !again.Equal(w) || again.Spec() != w.Spec() {
			t.Fatalf("%q is read back as %q: %v", w.Spec(), again.Spec(), err)
		}
		after := time.Unix(rapid.Int64Range(-1e9, 5e9).Draw(t, "after"), rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		for range 20 {
			next := w.Next(after)
			if !next.After(after) || next.Nanosecond() != 0 || next.Location().String() != y.zone {
				t.Fatalf("%q: after %s comes %s", w.Spec(), after, next)
			}
			between := after.Add(time.Duration(rapid.Float64Range(0, 0.999).Draw(t, "part") * float64(next.Sub(after))))
			if got := w.Next(between); !got.Equal(next) && between.Before(next) {
				t.Fatalf("%q: from %s comes %s, from %s in between %s", w.Spec(), after, next, between, got)
			}
			if second := w.Next(next); second.Sub(next) < w.Often()-25*time.Hour {
				t.Fatalf("%q: %s and %s are closer than %s", w.Spec(), next, second, w.Often())
			}
			after = next
		}
	})
}
