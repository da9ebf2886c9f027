package crashtest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// figures are what a test measures.
type figures struct {
	mu        sync.Mutex
	deaths    int
	reached   map[string]int // boundaries by what they are
	pure      []takeover
	sends     []takeover // beyond the deadline of the request, or the lease where that ends later
	repeated  int        // second outcomes in journals, which count for nothing
	snapshots int        // that were kept and compared
}

// takeover is how long after a death another worker's first event came.
type takeover struct {
	took time.Duration
	from death
}

func (f *figures) outcomes(again int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repeated += again
}

// measure finds how long after a death another worker went on: with the same
// strand after the death in an effect, else with any strand of the run.
func (f *figures) measure(d death, lease time.Duration, events []agent.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deaths++
	if f.reached == nil {
		f.reached = map[string]int{}
	}
	f.reached[d.Boundary.When+" "+d.Boundary.What]++
	intent := openIntent(d, events)
	since := d.At
	for _, e := range events {
		if !e.At.After(d.At) {
			continue
		}
		if c, is := e.Body.(agent.CheckpointDecided); is && c.By != agent.Deckhand {
			since = e.At // until then it waited for a person
			continue
		}
		sending := intent != nil && !intent.Deadline.IsZero()
		if e.Strand != d.Strand && (sending || d.Boundary.What == "effect") {
			continue
		}
		if sending {
			if by := d.At.Add(lease); by.After(since) {
				since = by
			}
			if intent.Deadline.After(since) {
				since = intent.Deadline
			}
			f.sends = append(f.sends, takeover{e.At.Sub(since), d})
			return
		}
		f.pure = append(f.pure, takeover{e.At.Sub(since), d})
		return
	}
}

// openIntent is the strand's intent without an outcome at the time of death,
// nil if there was none.
func openIntent(d death, events []agent.Event) *agent.ToolIntent {
	var open *agent.ToolIntent
	for _, e := range events {
		if e.At.After(d.At) || e.Strand != d.Strand {
			continue
		}
		switch b := e.Body.(type) {
		case agent.ToolIntent:
			open = &b
		case agent.ToolOutcome:
			open = nil
		}
	}
	return open
}

// report logs the figures and wants takeovers within the bounds.
func (f *figures) report(t *testing.T, pure, sends time.Duration) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	t.Logf("%d deaths %v; went on after: pure %s; sends, beyond deadline or lease: %s; %d second outcomes, of no effect",
		f.deaths, f.reached, spread(f.pure), spread(f.sends), f.repeated)
	within(t, "the takeover", f.pure, pure)
	within(t, "after its deadline, the takeover of a send", f.sends, sends)
}

func within(t *testing.T, what string, list []takeover, most time.Duration) {
	t.Helper()
	for _, o := range list {
		if o.took > most {
			t.Errorf("%s took %v, at most %v is allowed: death %s of strand %s of run %s",
				what, o.took, most, o.from.Boundary, o.from.Strand, o.from.Run)
		}
	}
}

func spread(list []takeover) string {
	if len(list) == 0 {
		return "none"
	}
	slices.SortFunc(list, func(a, b takeover) int { return cmp.Compare(a.took, b.took) })
	last := list[len(list)-1]
	return fmt.Sprintf("p50 %v max %v (%s) of %d", list[len(list)/2].took.Round(time.Millisecond),
		last.took.Round(time.Millisecond), last.from.Boundary, len(list))
}
