package runs

import (
	"strconv"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/authority"
)

// A run is read once; after that only what is newer, and its newest event to
// see that it is still there.
func TestFoldsAreKept(t *testing.T) {
	d, m := open(t, authority.Authority{})
	run, _ := begin(t, d, m)
	fold := func() agent.Run {
		r, err := d.Load(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for range 50 {
		m.Happen(t, run, agent.Main, agent.TimePassed{})
	}
	fold()
	before := m.Reads
	for i := range 10 {
		m.Happen(t, run, agent.Main, agent.PersonSaid{Text: strconv.Itoa(i)})
		if r := fold(); len(r.Said) != i+1 {
			t.Errorf("%d words after %d", len(r.Said), i+1)
		}
	}
	if got := m.Reads - before; got != 20 {
		t.Errorf("%d events were read for 10 new ones", got)
	}
	m.Journals[run] = m.Journals[run][:20] // the store lost what it had acknowledged
	if r := fold(); r.Seq != 20 || len(r.Said) != 0 {
		t.Errorf("after a loss the fold stands at %d", r.Seq)
	}
	delete(m.Journals, run)
	if _, err := d.Load(t.Context(), run); err == nil {
		t.Error("a run that expired is still there")
	}
}
