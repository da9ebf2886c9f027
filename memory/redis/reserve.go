package redis

// What a Cluster needs besides, where a commit concerns several shards.

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/deckhand-bot/deckhand/agent"
)

// heldPrefix begins the value of a once-key that an attempt holds but has not
// written yet; what follows is the key under which the attempt is known once
// it is written (keys.attempt). A key that was used has its attempt's id.
const heldPrefix = "held "

// tries is how often a commit is sent anew after it met what a dead attempt held.
const tries = 4

// heldError is a once-key that another attempt holds.
type heldError struct{ key string }

func (e *heldError) Error() string { return "another attempt holds " + e.key }

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

// splitOnce parts a commit's once-keys into those in the commit's shard and the others.
func (k keys) splitOnce(c agent.Commit, home int) (own, foreign []string) {
	for _, name := range c.Once {
		if key, shard := k.once(c.Anchor, name); shard == home {
			own = append(own, key)
		} else {
			foreign = append(foreign, key)
		}
	}
	return own, foreign
}

// splitNames parts names into those in the commit's shard and the others.
func (k keys) splitNames(set map[string]string, home int) (own, foreign map[string]string) {
	own, foreign = map[string]string{}, map[string]string{}
	for name, value := range set {
		if k.nameShard(name) == home {
			own[name] = value
		} else {
			foreign[name] = value
		}
	}
	return own, foreign
}

// reservation is one thing that a commit holds in another slot.
type reservation struct {
	hold, drop *call
	refused    func(reply any) error // of a reply that is no number
	fresh      bool                  // held by this sending of the commit, not by an earlier one
}

// reserver writes commits that concern more than a Cluster's one shard.
type reserver struct{ *Store }

// commitCluster is a Cluster's commit with once-keys, or with counters or names
// of other shards. Whether an attempt that holds a once-key was written is
// known by the attempt's own key, which is in the commit's script: whoever
// meets the held key looks there. What was written is seen. What was not is
// left alone for a lease; then the attempt is made void, so that it can be
// written no more, and the key is free.
func (s reserver) commitCluster(ctx context.Context, c agent.Commit, p packed) (agent.Receipt, error) {
	commit := s.commitReserved
	if len(p.elsewhere.once)+len(p.elsewhere.spends)+len(p.elsewhere.names) == 0 {
		commit = func(ctx context.Context, _ agent.Commit, p packed) (agent.Receipt, error) {
			return s.send(ctx, p, false)
		}
	}
	for range tries {
		r, err := commit(ctx, c, p)
		held, is := errors.AsType[*heldError](err)
		if !is {
			return r, err
		}
		if err := s.settle(ctx, held.key); err != nil {
			return agent.Receipt{}, fmt.Errorf("commit to run %s: %w", c.Run, err)
		}
	}
	return agent.Receipt{}, fmt.Errorf("commit to run %s: %w", c.Run, agent.ErrBusy)
}

// commitReserved is a commit with parts in other shards. First the run's script is asked, then keys and counters are
// reserved under the attempt's id, then names are set, and then the commit is
// written; where that refuses, what was reserved is given back. Names come
// before the commit because a process may die between the two: a name without
// its run is found out by who reads it, a run without its name by nobody.
func (s reserver) commitReserved(ctx context.Context, c agent.Commit, p packed) (agent.Receipt, error) {
	held := s.reservations(c, p)
	r, err := s.send(ctx, p, true)
	if errors.Is(err, errFits) {
		err = s.reserve(ctx, held)
		if err == nil {
			err = s.setNames(ctx, p.elsewhere.names)
		}
		if err == nil {
			r, err = s.send(ctx, p, false)
		}
	}
	if err == nil {
		// Whoever meets a key that is still held finds the attempt written.
		if err := s.confirmOnce(ctx, c, p); err != nil {
			s.log.Warn("once-keys of a commit are not confirmed yet", "run", string(c.Run), "err", err)
		}
		return r, nil
	}
	behind := context.WithoutCancel(ctx)
	_, isHeld := errors.AsType[*heldError](err)
	switch {
	case errors.Is(err, agent.ErrConflict):
		// An earlier sending may have been written and overtaken: what that
		// one holds stays.
		return r, errors.Join(err, s.giveUp(behind, held, false))
	case isHeld, errors.Is(err, agent.ErrSeen), errors.Is(err, agent.ErrStale), errors.Is(err, agent.ErrLost),
		errors.Is(err, agent.ErrNoRun), errors.Is(err, agent.ErrBusy), errors.Is(err, agent.ErrBudget):
		if e := s.giveUp(behind, held, true); e != nil {
			return r, errors.Join(err, e)
		}
	}
	return r, err // of the connection: the commit may have been written
}

