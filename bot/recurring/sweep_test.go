package recurring

import (
	"context"
	"slices"
	"testing"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/bot/bottest"
)

// rival is a store at which somebody else is faster: before the next write,
// once, happens what first does.
type rival struct {
	*bottest.Memory
	first func()
}

func (r *rival) hurry() {
	if f := r.first; f != nil {
		r.first = nil
		f()
	}
}

func (r *rival) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	r.hurry()
	return r.Memory.Commit(ctx, c)
}

func (r *rival) SetValue(ctx context.Context, name, value string) error {
	r.hurry()
	return r.Memory.SetValue(ctx, name, value)
}

// slow makes the clock one that somebody overtakes.
func (w *tower) slow(c *Clock, first func()) {
	r := &rival{w.Memory, first}
	c.cfg.Reporter.Runs.Journals, c.cfg.Recurring.Store = r, r
}

// A clock that wants to serve a turn together with one that was missed, and is
// overtaken at the older one, must not take the newer one for served.
func TestAClockThatIsOvertakenAtAnOlderTurn(t *testing.T) {
	w := clocks(t, 2, daily())
	fast, slow := w.clocks[0], w.clocks[1]
	fast.Serve(t.Context(), at(0, 8, 0))
	w.slow(slow, func() { fast.Serve(t.Context(), at(0, 9, 0)) })
	next := slow.Serve(t.Context(), at(1, 9, 0))
	slow.Serve(t.Context(), next)
	if got := w.turns(); !slices.Equal(got, []string{"daily 23T09:00", "daily 24T09:00"}) {
		t.Errorf("turns %v", got)
	}
}

// A key that was used while the state got lost is gone past, and nothing else.
func TestAKeyThatWasUsedUnderALostState(t *testing.T) {
	w := clocks(t, 1, daily())
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	w.Once["tick/daily/"+key36(at(0, 9, 0))] = true
	now := at(1, 9, 0)
	for range 3 {
		now = c.Serve(t.Context(), now)
	}
	if got := w.turns(); !slices.Equal(got, []string{"daily 24T09:00"}) {
		t.Errorf("turns %v", got)
	}
	w.Once["tick/daily/"+key36(at(2, 9, 0))] = true
	c.Serve(t.Context(), at(2, 9, 0))
	c.Serve(t.Context(), at(2, 9, 1))
	c.Serve(t.Context(), at(3, 9, 0))
	if got := w.turns(); !slices.Equal(got, []string{"daily 24T09:00", "daily 26T09:00"}) {
		t.Errorf("after a turn that cannot be served: turns %v", got)
	}
}

// A clock that sees a schedule for the first time, and slowly, leaves standing
// what a faster one has begun and served meanwhile.
func TestAScheduleBeginsOnce(t *testing.T) {
	w := clocks(t, 2, daily())
	fast, slow := w.clocks[0], w.clocks[1]
	w.slow(slow, func() {
		fast.Serve(t.Context(), at(0, 8, 0))
		fast.Serve(t.Context(), at(0, 9, 0))
	})
	slow.Serve(t.Context(), at(0, 8, 0))
	state, known, err := slow.cfg.Recurring.Served(t.Context(), daily())
	if err != nil || !known || state.Run != w.newestRun().ID || !state.At.Equal(at(0, 9, 0)) {
		t.Errorf("the state is %+v (known %t, %v), want that of the turn which was served", state, known, err)
	}
}

// A schedule that was removed begins again, also at the same time of another day.
func TestAScheduleBeginsAgain(t *testing.T) {
	w := clocks(t, 1, daily())
	c := w.clocks[0]
	c.Serve(t.Context(), at(0, 8, 0))
	delete(w.Names, NameServed+"daily")
	c.Serve(t.Context(), at(2, 8, 0))
	c.Serve(t.Context(), at(2, 9, 0))
	if got := w.turns(); !slices.Equal(got, []string{"daily 25T09:00"}) {
		t.Errorf("turns %v, want none of the time before it began again", got)
	}
}

// Reports that were posted are not read again by the reports after them.
func TestPostedReportsAreNotReadAgain(t *testing.T) {
	w := clocks(t, 1, daily())
	c := w.clocks[0]
	serve := func(day int) { c.Serve(t.Context(), bottest.Noon.AddDate(0, 0, day)) } // where journals are written
	serve(0)
	serve(1)
	run := w.newestRun().ID
	for _, p := range []agent.Post{{Key: "card", Kind: agent.PostScheduled}, {Key: "report", Kind: agent.PostScheduled}} {
		w.Happen(t, run, agent.Voice, p.Intent(bottest.Noon))
		w.Happen(t, run, agent.Voice, agent.ToolOutcome{Effect: p.Effect(), State: agent.OutcomeOK,
			Text: agent.Shown{Message: "slack:T1:C1:1.0", Thread: "slack:T1:C1:1.0"}.Text()})
	}
	serve(2) // it reads that it was posted
	before := w.Reads
	serve(3)
	if read, one := w.Reads-before, len(w.Journals[w.Order[1]]); len(w.Order) != 3 || read != one {
		t.Errorf("%d events were read for the third report of %d, want the %d of the second, which is not posted yet", read, len(w.Order), one)
	}
}

// A turn that is served, the run that it begins and its key are one atomic
// write: a connection that breaks between two of them would lose the turn.
func TestATurnIsOneWrite(t *testing.T) {
	w := clocks(t, 1, daily())
	w.clocks[0].Serve(t.Context(), at(0, 8, 0))
	w.clocks[0].Serve(t.Context(), at(0, 9, 0))
	if len(w.Order) != 1 {
		t.Fatalf("runs %v, want one", w.Order)
	}
	if err := w.Together(w.Order[0]); err != nil {
		t.Error(err)
	}
}
