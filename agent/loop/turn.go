package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/prompt"
)

// turn is the work on one strand under one lease.
type turn struct {
	*Loop
	lease   agent.Lease
	claimed time.Time // this process's clock when the lease was got
	holding *holding
	run     agent.Run // newest committed fold
	// batch is what happened since the last commit, wake whom it concerns.
	batch []agent.Event
	ahead agent.Run // run with the first applied events of the batch
	upTo  int
	wake  map[agent.StrandID]time.Time
	spend []agent.Spend
	ends  bool
	names map[string]string // that go with the batch
	// fresh are the intents committed under this lease: only those are run
	// without asking whether they ran before.
	fresh map[agent.EffectID]bool
	talk  prompt.Rendering // the conversation as it was last sent
	aside prompt.Rendering // that of a check-in, which leaves the other as it is
}

// work takes one turn and puts away what it leaves behind. Panics are caught
// here and nowhere else: the run is paused with the reason.
func (l *Loop) work(soft, hard context.Context, lease agent.Lease) {
	ctx, lose := context.WithCancel(hard)
	defer lose()
	t := &turn{Loop: l, lease: lease, claimed: time.Now(), fresh: map[agent.EffectID]bool{}}
	t.holding = l.held.take(lease, t.claimed, lose)
	defer l.held.drop(t.holding)
	t.talk = l.folds.takeTalk(lease.Run, lease.Strand)
	defer func() { l.folds.putTalk(lease.Run, lease.Strand, t.talk) }()
	log := l.Log.With("run", lease.Run, "strand", lease.Strand)
	defer func() {
		if p := recover(); p != nil {
			log.Error("panic in a step; the run is paused", "panic", p, "stack", string(debug.Stack()))
			t.pause(hard, fmt.Sprintf("an internal error: %v", p))
		}
	}()
	err := t.steps(soft, ctx)
	var entry *agent.EntryError
	switch {
	case err == nil, errors.Is(err, errRested):
	case errors.Is(err, agent.ErrConflict), errors.Is(err, errLeaseGone):
		log.Info("lease is gone; another worker goes on")
	case errors.Is(err, agent.ErrNewer):
		log.Warn("journal was written by a newer build; handing back", "err", err)
		t.handBack(hard, t.now().Add(newerPause))
	case errors.As(err, &entry):
		log.Error("journal is damaged; this run stops, others go on", "seq", entry.Seq, "err", err)
		t.handBack(hard, agent.Parked)
	case hard.Err() != nil:
		t.cutOff(ctx)
	case ctx.Err() != nil:
		log.Info("lease was lost while a step ran", "err", err)
		t.salvage(hard)
	default:
		log.Error("step failed; it is tried again", "err", err)
		t.handBack(hard, t.now().Add(retryPause))
	}
}

// How long a strand rests after a failure of the store, and after an event of
// a newer build.
const (
	retryPause = time.Second
	newerPause = 30 * time.Second
)

// now is the store's clock, as far as this process can tell.
func (t *turn) now() time.Time { return t.lease.At.Add(time.Since(t.claimed)) }

// view is the run with the batch applied.
func (t *turn) view() agent.Run {
	if t.upTo == 0 || t.upTo > len(t.batch) {
		t.ahead, t.upTo = t.run, 0
	}
	for ; t.upTo < len(t.batch); t.upTo++ {
		e := t.batch[t.upTo]
		e.Run, e.Seq, e.At = t.lease.Run, t.run.Seq+uint64(t.upTo)+1, t.now()
		t.ahead = t.ahead.Apply(e)
	}
	return t.ahead
}

// steps is the loop: ask what is next, do it, until the strand has nothing to
// do or soft ends.
func (t *turn) steps(soft, ctx context.Context) error {
	run, err := t.folds.load(ctx, t.lease.Run)
	if err != nil {
		return err
	}
	t.run = run
	t.add(nil, run.Lost(t.lease.Strand)...)
	for {
		view := t.view()
		move := view.Next(t.lease.Strand)
		switch {
		case !move.Wake.IsZero() && !move.Wake.After(t.now()):
			t.add(nil, agent.Event{Strand: t.lease.Strand, Body: agent.TimePassed{}})
			continue
		case len(move.Steps) == 0:
			return t.release(ctx, move.Wake)
		case soft.Err() != nil:
			return t.release(ctx, agent.AtOnce)
		}
		due := agent.Parked
		waits, err := t.do(ctx, view, move, &due)
		if err != nil {
			return err
		}
		if waits {
			return t.release(ctx, due)
		}
	}
}

// do runs the steps; waits says that the strand has to wait, until due or for somebody.
func (t *turn) do(ctx context.Context, view agent.Run, move agent.Move, due *time.Time) (waits bool, err error) {
	for _, s := range move.Steps {
		switch s := s.(type) {
		case agent.AskModel:
			waits, err = t.ask(ctx, view)
		case agent.Dispatch:
			waits, err = t.dispatch(ctx, view)
		case agent.Invoke:
			err = t.invoke(ctx, view, s.Effects)
		case agent.Schedule:
			waits, err = t.begin(ctx, view, s.Free)
		case agent.Decide:
			if s.Ends() {
				return false, t.end(ctx, s)
			}
			t.add(s.Wake, s.Events...)
		case agent.Speak:
			err = t.speak(ctx, view, s.Post)
		case agent.Show:
			if len(t.batch) > 0 {
				// What was posted is written down first: people answer there
				// meanwhile. What others wrote before it may want a post, too.
				return false, t.flush(ctx)
			}
			waits = true
			*due, err = t.show(ctx, view, move.Wake)
		}
		if waits || err != nil {
			return waits, err
		}
	}
	return false, nil
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

func (t *turn) wakeAtOnce(s agent.StrandID) {
	t.add(map[agent.StrandID]time.Time{s: agent.AtOnce})
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

// release commits the batch and gives the lease back, due at the time.
func (t *turn) release(ctx context.Context, due time.Time) error {
	if t.wake == nil {
		t.wake = map[agent.StrandID]time.Time{}
	}
	t.wake[t.lease.Strand] = due
	if err := t.commit(ctx, false); err != nil {
		return err
	}
	if err := t.folds.keep(ctx, t.lease.Run); err != nil {
		t.Log.Warn("cannot keep a snapshot; the journal alone serves", "run", t.lease.Run, "err", err)
	}
	return nil
}

// flush commits the batch and keeps the lease. An empty batch needs no commit.
func (t *turn) flush(ctx context.Context) error {
	if len(t.batch) == 0 && len(t.spend) == 0 {
		return nil
	}
	return t.commit(ctx, false)
}
