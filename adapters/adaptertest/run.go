package adaptertest

import (
	"slices"
	"sync"
	"testing"
)

// scenario is a story with people.
type scenario struct {
	name string
	// model is what the model does; nil: it writes one file.
	model func() *play
	// rules change the configuration before anybody works; nil: as it is.
	rules func(h *house)
	play  func(h *house)
}

// atOnce is how many scenarios are played at the same time: most of their
// time they wait for a pace of the platform.
const atOnce = 8

// Run plays every scenario; DECKHAND_SOAK=1 adds those that take long.
func Run(t *testing.T, a Adapter) {
	t.Helper()
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	all := slices.Concat(goals, questions, decisions, authority, talks, troubles, reports, faults, downtimes, replicas)
	if soak() {
		all = append(all, lengthyFaults...)
	}
	for _, s := range all {
		group.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			t.Run(s.name, func(t *testing.T) { s.run(t, a) })
		})
	}
	group.Wait()
}

func (s scenario) run(t *testing.T, a Adapter) {
	t.Helper()
	model := harbour()
	if s.model != nil {
		model = s.model()
	}
	h := open(t, a, model)
	if s.rules != nil {
		s.rules(h)
	}
	h.join()
	s.play(h)
	h.whole()
}

// harbour is a model that writes one file.
func harbour() *play {
	return &play{parts: []part{work("a", once(write("berth.md", "ready\n")))}}
}

// harmless is a model that needs nobody's approval.
func harmless() *play {
	return &play{parts: []part{work("a", once(sum("6*7")), once(sum("6*8")))}}
}