// reservations lists what a commit must hold; nothing is held yet.
func (s reserver) reservations(c agent.Commit, p packed) []reservation {
	var all []reservation
	for _, key := range p.elsewhere.once {
		args := []any{heldPrefix + p.attempt, c.ID, int64(onceTTL.Seconds())}
		all = append(all, reservation{
			hold: &call{script: holdOnceScript, keys: []string{key}, args: args, confirm: true},
			drop: &call{script: dropOnceScript, keys: []string{key}, args: args[:1]},
			refused: func(reply any) error {
				if reply == "held" {
					return &heldError{key: key}
				}
				return agent.ErrSeen
			},
		})
	}
	for i, spend := range p.elsewhere.spends {
		key, field := s.counter(spend.Counter)
		keys := []string{key, heldKey(key, c.ID, i)}
		all = append(all, reservation{
			hold: &call{
				script: holdSpendScript, keys: keys,
				args: []any{field, spend.Nano, spend.Limit, int64(attemptTTL.Seconds())}, confirm: true,
			},
			drop:    &call{script: dropSpendScript, keys: keys, args: []any{field, strconv.FormatInt(-spend.Nano, 10)}},
			refused: func(any) error { return &agent.BudgetError{Counter: spend.Counter} },
		})
	}
	return all
}

// reserve reserves one after the other until one is refused.
func (s reserver) reserve(ctx context.Context, all []reservation) error {
	for i := range all {
		got, err := s.pipe.run(ctx, all[i].hold)
		if err != nil {
			return s.explain(ctx, "reserve for a commit", err)
		}
		if n, _ := got.(int64); n == 0 {
			return fmt.Errorf("reserve for a commit: %w", all[i].refused(got))
		}
		all[i].fresh = got == int64(2)
	}
	return nil
}

// giveUp gives back what this sending reserved, or what any sending of the
// commit did. What was not held is left alone by the scripts.
func (s reserver) giveUp(ctx context.Context, all []reservation, ofAny bool) error {
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

// confirmOnce marks the once-keys of a written commit as used.
func (s reserver) confirmOnce(ctx context.Context, c agent.Commit, p packed) error {
	if len(p.elsewhere.once) == 0 {
		return nil
	}
	line := s.client.Pipeline()
	for _, key := range p.elsewhere.once {
		line.Set(ctx, key, c.ID, onceTTL)
	}
	if _, err := line.Exec(ctx); err != nil {
		return s.explain(ctx, "commit to run "+string(c.Run), err)
	}
	return nil
}

// The fates of an attempt that holds a once-key (script/fate.lua).
const (
	fateVoid = iota
	fateWritten
	fateOpen
)

// settle finds out what became of the attempt that holds a once-key: nil where
// the key is free now, ErrSeen where the attempt was written, ErrBusy where it
// may still be on its way.
func (s reserver) settle(ctx context.Context, key string) error {
	line := s.client.Pipeline()
	value, left := line.Get(ctx, key), line.PTTL(ctx, key)
	if _, err := line.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return s.explain(ctx, "ask who holds a once-key", err)
	}
	attempt, held := strings.CutPrefix(value.Val(), heldPrefix)
	switch {
	case errors.Is(value.Err(), redis.Nil): // given back meanwhile
		return nil
	case !held:
		return agent.ErrSeen
	}
	old := onceTTL-left.Val() >= s.lease
	fate, err := s.pipe.number(ctx, &call{
		script: fateScript, keys: []string{attempt}, args: []any{flag(old), int64(onceTTL / time.Second)}, confirm: true,
	})
	if err != nil {
		return s.explain(ctx, "ask what became of who holds a once-key", err)
	}
	switch fate {
	case fateWritten: // it died before it confirmed its keys
		_, err = s.pipe.run(ctx, &call{script: confirmOnceScript, keys: []string{key}, args: []any{heldPrefix + attempt, attempt, int64(onceTTL.Seconds())}})
		if err != nil {
			return s.explain(ctx, "confirm a once-key", err)
		}
		return agent.ErrSeen
	case fateVoid:
		_, err = s.pipe.run(ctx, &call{script: dropOnceScript, keys: []string{key}, args: []any{heldPrefix + attempt}})
		if err != nil {
			return s.explain(ctx, "free a once-key", err)
		}
		return nil
	}
	return agent.ErrBusy
}
