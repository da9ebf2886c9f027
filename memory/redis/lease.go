package redis

// Leases extended and given back.

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

// byShard groups the places of leases by their run's shard.
func (k keys) byShard(leases []agent.Lease) map[int][]int {
	groups := map[int][]int{}
	for i, l := range leases {
		n := k.shard(l.Run)
		groups[n] = append(groups[n], i)
	}
	return groups
}

// Extend implements agent.Store: leases of shards that answer in time are
// extended, those of others are in the *agent.ExtendError.
func (s *Store) Extend(ctx context.Context, leases []agent.Lease) (lost []agent.Lease, err error) {
	patient, cancel := context.WithTimeoutCause(ctx, s.shardPatience(), errSlow)
	defer cancel()
	var (
		mu    sync.Mutex
		group sync.WaitGroup
		fate  = make([]extension, len(leases))
	)
	for shard, places := range s.byShard(leases) {
		group.Go(func() {
			var gone []bool
			e := guard.Do(s.log, "the extension of leases", func() (err error) {
				gone, err = s.extendShard(patient, shard, leases, places)
				return err
			})
			mu.Lock()
			defer mu.Unlock()
			err = errors.Join(err, e)
			for i, place := range places {
				fate[place] = extension{gone: e == nil && gone[i], unasked: e != nil}
			}
		})
	}
	group.Wait()
	var unasked []agent.Lease
	for i, l := range leases {
		switch {
		case fate[i].gone:
			lost = append(lost, l)
		case fate[i].unasked:
			unasked = append(unasked, l)
		}
	}
	if err != nil {
		return lost, &agent.ExtendError{Leases: unasked, Err: err}
	}
	return lost, nil
}

// extension is what came of extending a lease, where it was not extended.
type extension struct{ gone, unasked bool }

// extendShard extends the leases at some places, all of one shard, and says
// which of them are gone.
func (s *Store) extendShard(ctx context.Context, shard int, leases []agent.Lease, places []int) (gone []bool, err error) {
	args := []any{s.lease.Microseconds(), s.runPrefix(shard)}
	for _, i := range places {
		args = append(args, string(leases[i].Run), string(leases[i].Strand), leases[i].Epoch)
	}
	reply, err := s.pipe.run(ctx, &call{script: extendScript, keys: []string{s.due(shard), s.alive(shard)}, args: args})
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, fmt.Errorf("extend leases of shard %d: redis %s: %w", shard, s.address, err)
	}
	list, ok := reply.([]any)
	if !ok {
		return nil, errReply
	}
	gone = make([]bool, len(places))
	for _, v := range list {
		place, ok := v.(int64)
		if !ok || place < 0 || int(place) >= len(places) {
			return nil, errReply
		}
		gone[place] = true
	}
	return gone, nil
}

// giveBack makes leases due again that nobody will work. Where it fails they
// run out, as those of a dead worker do.
func (s *Store) giveBack(ctx context.Context, leases []agent.Lease) {
	for shard, places := range s.byShard(leases) {
		args := []any{s.runPrefix(shard)}
		for _, i := range places {
			args = append(args, string(leases[i].Run), string(leases[i].Strand), leases[i].Epoch, leases[i].Turn)
		}
		_, _ = s.pipe.run(ctx, &call{script: returnScript, keys: []string{s.due(shard), s.idle(shard)}, args: args})
	}
}

// shardPatience is how long a call of all shards waits for one of them.
func (s *Store) shardPatience() time.Duration { return s.lease / 4 }

// errSlow is a shard that has not answered yet.
var errSlow = errors.New("its master does not answer in time")
