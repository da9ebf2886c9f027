package watchdog

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deckhand-bot/deckhand/agent"
)

func TestWhyIdle(t *testing.T) {
	now := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	in := now.Add
	const hour = time.Hour
	works := []agent.StrandID{agent.Main}
	for name, tt := range map[string]struct {
		health health
		due    time.Time
		want   AlertKind
	}{
		"worked, by a lease that is kept":    {health{working: works}, now, AlertStalled},
		"tried again each second":            {health{working: works}, in(time.Second), AlertStalled},
		"due for less than an hour":          {health{working: works}, in(-59 * time.Minute), AlertStalled},
		"due for more than an hour":          {health{working: works}, in(-61 * time.Minute), AlertAbandoned},
		"due for long, and it waits":         {health{person: true}, in(-61 * time.Minute), AlertAbandoned},
		"works, parked":                      {health{working: works}, time.Time{}, AlertLost},
		"works, beside one that waits":       {health{working: works, timer: in(9 * hour), person: true}, in(9 * hour), AlertLost},
		"waits for a time to come":           {health{timer: in(hour)}, in(hour), ""},
		"waits for a time just over":         {health{timer: in(-time.Minute)}, time.Time{}, ""},
		"waits for a time long over, parked": {health{timer: in(-2 * hour)}, time.Time{}, AlertLost},
		"waits for a time, and is worked":    {health{timer: in(-2 * hour)}, now, AlertStalled},
		"waits for a person":                 {health{person: true}, time.Time{}, ""},
		"waits for nobody":                   {health{}, time.Time{}, AlertIdle},
		"cannot be read":                     {health{unreadable: errors.New("entry 7")}, in(-2 * hour), AlertUnreadable},
	} {
		got, why := tt.health.whyIdle(agent.RunInfo{Due: tt.due}, now, limits{after: hour})
		if got != tt.want || (why == "") != (got == "") {
			t.Errorf("%s: %q, %q; want %q", name, got, why, tt.want)
		}
	}
}

func TestSummed(t *testing.T) {
	var raised []Alert
	since := time.Date(2026, 11, 21, 15, 0, 0, 0, time.UTC)
	for i := range maxSingle + 5 {
		kind := AlertLost
		if i%2 == 0 {
			kind = AlertAbandoned
		}
		raised = append(raised, Alert{Run: "run", Kind: kind, Since: since.Add(-time.Duration(i) * time.Minute)})
	}
	got := summarised(raised)
	type sum struct {
		Kind  AlertKind
		More  int
		Since time.Time
	}
	var sums []sum
	for _, a := range got[maxSingle:] {
		sums = append(sums, sum{a.Kind, a.More, a.Since})
	}
	want := []sum{{AlertAbandoned, 3, since.Add(-24 * time.Minute)}, {AlertLost, 2, since.Add(-23 * time.Minute)}}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFirstLine(t *testing.T) {
	for text, want := range map[string]string{"": "", "boats": "boats", "two\nlines": "two", "ÄÖÜÄÖÜ": "ÄÖÜÄ…"} {
		if got := firstLine(text, 5); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
