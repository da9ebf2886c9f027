package schedule

import (
	"errors"
	"testing"
	"time"
)

func TestOnce(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 18, 15, 30, 20, 0, time.UTC) // a Wednesday, 16:30 in Berlin
	for text, want := range map[string]string{
		"tomorrow at 9:00: ask":                  "on 2026-11-19 at 9:00 Europe/Berlin",
		"tomorrow 9am: ask":                      "on 2026-11-19 at 9:00 Europe/Berlin",
		"at 9:00 tomorrow: ask":                  "on 2026-11-19 at 9:00 Europe/Berlin",
		"today at 17:00: ask":                    "on 2026-11-18 at 17:00 Europe/Berlin",
		"next friday at 14:00: ask":              "on 2026-11-20 at 14:00 Europe/Berlin",
		"next Wednesday at 14:00: ask":           "on 2026-11-25 at 14:00 Europe/Berlin",
		"on 2026-12-24 at 9:00: ask":             "on 2026-12-24 at 9:00 Europe/Berlin",
		"once on 2026-12-24 at 9:00: ask":        "on 2026-12-24 at 9:00 Europe/Berlin",
		"2027-03-28 at 2:30: ask":                "on 2027-03-28 at 3:30 Europe/Berlin", // the clock never shows 2:30
		"in 90 minutes: ask":                     "on 2026-11-18 at 18:01 Europe/Berlin",
		"in 2 hours: ask":                        "on 2026-11-18 at 18:31 Europe/Berlin",
		"in 3 days at 8:00: ask":                 "on 2026-11-21 at 8:00 Europe/Berlin",
		"tomorrow at 9:00 America/New_York: ask": "on 2026-11-19 at 9:00 America/New_York",
		"tomorrow at 9:00 in Asia/Tokyo: ask":    "on 2026-11-20 at 9:00 Asia/Tokyo",
		"today at 16:00":                         "", // over
		"tomorrow":                               "",
		"tomorrow at 25:00":                      "",
		"in 400 days at 9:00":                    "",
		"in 3 days":                              "",
	} {
		w, rest, err := ParsePrefix(text, berlin, now)
		if err != nil || want == "" {
			if (err == nil) != (want != "") {
				t.Errorf("%q: %v %v", text, w, err)
			}
			continue
		}
		if w.Spec() != want || rest != "ask" || !w.Once() {
			t.Errorf("%q is %q and %q, want %q", text, w.Spec(), rest, want)
		}
		again, err := Parse(w.Spec(), time.UTC, now)
		if err != nil || !again.Equal(w) {
			t.Errorf("%q is read back as %q: %v", w.Spec(), again.Spec(), err)
		}
		tick := w.Next(now)
		if tick.IsZero() || !w.Next(tick).IsZero() {
			t.Errorf("%q ticks at %s and %s", text, tick, w.Next(tick))
		}
		if turn := Due(w, now, tick.Add(time.Second), time.Minute, Late); !turn.Tick.Equal(tick) || turn.Late || turn.Count > 0 {
			t.Errorf("%q is served %+v", text, turn)
		}
		if turn := Due(w, now, tick.Add(48*time.Hour), time.Minute, Late); !turn.Tick.Equal(tick) || !turn.Late {
			t.Errorf("%q is served late %+v", text, turn)
		}
	}
}

// What only has a word of time in it is no schedule.
func TestGoalsAreNoSchedules(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"at the end what changed", "on the last release", "on the first results", "in Berlin: what changed", "every failure in the log", "what happened today",
	} {
		if w, _, err := ParsePrefix(text, nil, time.Unix(0, 0)); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q is %q: %v", text, w.Spec(), err)
		}
	}
}
