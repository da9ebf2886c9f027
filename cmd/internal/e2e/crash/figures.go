package crash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Figures are how many children died where, and how soon after a death somebody
// went on.
type Figures struct {
	mu    sync.Mutex
	died  map[string]int
	after map[string][]takeover // by what it was that went on
	Tally
}

// Tally counts, for the table of the long form.
type Tally struct {
	Kills   int // of workers and servers, by their own hand or by the test's
	Strikes int // that killed nothing: frozen workers, failovers, moved slots
	Runs    int // that were looked at
	Effects int // that were looked at: each happened once
	Seconds int // second outcomes of effects, which changed nothing
}

// Add counts.
func (f *Figures) Add(t Tally) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.Kills += t.Kills
	f.Strikes += t.Strikes
	f.Runs += t.Runs
	f.Effects += t.Effects
	f.Seconds += t.Seconds
}

type takeover struct {
	from Death
	took time.Duration
}

// Died counts a death.
func (f *Figures) Died(d Death) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.died == nil {
		f.died = map[string]int{}
	}
	f.died[d.Boundary.When+" "+d.Boundary.What]++
	f.Kills++
}

// Took notes how long it took after a death until something went on.
func (f *Figures) Took(what string, from Death, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.after == nil {
		f.after = map[string][]takeover{}
	}
	f.after[what] = append(f.after[what], takeover{from, took})
}

// Within wants everything of a sort to have gone on within the bound.
func (f *Figures) Within(t *testing.T, what string, most time.Duration) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.after[what] {
		if o.took > most {
			t.Errorf("%s took %v, at most %v is allowed: death %s of strand %s of run %s (%s)",
				what, o.took, most, o.from.Boundary, o.from.Strand, o.from.Run, o.from.About)
		}
	}
}

// Report logs the figures, and wants a death to have been followed by something.
func (f *Figures) Report(t *testing.T) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var lines []string
	for what, list := range f.after {
		slices.SortFunc(list, func(a, b takeover) int { return cmp.Compare(a.took, b.took) })
		last := list[len(list)-1]
		lines = append(lines, fmt.Sprintf("%s p50 %v max %v (%s, %s) of %d", what, list[len(list)/2].took.Round(time.Millisecond),
			last.took.Round(time.Millisecond), last.from.Boundary, last.from.About, len(list)))
	}
	if len(lines) == 0 {
		t.Error("after no death did anything go on")
	}
	slices.Sort(lines)
	t.Logf("deaths %v; went on after: %s", f.died, strings.Join(lines, "; "))
}
