package loop

import (
	"maps"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/llm"
	"github.com/deckhand-bot/deckhand/agent/loop/artifact"
	"github.com/deckhand-bot/deckhand/agent/loop/lease"
	"github.com/deckhand-bot/deckhand/agent/loop/past"
)

// turn is the work on one strand under one lease: the fold that it began with,
// and the batch of what happened since the last commit. Runs are handed on by
// pointer, as they are large and many steps deep on the stacks of thousands of
// turns; whoever has one leaves it as it is. Where a method of a run is called
// deep in a turn, a function of its own keeps the copy off that stack.
type turn struct {
	*engine
	lease  agent.Lease
	told   time.Time // the store's clock, as it was last corrected
	toldAt time.Time // this process's clock then
	held   *lease.Held
	run    *agent.Run // newest committed fold

	batch []agent.Event // what happened since the last commit
	ahead *agent.Run    // run with the first applied events of the batch
	upTo  int           // how many of them are applied
	wake  map[agent.StrandID]time.Time
	spend []agent.Spend
	ends  bool              // the batch ends the run
	names map[string]string // that are set with the batch; empty ones are given up
	// fresh are the intents committed under this lease: only those are run
	// without asking whether they ran before.
	fresh map[agent.EffectID]bool
}

// now is the store's clock, as far as this process can tell: it is not behind
// what the store last said, and ahead of it by a call's way at most.
func (t *turn) now() time.Time { return t.told.Add(time.Since(t.toldAt)) }

// hear corrects the clock by what the store says: a process that was frozen, or
// whose machine slept, lags behind.
func (t *turn) hear(at time.Time) {
	if at.After(t.now()) {
		t.told, t.toldAt = at, time.Now()
	}
}

// view is the run with the batch applied.
func (t *turn) view() *agent.Run {
	if t.upTo == 0 || t.upTo > len(t.batch) {
		t.ahead, t.upTo = t.run, 0
	}
	if t.upTo == len(t.batch) {
		return t.ahead
	}
	ahead := *t.ahead
	for ; t.upTo < len(t.batch); t.upTo++ {
		e := t.batch[t.upTo]
		e.Run, e.Seq, e.At = t.lease.Run, t.run.Seq+uint64(t.upTo)+1, t.now()
		ahead = ahead.Apply(e)
	}
	t.ahead = &ahead
	return t.ahead
}

// add puts events into the batch. The run's end is noticed here.
func (t *turn) add(wake map[agent.StrandID]time.Time, events ...agent.Event) {
	t.batch = append(t.batch, events...)
	if len(wake) > 0 {
		if t.wake == nil {
			t.wake = map[agent.StrandID]time.Time{}
		}
		maps.Copy(t.wake, wake)
		delete(t.wake, t.lease.Strand) // its own wake-up is its release
	}
	for _, e := range events {
		if _, ended := e.Body.(agent.RunEnded); ended {
			t.ends = true
		}
	}
}

// wakeAt makes a strand due with the batch.
func (t *turn) wakeAt(s agent.StrandID, at time.Time) {
	if t.wake == nil {
		t.wake = map[agent.StrandID]time.Time{}
	}
	t.wake[s] = at
}

// event adds a body on this strand.
func (t *turn) event(b agent.Body) {
	t.add(nil, agent.Event{Strand: t.lease.Strand, Body: b})
}

// events adds bodies on this strand.
func (t *turn) events(bodies []agent.Body) {
	for _, b := range bodies {
		t.event(b)
	}
}

// reply answers a call in Deckhand's own words.
func (t *turn) reply(c agent.OpenCall, text string) {
	t.event(agent.CallReplied{Effect: c.Effect, Text: text})
}

// refuse answers a call that cannot be used; three in a row end the step.
func (t *turn) refuse(c agent.OpenCall, text string) {
	t.event(agent.CallReplied{Effect: c.Effect, Text: "error: " + text, Problem: true})
}

// openCheckpoint opens a checkpoint about a call, with id and expiry.
func (t *turn) openCheckpoint(view *agent.Run, c agent.CheckpointOpened) {
	about := c.Effect
	if about == "" { // a question of the strand itself
		about = agent.EffectID(t.lease.Strand)
	}
	c.ID = view.CheckpointID(about)
	if c.Expires.IsZero() { // it has none of its own
		c.Expires = view.Brief.Expiry(t.now())
	}
	t.wakeMain(c)
}

// wakeMain adds a body on this strand that the main strand has to look at.
func (t *turn) wakeMain(b agent.Body) {
	t.add(map[agent.StrandID]time.Time{agent.Main: agent.AtOnce}, agent.Event{Strand: t.lease.Strand, Body: b})
}

// next is what the strand does next.
//
//go:noinline
func (t *turn) next(view *agent.Run) agent.Move { return view.Next(t.lease.Strand) }

// purpose is what the strand asks the model for.
//
//go:noinline
func (t *turn) purpose(view *agent.Run) llm.Purpose { return view.Purpose(t.lease.Strand) }

// conversation is the one that the strand is in.
//
//go:noinline
func (t *turn) conversation(view *agent.Run) agent.Talk { return view.Talk(t.lease.Strand) }

// checking reports whether the strand's next question is a check-in.
func (t *turn) checking(view *agent.Run) bool { return t.purpose(view) == llm.CheckIn }

// artifacts are the texts of the run that are too long for the journal.
func (t *turn) artifacts() artifact.Keeper {
	return artifact.Keeper{Blobs: t.Blobs, Run: t.lease.Run, Log: t.Log}
}

// past is what the run knows of those before it.
func (t *turn) past() past.Looker {
	return past.Looker{Journals: t.Store, Names: t.Blobs, Memory: t.Memory, Log: t.Log}
}
