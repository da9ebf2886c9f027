package redis

// What a Cluster needs besides: what is in other slots is reserved first.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// onceHold is how long a reserved once-key is taken before its commit confirms it.
const onceHold = time.Minute

// splitSpends parts a commit's spends into those of its run's own counters, which
// are in its slot, and the others.
func splitSpends(c agent.Commit) (own, foreign []agent.Spend) {
	for _, spend := range c.Spend {
		if run, is := counterRun(spend.Counter); is && run == c.Run {
			own = append(own, spend)
		} else {
			foreign = append(foreign, spend)
		}
	}
	return own, foreign
}

// reservation is one thing that a commit holds in another slot.
type reservation struct {
	hold, drop *call
	refused    error
	fresh      bool // held by this sending of the commit, not by an earlier one
}

// commitReserved is a Cluster's commit with once-keys, counters or names of
// other slots. First the run's script is asked, then keys and counters are
// reserved under the attempt's id, then names are set, and then the commit is
// written; where that refuses, what was reserved is given back. Names come
// before the commit because a process may die between the two: a name without
// its run is found out by who reads it, a run without its name by nobody.
func (s *Store) commitReserved(ctx context.Context, c agent.Commit, p packed) (agent.Receipt, error) {
	held := s.reservations(c, p)
	r, err := s.send(ctx, p, true)
	if errors.Is(err, errFits) {
		err = s.reserve(ctx, held)
		if err == nil {
			err = s.setNames(ctx, c.Set)
		}
		if err == nil {
			r, err = s.send(ctx, p, false)
		}
	}
	if err == nil {
		return r, s.confirmOnce(ctx, c)
	}
	behind := context.WithoutCancel(ctx)
	switch {
	case errors.Is(err, agent.ErrConflict):
		// An earlier sending may have been written and overtaken: what that
		// one holds stays.
		return r, errors.Join(err, s.giveUp(behind, held, false))
	case errors.Is(err, agent.ErrSeen), errors.Is(err, agent.ErrStale), errors.Is(err, agent.ErrBudget):
		return r, errors.Join(err, s.giveUp(behind, held, true))
	}
	return r, err // of the connection: the commit may have been written
}

// reservations lists what a commit must hold; nothing is held yet.
func (k keys) reservations(c agent.Commit, p packed) []reservation {
	var all []reservation
	for _, name := range c.Once {
		keys := []string{onceKey(name)}
		all = append(all, reservation{
			hold:    &call{script: holdOnceScript, keys: keys, args: []any{c.ID, int64(onceHold.Seconds())}},
			drop:    &call{script: dropOnceScript, keys: keys, args: []any{c.ID}},
			refused: agent.ErrSeen,
		})
	}
	for i, spend := range p.foreign {
		key, field := k.counter(spend.Counter)
		keys := []string{key, heldKey(key, c.ID, i)}
		all = append(all, reservation{
			hold: &call{
				script: holdSpendScript, keys: keys,
				args: []any{field, spend.Nano, spend.Limit, int64(attemptTTL.Seconds())},
			},
			drop:    &call{script: dropSpendScript, keys: keys, args: []any{field, strconv.FormatInt(-spend.Nano, 10)}},
			refused: &agent.BudgetError{Counter: spend.Counter},
		})
	}
	return all
}

// reserve reserves one after the other until one is refused.
func (s *Store) reserve(ctx context.Context, all []reservation) error {
	for i := range all {
		got, err := s.pipe.number(ctx, all[i].hold)
		if err != nil {
			return s.explain(ctx, "reserve for a commit", err)
		}
		if got == 0 {
			return fmt.Errorf("reserve for a commit: %w", all[i].refused)
		}
		all[i].fresh = got == 2
	}
	return nil
}

// giveUp gives back what this sending reserved, or what any sending of the
// commit did. What was not held is left alone by the scripts.
func (s *Store) giveUp(ctx context.Context, all []reservation, ofAny bool) error {
	var errs []error
	for _, h := range all {
		if !h.fresh && !ofAny {
			continue
		}
		if _, err := s.pipe.run(ctx, h.drop); err != nil {
			errs = append(errs, s.explain(ctx, "give back a reservation", err))
		}
	}
	return errors.Join(errs...)
}

// confirmOnce keeps the once-keys of a written commit for their whole time.
func (s *Store) confirmOnce(ctx context.Context, c agent.Commit) error {
	if len(c.Once) == 0 {
		return nil
	}
	line := s.client.Pipeline()
	for _, name := range c.Once {
		line.Set(ctx, onceKey(name), c.ID, onceTTL)
	}
	if _, err := line.Exec(ctx); err != nil {
		return s.explain(ctx, "commit to run "+string(c.Run), err)
	}
	return nil
}
