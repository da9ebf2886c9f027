package ingest

import (
	"errors"
	"maps"
	"strconv"
	"testing"
)

// hashed writes positions as they are, with a sign of its own.
var hashed = Positions{
	Write: func(at int64) string { return "#" + strconv.FormatInt(at, 10) },
	Read: func(text string) int64 {
		if len(text) < 2 || text[0] != '#' {
			return 0
		}
		at, err := strconv.ParseInt(text[1:], 10, 64)
		if err != nil {
			return 0
		}
		return at
	},
}

const seenHere = "seen/here:1"

func heardAt(w *Watermarks, place string, ats ...int64) {
	for _, at := range ats {
		w.Begin(place, at)
		w.End(place, at, true)
	}
}

func TestWatermarksNeverPassWhatIsNotWrittenDown(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		happens func(w *Watermarks)
		saved   map[string]string // behind the name
		unheard map[string]int64
		sound   bool
		online  int // until when all was well; 0: until now, -1: not saved
	}{
		"nothing": {func(*Watermarks) {}, nil, nil, true, 0},
		"heard":   {func(w *Watermarks) { heardAt(w, "a", 10, 20) }, map[string]string{"a": "#20"}, nil, true, 0},
		"heard in another order": {func(w *Watermarks) { heardAt(w, "a", 20, 10) },
			map[string]string{"a": "#20"}, nil, true, 0},
		"one is open": {func(w *Watermarks) { w.Begin("a", 10); heardAt(w, "a", 20) },
			map[string]string{"a": "#9"}, nil, true, 9},
		"one is open and nothing was heard": {func(w *Watermarks) { w.Begin("a", 10) }, nil, nil, true, 9},
		"open twice, ended once": {func(w *Watermarks) { w.Begin("a", 10); heardAt(w, "a", 10, 20) },
			map[string]string{"a": "#9"}, nil, true, 9},
		"one failed": {func(w *Watermarks) { w.Begin("a", 10); w.End("a", 10, false); heardAt(w, "a", 20) },
			map[string]string{"a": "#9"}, map[string]int64{"a": 9}, false, 0},
		"two failed": {func(w *Watermarks) {
			heardAt(w, "a", 5)
			w.Begin("a", 30)
			w.End("a", 30, false)
			w.Begin("a", 10)
			w.End("a", 10, false)
		}, map[string]string{"a": "#5"}, map[string]int64{"a": 9}, false, 0},
		"failed, and then came again": {func(w *Watermarks) { w.Begin("a", 10); w.End("a", 10, false); heardAt(w, "a", 10) },
			map[string]string{"a": "#10"}, nil, true, 0},
		"failed, and then its link unfolded": {func(w *Watermarks) { w.Begin("a", 10); w.End("a", 10, false); w.Skip("a", 10) },
			map[string]string{"a": "#9"}, map[string]int64{"a": 9}, false, 0},
		"nothing to hear":              {func(w *Watermarks) { w.Skip("a", 10); w.Skip("a", 5) }, map[string]string{"a": "#10"}, nil, true, 0},
		"nothing to hear, one is open": {func(w *Watermarks) { w.Begin("a", 5); w.Skip("a", 10) }, map[string]string{"a": "#4"}, nil, true, 4},
		"failed, and another place went well": {func(w *Watermarks) { w.Begin("a", 10); w.End("a", 10, false); heardAt(w, "b", 7) },
			map[string]string{"b": "#7"}, map[string]int64{"a": 9}, false, 0},
		"caught up over a failure that is gone": {func(w *Watermarks) {
			w.Begin("a", 10)
			w.End("a", 10, false)
			w.SetCaughtUp(false)
			if gone := w.CaughtUp("a", 30, false); gone != 1 {
				t.Errorf("%d are gone", gone)
			}
			w.SetCaughtUp(true)
		}, map[string]string{"a": "#30"}, nil, true, 0},
		"caught up, and it failed again": {func(w *Watermarks) {
			w.Begin("a", 10)
			w.End("a", 10, false)
			w.SetCaughtUp(false)
			w.Settle(Mark{"a", 10, "lane"}, false)
			w.CaughtUp("a", 30, false)
			w.SetCaughtUp(true)
		}, map[string]string{"a": "#9"}, map[string]int64{"a": 9}, false, 0},
		"some of it is caught up": {func(w *Watermarks) {
			heardAt(w, "a", 5)
			w.SetCaughtUp(false)
			heardAt(w, "a", 50) // it came while the older ones are read
			w.Settle(Mark{"a", 20, "lane"}, true)
			w.CaughtUp("a", 20, true)
		}, map[string]string{"a": "#20"}, nil, false, 0},
		"nothing of it is caught up": {func(w *Watermarks) {
			heardAt(w, "a", 5)
			w.SetCaughtUp(false)
			heardAt(w, "a", 50)
			heardAt(w, "b", 50)
		},
			map[string]string{"a": "#5"}, nil, false, 0},
		"caught up short of a failure": {func(w *Watermarks) { w.Begin("a", 10); w.End("a", 10, false); w.CaughtUp("a", 8, false) },
			map[string]string{"a": "#8"}, map[string]int64{"a": 9}, false, 0},
		"caught up while one is open": {func(w *Watermarks) { w.Begin("a", 10); w.CaughtUp("a", 30, false) },
			map[string]string{"a": "#9"}, nil, true, 9},
		"caught up to less than was heard": {func(w *Watermarks) { heardAt(w, "a", 40); w.CaughtUp("a", 30, false) },
			map[string]string{"a": "#40"}, nil, true, 0},
		"the very first position is open": {func(w *Watermarks) { w.Begin("a", 1); heardAt(w, "a", 2) }, nil, nil, true, -1},
		"no place, no position": {func(w *Watermarks) { heardAt(w, "", 10); heardAt(w, "a", 0, -1); w.End("a", 0, false); w.Skip("a", 0) },
			nil, nil, true, 0},
		"not all is caught up": {func(w *Watermarks) { heardAt(w, "a", 10); w.SetCaughtUp(false) },
			map[string]string{"a": "#10"}, nil, false, 0},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newFakeNames()
			w := NewWatermarks(m, seenHere, hashed)
			w.SetCaughtUp(true)
			c.happens(w)
			if err := w.Save(t.Context(), 99); err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			for place, at := range c.saved {
				want[seenHere+":"+place] = at
			}
			if c.sound && c.online == 0 {
				c.online = 99
			}
			if c.sound && c.online > 0 {
				want[seenHere] = "#" + strconv.Itoa(c.online)
			}
			if !maps.Equal(m.values, want) {
				t.Errorf("saved %v, want %v", m.values, want)
			}
			if got := w.Unheard(); !maps.Equal(got, c.unheard) {
				t.Errorf("not heard: %v, want %v", got, c.unheard)
			}
			if w.AllHeard() != c.sound {
				t.Errorf("sound is %v", w.AllHeard())
			}
		})
	}
}

