package redis

// Leases extended and given back.

import (
	"context"

	"github.com/deckhand-bot/deckhand/agent"
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

// Extend implements agent.Store. With an error some leases may have been
// extended; calling again is harmless.
func (s *Store) Extend(ctx context.Context, leases []agent.Lease) (lost []agent.Lease, err error) {
	gone := make([]bool, len(leases))
	for shard, places := range s.byShard(leases) {
		args := []any{s.lease.Microseconds(), s.runPrefix(shard)}
		for _, i := range places {
			args = append(args, string(leases[i].Run), string(leases[i].Strand), leases[i].Epoch)
		}
		reply, err := s.pipe.run(ctx, &call{script: extendScript, keys: []string{s.due(shard), s.alive(shard)}, args: args})
		if err != nil {
			return nil, s.explain(ctx, "extend leases", err)
		}
		list, ok := reply.([]any)
		if !ok {
			return nil, errReply
		}
		for _, v := range list {
			place, ok := v.(int64)
			if !ok || place < 0 || int(place) >= len(places) {
				return nil, errReply
			}
			gone[places[place]] = true
		}
	}
	for i, l := range leases {
		if gone[i] {
			lost = append(lost, l)
		}
	}
	return lost, nil
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
