package schedule

import (
	"strings"
	"testing"
	"time"
)

// The ticks through changes of the clocks, from a moment in UTC on.
func TestChanges(t *testing.T) {
	for _, c := range []struct {
		zone, text, from, want string
	}{
		// Fixed hours: a time that is skipped ticks right after the gap, a time that comes twice ticks the first time.
		{"Europe/Berlin", "30 2 * * *", "2027-03-27 12:00", "28 03:00 CEST, 29 02:30 CEST"},
		{"Europe/Berlin", "daily 2:30", "2027-10-30 12:00", "31 02:30 CEST, 01 02:30 CET"},
		{"Europe/Berlin", "daily 3:00", "2027-03-27 12:00", "28 03:00 CEST, 29 03:00 CEST"},
		{"Europe/Berlin", "0,30 2,3 * * *", "2027-03-27 12:00", "28 03:00 CEST, 28 03:30 CEST, 29 02:00 CEST"},
		{"Europe/Berlin", "*/20 2 * * *", "2027-10-30 23:50", "31 02:00 CEST, 31 02:20 CEST, 31 02:40 CEST, 01 02:00 CET"},
		{"Europe/Berlin", "30 2 28 3 *", "2027-01-01 00:00", "28 03:00 CEST, 28 02:30 CEST"},
		// Hours in steps: no step is lost or doubled.
		{"Europe/Berlin", "0 */2 * * *", "2027-03-27 22:30", "28 00:00 CET, 28 03:00 CEST, 28 04:00 CEST"},
		{"Europe/Berlin", "15 */2 * * *", "2027-03-27 22:30", "28 00:15 CET, 28 03:15 CEST, 28 04:15 CEST"},
		{"Europe/Berlin", "every 2 hours", "2027-10-30 21:30", "31 00:00 CEST, 31 02:00 CEST, 31 04:00 CET"},
		// Every hour: every hour that passes.
		{"Europe/Berlin", "hourly", "2027-03-27 23:30", "28 01:00 CET, 28 03:00 CEST, 28 04:00 CEST"},
		{"Europe/Berlin", "hourly", "2027-10-30 23:30", "31 02:00 CEST, 31 02:00 CET, 31 03:00 CET"},
		{"Europe/Berlin", "every 30 minutes", "2027-10-30 23:50", "31 02:00 CEST, 31 02:30 CEST, 31 02:00 CET, 31 02:30 CET, 31 03:00 CET"},
		{"Europe/Berlin", "@every 12h", "2027-03-27 12:00", "28 00:07 CET, 28 13:07 CEST, 29 01:07 CEST"},
		// Half an hour, on an island.
		{"Australia/Lord_Howe", "15 2 * * *", "2027-10-01 20:00", "03 02:30 +11, 04 02:15 +11"},
		{"Australia/Lord_Howe", "45 1 * * *", "2027-04-03 02:00", "04 01:45 +11, 05 01:45 +1030"},
		{"Australia/Lord_Howe", "hourly", "2027-10-02 14:00", "03 01:00 +1030, 03 02:30 +11, 03 03:00 +11"},
		{"Australia/Lord_Howe", "30 * * * *", "2027-04-03 14:00", "04 01:30 +11, 04 02:30 +1030"},
		{"Australia/Lord_Howe", "every 15 minutes", "2027-04-03 14:35", "04 01:45 +11, 04 01:30 +1030, 04 01:45 +1030, 04 02:00 +1030"},
		// Two hours, midnight, and a minute past it.
		{"Antarctica/Troll", "30 1 * * *", "2027-03-27 12:00", "28 03:00 +02, 29 01:30 +02"},
		{"America/Sao_Paulo", "@daily", "2017-10-14 12:00", "15 01:00 -02, 16 00:00 -02"},
		{"America/St_Johns", "30 0 * * *", "2006-04-01 12:00", "02 01:01 NDT, 03 00:30 NDT"},
		// A day that never was, and the ends of months and years.
		{"Pacific/Apia", "daily 9:00", "2011-12-29 00:00", "29 09:00 -10, 31 00:00 +14, 31 09:00 +14, 01 09:00 +14"},
		{"Europe/Berlin", "daily 9:00", "2060-12-30 09:00", "31 09:00 CET, 01 09:00 CET"},
		{"Europe/Berlin", "hourly", "2060-12-31 21:30", "31 23:00 CET, 01 00:00 CET, 01 01:00 CET, 01 02:00 CET"},
		{"America/New_York", "0 */6 * * *", "2060-12-30 22:00", "30 18:00 EST, 31 00:00 EST, 31 06:00 EST, 31 12:00 EST, 31 18:00 EST, 01 00:00 EST"},
		{"UTC", "59 23 31 12 *", "2027-12-31 23:00", "31 23:59 UTC, 31 23:59 UTC"},
		{"UTC", "every last day of the month 18:00", "2028-02-01 00:00", "29 18:00 UTC, 31 18:00 UTC, 30 18:00 UTC"},
		{"UTC", "0 9 13 * 5", "2027-08-01 00:00", "06 09:00 UTC, 13 09:00 UTC, 20 09:00 UTC"},
	} {
		w, err := Parse(c.text, place(t, c.zone), created(t))
		if err != nil {
			t.Fatal(err)
		}
		tick, err := time.Parse("2006-01-02 15:04", c.from)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for range strings.Count(c.want, ",") + 1 {
			tick = w.Next(tick)
			got = append(got, tick.Format("02 15:04 MST"))
		}
		if list := strings.Join(got, ", "); list != c.want {
			t.Errorf("%s in %s from %s: %s, want %s", c.text, c.zone, c.from, list, c.want)
		}
	}
}

// The 29th of February comes after eight years as well.
func TestLeapDay(t *testing.T) {
	w, err := Parse("0 9 29 2 *", nil, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.Next(time.Date(2096, 3, 1, 0, 0, 0, 0, time.UTC)); got.Format(time.DateOnly) != "2104-02-29" {
		t.Errorf("next is %s", got)
	}
}

// What counts from its creation does so wherever it is asked from, and before
// its creation it has not begun.
func TestEveryCountsFromTheAnchor(t *testing.T) {
	w, err := Parse("@every 90m", nil, created(t))
	if err != nil {
		t.Fatal(err)
	}
	first := created(t).Add(90 * time.Minute)
	for after, want := range map[time.Time]time.Time{
		{}:                                   first,
		created(t).Add(-time.Hour):           first,
		created(t):                           first,
		first.Add(-1):                        first,
		first:                                first.Add(90 * time.Minute),
		created(t).Add(16 * 100 * time.Hour): created(t).Add(16*100*time.Hour + 30*time.Minute),
		created(t).AddDate(5000, 0, 0).UTC(): w.Next(created(t).AddDate(5000, 0, 0)),
	} {
		if got := w.Next(after); !got.Equal(want) || !got.After(after) {
			t.Errorf("after %s comes %s, want %s", after, got, want)
		}
	}
}
