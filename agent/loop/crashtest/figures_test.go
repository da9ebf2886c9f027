package crashtest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// figures are what a test measures.
type figures struct {
	mu       sync.Mutex
	deaths   int
	reached  map[string]int // boundaries by what they are
	pure     []time.Duration
	sends    []time.Duration // beyond the deadline of the request, or the lease where that ends later
	repeated int             // second outcomes in journals, which count for nothing
}

func (f *figures) outcomes(again int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.repeated += again
}

// takeover measures how long after a death another worker went on.
func (f *figures) takeover(d death, lease time.Duration, events []agent.Event) {
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
		if intent != nil && !intent.Deadline.IsZero() {
			if e.Strand != d.Strand {
				continue
			}
			if by := d.At.Add(lease); by.After(since) {
				since = by
			}
			if intent.Deadline.After(since) {
				since = intent.Deadline
			}
			f.sends = append(f.sends, e.At.Sub(since))
			return
		}
		f.pure = append(f.pure, e.At.Sub(since))
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
	if len(f.pure) > 0 && slices.Max(f.pure) > pure {
		t.Errorf("a takeover took %v, at most %v is allowed", slices.Max(f.pure), pure)
	}
	if len(f.sends) > 0 && slices.Max(f.sends) > sends {
		t.Errorf("a takeover of a send took %v beyond its deadline, at most %v is allowed", slices.Max(f.sends), sends)
	}
}

func spread(list []time.Duration) string {
	if len(list) == 0 {
		return "none"
	}
	slices.Sort(list)
	return fmt.Sprintf("p50 %v max %v (of %d)", list[len(list)/2].Round(time.Millisecond), list[len(list)-1].Round(time.Millisecond), len(list))
}
