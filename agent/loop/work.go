package loop

import (
	"context"
	"errors"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// worker takes one turn of a strand: it asks the run what is next, does it, and
// goes on until the strand has nothing to do.
type worker struct {
	*turn
	asker *asker
}

// work takes one turn and puts away what it leaves behind. A panic in it pauses
// the run with the reason.
func work(soft, hard context.Context, en *engine, lease agent.Lease) {
	ctx, lose := context.WithCancel(hard)
	defer lose()
	since := lease.Since
	if since.IsZero() {
		since = time.Now()
	}
	t := &turn{engine: en, run: &agent.Run{}, lease: lease, told: lease.At, toldAt: since, fresh: map[agent.EffectID]bool{}}
	t.held = en.leases.Take(lease, since, lose)
	defer en.leases.Drop(t.held)
	w := &worker{turn: t, asker: &asker{turn: t, talk: en.takeTalk(lease.Run, lease.Strand)}}
	defer func() { en.putTalk(lease.Run, lease.Strand, w.asker.talk) }()
	log := en.Log.With("run", lease.Run, "strand", lease.Strand)
	err := guard.Do(log, "a turn of a strand", func() error { return w.steps(soft, ctx) })
	var entry *agent.EntryError
	switch {
	case err == nil, errors.Is(err, errRested):
		en.denials.forget(lease)
	case guard.Is(err):
		_ = t.pause(hard, err.Error()) // it is logged
	case errors.Is(err, agent.ErrConflict), errors.Is(err, errLeaseGone):
		log.Info("lease is gone; another worker goes on")
	case errors.Is(err, agent.ErrLost):
		log.Error("the store has lost events that it had acknowledged; the strand is decided anew by what it has", "err", err)
		t.handBack(hard, agent.AtOnce)
	case errors.Is(err, agent.ErrNewer):
		log.Warn("journal was written by a newer build; handing back", "err", err)
		t.handBack(hard, t.now().Add(retryPause)) // claims of this build leave it alone from now on
	case errors.As(err, &entry):
		log.Error("journal is damaged; this run stops, others go on", "seq", entry.Seq, "err", err)
		t.handBack(hard, agent.Parked)
	case errors.Is(err, agent.ErrDamaged):
		log.Error("journal is damaged; this run stops, others go on", "err", err)
		t.handBack(hard, agent.Parked)
	case agent.Permanent(err):
		log.Error("the store refuses a commit for good; the run is paused", "err", err)
		t.denied(hard, err)
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

// retryPause is how long a strand rests after a failure of the store, and where
// a newer build wrote while it was worked.
const retryPause = time.Second

// begin folds the run. A call that was under way when the strand's last holder
// vanished is lost.
func (w *worker) begin(ctx context.Context) error {
	run, err := w.folds.LoadAt(ctx, w.lease.Run, w.lease.Head)
	if err != nil {
		return err
	}
	w.run = &run
	w.add(nil, run.Strands.Lost(w.lease.Strand)...)
	return nil
}

// steps is the loop: ask what is next, do it, until the strand has nothing to
// do or soft ends.
func (w *worker) steps(soft, ctx context.Context) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	for {
		view := w.view()
		move := w.next(view)
		switch {
		case !move.Wake.IsZero() && !move.Wake.After(w.now()):
			w.add(nil, agent.Event{Strand: w.lease.Strand, Body: agent.TimePassed{}})
			continue
		case len(move.Steps) == 0:
			return w.release(ctx, move.Wake)
		case soft.Err() != nil:
			return w.release(ctx, agent.AtOnce)
		}
		due := agent.Parked
		waits, err := w.do(ctx, view, move, &due)
		if err != nil {
			return err
		}
		if waits {
			return w.release(ctx, due)
		}
	}
}

// do runs the steps; waits says that the strand has to wait, until due or for somebody.
func (w *worker) do(ctx context.Context, view *agent.Run, move agent.Move, due *time.Time) (waits bool, err error) {
	for _, s := range move.Steps {
		switch s := s.(type) {
		case agent.AskModel:
			waits, err = w.asker.ask(ctx, view)
		case agent.Dispatch:
			waits, err = dispatcher{w.turn}.dispatch(ctx, view)
		case agent.Invoke:
			err = effects{w.turn}.invoke(ctx, view, s.Effects)
		case agent.Schedule:
			waits, err = planner{w.turn}.startTasks(ctx, view, s.Free)
		case agent.Decide:
			if s.Ends() {
				return false, w.end(ctx, s)
			}
			w.add(s.Wake, s.Events...)
		case agent.Speak:
			err = posts{w.turn}.speak(ctx, view, s.Post)
		case agent.Show:
			if len(w.batch) > 0 {
				// What was posted is written down first: people answer there
				// meanwhile. What others wrote before it may want a post, too.
				return false, w.flush(ctx)
			}
			waits = true
			*due, err = posts{w.turn}.showCard(ctx, view, move.Wake)
		}
		if waits || err != nil {
			return waits, err
		}
	}
	return false, nil
}