func TestWatermarksAreReadAsTheyWereSaved(t *testing.T) {
	t.Parallel()
	m := newFakeNames()
	w := NewWatermarks(m, seenHere, hashed)
	if k, err := w.Since(t.Context(), 1000); err != nil || len(k.Places) != 0 || k.Online != 0 {
		t.Fatalf("before anything was heard: %+v, %v", k, err)
	}
	w.SetCaughtUp(true)
	heardAt(w, "a", 10)
	heardAt(w, "@me:2", 20)
	if err := w.Save(t.Context(), 30); err != nil {
		t.Fatal(err)
	}
	m.values[seenHere+":ahead"] = "#1001" // of a clock that was wrong
	m.values["seen/here:12"], m.values[seenHere+":bad"] = "#77", "what is no position"
	k, err := NewWatermarks(m, seenHere, hashed).Since(t.Context(), 1000)
	if err != nil || !maps.Equal(k.Places, map[string]int64{"a": 10, "@me:2": 20, "bad": 0}) || k.Online != 30 {
		t.Errorf("kept %+v, %v", k, err)
	}
	if k, err := w.Since(t.Context(), 29); err != nil || k.Online != 0 {
		t.Errorf("all was well until %d, which is still to come, %v", k.Online, err)
	}
}

// Only what moved is written, and what could not be saved is saved later.
func TestWatermarksAreSavedOnceTheyMove(t *testing.T) {
	t.Parallel()
	m := newFakeNames()
	w := NewWatermarks(m, seenHere, hashed)
	w.SetCaughtUp(true)
	heardAt(w, "a", 10)
	m.down = errors.New("the disk is full")
	if err := w.Save(t.Context(), 0); !errors.Is(err, m.down) {
		t.Errorf("saved with %v", err)
	}
	if _, err := w.Since(t.Context(), 1000); !errors.Is(err, m.down) {
		t.Errorf("read with %v", err)
	}
	m.down = nil
	for _, step := range []struct {
		happens func()
		want    string
	}{
		{func() {}, "#10"},
		{func() { delete(m.values, seenHere+":a") }, ""}, // nothing moved
		{func() { heardAt(w, "a", 20) }, "#20"},
		{func() { w.Begin("a", 15); w.End("a", 15, false) }, "#14"}, // back to what failed
	} {
		step.happens()
		if err := w.Save(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if got := m.values[seenHere+":a"]; got != step.want {
			t.Errorf("saved %q, want %q", got, step.want)
		}
	}
	if at, is := m.values[seenHere]; is {
		t.Errorf("without a connection, all was well at %s", at)
	}
}
