package engine

import (
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/cmd/internal/e2e/crash"
)

// What went on after a death: anything that sends nothing, and a send, which is
// measured from the deadline of its request, or from the lease's end where that
// is later.
const (
	goneOn = "the takeover"
	sentOn = "after its deadline, the takeover of a send"
)

// figures are what a test measures.
type figures struct {
	crash.Figures

	mu        sync.Mutex
	snapshots int // that were kept and compared
}

// measure finds how long after a death another worker went on: with the same
// strand after the death in an effect, else with any strand of the run.
func (f *figures) measure(d crash.Death, lease time.Duration, events []agent.Event) {
	f.Died(d)
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
			f.Took(sentOn, d, e.At.Sub(since))
			return
		}
		f.Took(goneOn, d, e.At.Sub(since))
		return
	}
}

// openIntent is the strand's intent without an outcome at the time of death,
// nil if there was none.
func openIntent(d crash.Death, events []agent.Event) *agent.ToolIntent {
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
