package redis

// What is asked of each shard of a Cluster apart: one whose master does not
// answer stops nobody else's work.

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// shardState is what this process knows of a shard of a Cluster.
type shardState struct {
	away    atomic.Bool // the last call failed or took too long: nobody waits for the next look
	looking atomic.Bool // that look is under way
}

// shardLook is what a look at a shard found.
type shardLook struct {
	shard int
	next  time.Duration // until something is due
	err   error
}

// claimCluster claims from the shards that have something due. A shard that
// cannot be asked has nothing due; where none can be asked, that is the error.
func (s claimer) claimCluster(ctx context.Context, n int, shards []int) ([]agent.Lease, time.Duration, error) {
	due, soonest, err := s.findDue(ctx, shards)
	var all []agent.Lease
	for _, shard := range due {
		if len(all) == n {
			break
		}
		leases, e := s.claimPatiently(ctx, n-len(all), shard)
		if e != nil {
			s.noteAway(shard, e)
			err = errors.Join(err, e)
			continue
		}
		all = append(all, leases...)
	}
	if len(all) == 0 && s.allAway() {
		return nil, 0, s.explain(ctx, "claim", cmp.Or(err, errSlow))
	}
	return all, soonest, nil
}

// findDue asks each shard whether something is due, in one round trip a
// master. It waits for those only that answered the last time.
func (s claimer) findDue(ctx context.Context, shards []int) (due []int, soonest time.Duration, err error) {
	found := make(chan shardLook, len(shards))
	waiting := 0
	for _, shard := range shards {
		state := &s.shards[shard]
		if !state.away.Load() {
			waiting++
			s.queue.group.Go(func() {
				guard.Run(s.log, "the look at a shard", func() { found <- s.look(ctx, shard) })
			})
		} else if state.looking.CompareAndSwap(false, true) {
			s.queue.group.Go(func() {
				defer state.looking.Store(false)
				guard.Run(s.log, "the look at a shard", func() { s.look(ctx, shard) })
			})
		}
	}
	patience := time.NewTimer(s.shardPatience())
	defer patience.Stop()
	soonest = poll
	asked := make([]bool, len(s.shards))
	for waiting > 0 {
		select {
		case l := <-found:
			asked[l.shard] = true
			switch {
			case l.err != nil:
				err = errors.Join(err, l.err)
			case l.next == 0:
				due = append(due, l.shard)
			default:
				soonest = min(soonest, l.next)
			}
			waiting--
		case <-patience.C:
			for _, shard := range shards {
				if !asked[shard] {
					s.noteAway(shard, errSlow)
				}
			}
			waiting = 0
		}
	}
	slices.SortFunc(due, func(a, b int) int { return slices.Index(shards, a) - slices.Index(shards, b) })
	return due, soonest, errors.Join(err, ctx.Err())
}

// look asks one shard. Where it is back, who waits for work hears the bell.
func (s claimer) look(ctx context.Context, shard int) shardLook {
	_, next, err := s.claimShards(ctx, 0, []int{shard})
	if err != nil {
		s.noteAway(shard, err)
	} else if s.shards[shard].away.CompareAndSwap(true, false) {
		s.log.Info("a shard of the Redis Cluster answers again", "shard", shard)
		s.bell.ring("")
	}
	return shardLook{shard: shard, next: next, err: err}
}

// noteAway takes a shard for away until a look at it succeeds, and says so once.
func (s claimer) noteAway(shard int, err error) {
	if s.shards[shard].away.CompareAndSwap(false, true) {
		s.log.Warn("a shard of the Redis Cluster does not answer; its runs wait", "shard", shard, "err", err)
	}
}

// allAway says whether no shard answers.
func (s claimer) allAway() bool {
	for i := range s.shards {
		if !s.shards[i].away.Load() {
			return false
		}
	}
	return true
}

// claimPatiently claims from one shard. Leases that come too late go back.
func (s claimer) claimPatiently(ctx context.Context, n, shard int) ([]agent.Lease, error) {
	type claimed struct {
		leases []agent.Lease
		err    error
	}
	reply := make(chan claimed) // without a buffer: either taken or given back
	late := make(chan struct{})
	defer close(late)
	s.queue.group.Go(func() {
		var leases []agent.Lease
		err := guard.Do(s.log, "a claim", func() (err error) {
			leases, _, err = s.claimShards(ctx, n, []int{shard})
			return err
		})
		select {
		case reply <- claimed{leases, err}:
		case <-late:
			s.giveBack(ctx, leases)
		}
	})
	patience := time.NewTimer(s.shardPatience())
	defer patience.Stop()
	select {
	case r := <-reply:
		return r.leases, r.err
	case <-patience.C:
		return nil, errSlow
	}
}
