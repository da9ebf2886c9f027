// Package checkins calls check-ins of the tasks at work, once over all replicas.
//
//	clock.go  Clock: ticks of the store's time, and what each calls
package checkins

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
	"github.com/deckhand-bot/deckhand/agent/wait"
)

// aligned is a schedule whose ticks are the same instants in every process:
// the multiples of its distance since 1970.
type aligned time.Duration

// Next is the tick after the time.
func (a aligned) Next(t time.Time) time.Time { return a.last(t).Add(time.Duration(a)) }

// last is the newest tick at the time.
func (a aligned) last(t time.Time) time.Time {
	n := t.UnixNano()
	return time.Unix(0, n-n%int64(a)).UTC()
}

// clockLook is how often a clock looks at the store's time: a machine that slept
// notices so soon.
const clockLook = 10 * time.Second

// Clock calls check-ins.
type Clock struct {
	Store agent.Store
	Runs  Lister
	// Peek folds a run that others may be working.
	Peek  func(ctx context.Context, id agent.RunID) (agent.Run, error)
	Every time.Duration // 0: never
	// Only, when set, is the one run that is looked at.
	Only agent.RunID
	Log  *slog.Logger
}

// Lister lists the runs of a store; every store does.
type Lister interface {
	Runs(ctx context.Context, f agent.RunFilter) ([]agent.RunInfo, error)
}

// Start calls check-ins at every tick of the store's time until stop is called.
func (l Clock) Start(ctx context.Context) (stop func()) {
	if l.Every <= 0 || l.Runs == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var clock sync.WaitGroup
	clock.Go(func() {
		_ = guard.Keep(ctx, l.Log, "the clock of the check-ins", func(ctx context.Context) error { l.keepTicking(ctx); return nil }) // it has none
	})
	return func() { cancel(); clock.Wait() }
}

// keepTicking waits for one tick after the other.
func (l Clock) keepTicking(ctx context.Context) {
	every := aligned(l.Every)
	var next time.Time
	for {
		now, err := l.Store.Now(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			l.Log.Warn("cannot ask the store for its time; check-ins wait", "err", err)
			now = time.Time{}
		case next.IsZero():
			next = every.Next(now)
		case !now.Before(next):
			next = every.Next(now)
			if _, err := l.Tick(ctx, every.last(now)); err != nil && ctx.Err() == nil {
				l.Log.Error("cannot call check-ins; the next tick tries again", "err", err)
			}
		}
		pause := clockLook
		if !now.IsZero() {
			pause = min(pause, next.Sub(now))
		}
		if !wait.Sleep(ctx, pause) {
			return
		}
	}
}

// Tick calls a check-in of every task that is at work, once over all replicas:
// it commits the fact, and whoever works the task asks the model. Runs that
// only wait, for a person or for a time after the next tick, are not even
// folded. It returns how many it called.
func (l Clock) Tick(ctx context.Context, tick time.Time) (called int, err error) {
	infos, err := l.Runs.Runs(ctx, agent.RunFilter{Live: true})
	if err != nil {
		return 0, err
	}
	for _, info := range infos {
		if info.Due.IsZero() || info.Due.After(tick.Add(l.Every)) || l.Only != "" && info.Run != l.Only {
			continue
		}
		n := 0
		err := guard.Do(l.Log, "the check-ins of a run", func() (err error) {
			n, err = l.callCheckIns(ctx, info.Run, tick)
			return err
		}, "run", info.Run)
		called += n
		switch {
		case ctx.Err() != nil:
			return called, ctx.Err()
		case err != nil: // one bad journal is not the others' trouble
			l.Log.Warn("cannot call the check-ins of a run", "run", info.Run, "err", err)
		}
	}
	return called, nil
}

// callCheckIns commits the tick to the run's tasks at work. One that began or looked
// at itself just now is left to the next tick.
func (l Clock) callCheckIns(ctx context.Context, id agent.RunID, tick time.Time) (called int, err error) {
	run, err := l.Peek(ctx, id) // others may be working it
	if errors.Is(err, agent.ErrNewer) || errors.Is(err, agent.ErrNoRun) {
		return 0, nil // a newer replica calls them; an expired run has none
	}
	if err != nil {
		return 0, err
	}
	for _, s := range run.Unchecked() {
		task, _ := s.Task()
		since := run.Tasks[task].Started
		if last := run.Strands.Of(s).CheckIn.Last; last.After(since) {
			since = last
		}
		if tick.Sub(since) < l.Every/2 {
			continue
		}
		_, err := l.Store.Commit(ctx, agent.Commit{
			ID: agent.NewID(), Run: id, Once: []string{fmt.Sprintf("check-in/%s/%s/%d", id, s, tick.Unix())}, Anchor: string(id),
			Events: []agent.Event{{Strand: s, Body: agent.CheckInDue{Reason: l.Every.String() + " passed", Tick: tick}}},
		})
		switch {
		case errors.Is(err, agent.ErrSeen), errors.Is(err, agent.ErrNoRun):
		case err != nil:
			return called, err
		default:
			called++
		}
	}
	return called, nil
}
