package schedule

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDue(t *testing.T) {
	const grace = 10 * time.Minute
	for _, c := range []struct {
		name, text, last, now string
		policy                Missed
		tick                  string // to serve
		late                  bool
		missed                []string // the newest
		count                 int
		until                 string
	}{
		{"not yet", "daily 9:00", "02 09:00", "03 08:59", Late, "", false, nil, 0, ""},
		{"on the second", "daily 9:00", "02 09:00", "03 09:00", Late, "03 09:00", false, nil, 0, "03 09:00"},
		{"handled already", "daily 9:00", "03 09:00", "03 09:05", Late, "", false, nil, 0, ""},
		{"at the end of the grace", "daily 9:00", "02 09:00", "03 09:10", Skip, "03 09:00", false, nil, 0, "03 09:00"},
		{"late", "daily 9:00", "02 09:00", "03 09:11", Late, "03 09:00", true, nil, 0, "03 09:00"},
		{"skipped", "daily 9:00", "02 09:00", "03 09:11", Skip, "", false, []string{"03 09:00"}, 1, "03 09:00"},
		{"no policy is late", "daily 9:00", "02 09:00", "03 09:11", "", "03 09:00", true, nil, 0, "03 09:00"},
		{"on time after a pause", "daily 9:00", "02 09:00", "05 09:01", Late, "05 09:00", false, []string{"03 09:00", "04 09:00"}, 2, "05 09:00"},
		{"on time after a pause, skipping", "daily 9:00", "02 09:00", "05 09:01", Skip, "05 09:00", false, []string{"03 09:00", "04 09:00"}, 2, "05 09:00"},
		{"late after a pause", "daily 9:00", "02 09:00", "05 12:00", Late, "05 09:00", true, []string{"03 09:00", "04 09:00"}, 2, "05 09:00"},
		{"skipped after a pause", "daily 9:00", "02 09:00", "05 12:00", Skip, "", false, []string{"03 09:00", "04 09:00", "05 09:00"}, 3, "05 09:00"},
		{"a clock that went back", "daily 9:00", "05 09:00", "02 12:00", Late, "", false, nil, 0, ""},
		{"ten of many", "hourly", "02 00:00", "03 00:30", Skip, "", false, []string{"02 15:00", "02 16:00", "02 17:00", "02 18:00", "02 19:00", "02 20:00", "02 21:00", "02 22:00", "02 23:00", "03 00:00"}, 24, "03 00:00"},
		{"counted from creation", "@every 90m", "02 00:00", "02 03:01", Late, "02 03:00", false, []string{"02 01:30"}, 1, "02 03:00"},
	} {
		w, err := Parse(c.text, nil, at(t, "02 00:00"))
		if err != nil {
			t.Fatal(err)
		}
		got := Due(w, at(t, c.last), at(t, c.now), grace, c.policy)
		var missed []string
		for _, m := range got.Missed {
			missed = append(missed, m.Format("02 15:04"))
		}
		if !got.Tick.Equal(at(t, c.tick)) || got.Late != c.late || !slices.Equal(missed, c.missed) || got.Count != c.count || !got.Until.Equal(at(t, c.until)) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// at is a day and time of November 2026, zero for none.
func at(t *testing.T, text string) time.Time {
	t.Helper()
	if text == "" {
		return time.Time{}
	}
	moment, err := time.Parse("2006-01 02 15:04", "2026-11 "+text)
	if err != nil {
		t.Fatal(err)
	}
	return moment
}

// Years of silence are no work: walking from tick to tick would take minutes.
func TestDueAfterYears(t *testing.T) {
	for _, text := range []string{"@every 1m", "* * * * *", "* * * * * *", "* * * * 1 *", "0 9 29 2 *", "daily 2:30"} {
		w, err := Parse(text, place(t, "Europe/Berlin"), created(t))
		if err != nil {
			t.Fatal(err)
		}
		now := created(t).AddDate(40, 0, 0)
		began := time.Now()
		got := Due(w, created(t), now, time.Second, Late)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s took %s", text, took)
		}
		if got.Tick.IsZero() || w.Next(got.Tick).Before(now) || got.Count != min(got.Count, 1000) || len(got.Missed) != min(10, got.Count) || got.Count < 9 {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// Each tick is served or missed, never both and never neither, however the
// turns fall.
func TestEachTickIsHandledOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, err := Parse(draw(t).line(), place(t, rapid.SampledFrom(years).Draw(t, "zone").zone), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		policy := rapid.SampledFrom([]Missed{Late, Skip}).Draw(t, "policy")
		grace := time.Duration(rapid.IntRange(0, 7200).Draw(t, "grace")) * time.Second
		last := time.Unix(rapid.Int64Range(1.7e9, 1.9e9).Draw(t, "created"), 0)
		now, next := last, w.Next(last)
		for range 20 {
			now = now.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(t, "pause")) * time.Second)
			turn := Due(w, last, now, grace, policy)
			var due []time.Time
			for ; !next.After(now); next = w.Next(next) {
				due = append(due, next)
			}
			if len(due) == 0 {
				if !turn.Until.IsZero() || turn.Count > 0 || !turn.Tick.IsZero() {
					t.Fatalf("%q: nothing is due at %s, but %+v", w.Spec(), now, turn)
				}
				continue
			}
			newest := due[len(due)-1]
			late := now.Sub(newest) > grace
			missed := due
			if !late || policy == Late {
				missed = due[:len(due)-1]
				if !turn.Tick.Equal(newest) || turn.Late != late {
					t.Fatalf("%q: %s is to be served at %s, but %+v", w.Spec(), newest, now, turn)
				}
			} else if !turn.Tick.IsZero() || turn.Late {
				t.Fatalf("%q: none is to be served at %s, but %+v", w.Spec(), now, turn)
			}
			if turn.Count != len(missed) || !slices.EqualFunc(turn.Missed, missed[max(0, len(missed)-10):], time.Time.Equal) || !turn.Until.Equal(newest) {
				t.Fatalf("%q: %d were missed at %s, but %+v", w.Spec(), len(missed), now, turn)
			}
			last = turn.Until
		}
	})
}
