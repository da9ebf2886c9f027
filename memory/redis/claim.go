package redis

// Claims, which many goroutines share.

import (
	"context"
	"sync"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/agent/guard"
)

const (
	// firstShards is how many shards a claim looks at first while there is much to do.
	firstShards = 4
	// jointClaims is how many joint claims are under way at once.
	jointClaims = 2
)

// Claim implements agent.Store. Claims of many goroutines share a call, and
// waiting costs no connection of its own.
func (s *Store) Claim(ctx context.Context, n int, wait time.Duration, only agent.RunID) ([]agent.Lease, error) {
	if n <= 0 {
		return nil, ctx.Err()
	}
	until := time.Now().Add(wait)
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rung, leave := s.bell.next("")
		leases, next, err := claimer{s}.joinClaim(ctx, n, only)
		left := time.Until(until)
		if err != nil || len(leases) > 0 || left <= 0 {
			leave()
			return leases, err
		}
		err = waitForRing(ctx, rung, min(left, next, poll, s.lease/4))
		leave()
		if err != nil {
			return nil, err
		}
	}
}

// waitForRing waits for a ring, for the time to pass, or for the context's end.
func waitForRing(ctx context.Context, rung <-chan struct{}, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-rung:
		return nil
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// claimer claims for many goroutines at once.
type claimer struct{ *Store }

// claimRequest is one goroutine's wish for leases.
type claimRequest struct {
	n     int
	reply chan claimResult // holds one

	abandoned bool // the goroutine is gone; under queue.mu
}

// claimResult is what came of a want: leases, or how long until the next is due.
type claimResult struct {
	leases []agent.Lease
	next   time.Duration
	err    error
}

// queue joins the wants that come while a claim is under way.
type queue struct {
	mu      sync.Mutex
	waiting []*claimRequest
	serving int
	group   sync.WaitGroup
}

// joinClaim claims up to n strands now. Where the context ends first, leases that
// are on their way go back.
func (s claimer) joinClaim(ctx context.Context, n int, only agent.RunID) ([]agent.Lease, time.Duration, error) {
	w := &claimRequest{n: n, reply: make(chan claimResult, 1)}
	behind := context.WithoutCancel(ctx)
	q := &s.queue
	q.mu.Lock()
	if only != "" {
		q.group.Go(func() { s.claimJointly(behind, []*claimRequest{w}, only) })
	} else {
		q.waiting = append(q.waiting, w)
		if q.serving < jointClaims {
			q.serving++
			q.group.Go(func() { s.serveClaims(behind) })
		}
	}
	q.mu.Unlock()
	select {
	case r := <-w.reply:
		return r.leases, r.next, r.err
	case <-ctx.Done():
	}
	q.mu.Lock()
	w.abandoned = true
	q.mu.Unlock()
	select {
	case r := <-w.reply: // came at the last moment
		s.giveBack(behind, r.leases)
	default:
	}
	return nil, 0, ctx.Err()
}

// serveClaims claims until nobody wants anything.
func (s claimer) serveClaims(ctx context.Context) {
	for {
		s.queue.mu.Lock()
		wants := s.queue.waiting
		s.queue.waiting = nil
		if len(wants) == 0 {
			s.queue.serving--
			s.queue.mu.Unlock()
			return
		}
		s.queue.mu.Unlock()
		s.claimJointly(ctx, wants, "")
	}
}

// claimJointly claims once for many and hands the leases out in the order of asking.
func (s claimer) claimJointly(ctx context.Context, wants []*claimRequest, only agent.RunID) {
	n := 0
	for _, w := range wants {
		n += w.n
	}
	var leases []agent.Lease
	var next time.Duration
	err := guard.Do(s.log, "a claim", func() (err error) {
		leases, next, err = s.claimNow(ctx, n, only)
		return err
	})
	s.queue.mu.Lock()
	for _, w := range wants {
		if w.abandoned {
			continue
		}
		k := min(w.n, len(leases))
		w.reply <- claimResult{leases: leases[:k:k], next: next, err: err}
		leases = leases[k:]
	}
	s.queue.mu.Unlock()
	s.giveBack(ctx, leases)
}

// claimNow claims up to n strands that are due.
func (s claimer) claimNow(ctx context.Context, n int, only agent.RunID) ([]agent.Lease, time.Duration, error) {
	if only != "" {
		shard := s.shard(only)
		return s.claimCall(ctx, &call{
			script: claimRunScript, keys: []string{s.idle(shard), s.due(shard), s.alive(shard), s.run(only)},
			args: []any{n, s.lease.Microseconds(), flag(s.stampDue(shard)), string(only)},
		})
	}
	shards := rotated(len(s.tags), s.turn.Add(1))
	if !s.cluster {
		return s.claimSome(ctx, n, shards)
	}
	return s.claimCluster(ctx, n, shards)
}

// claimSome looks at a few shards first while there is much to do: each key
// costs the server time.
func (s claimer) claimSome(ctx context.Context, n int, shards []int) ([]agent.Lease, time.Duration, error) {
	if s.busy.Load() && len(shards) > firstShards {
		leases, _, err := s.claimShards(ctx, n, shards[:firstShards])
		if err != nil || len(leases) > 0 {
			return leases, 0, err
		}
	}
	leases, next, err := s.claimShards(ctx, n, shards)
	s.busy.Store(len(leases) == n)
	return leases, next, err
}

// claimShards claims from shards that one call may touch.
func (s claimer) claimShards(ctx context.Context, n int, shards []int) ([]agent.Lease, time.Duration, error) {
	keys := []string{s.idle(shards[0]), s.alive(shards[0])}
	for _, shard := range shards {
		keys = append(keys, s.due(shard))
	}
	word := s.cluster || len(shards) == len(s.tags)
	args := []any{n, s.lease.Microseconds(), flag(s.stampDue(shards[0])), flag(word)}
	return s.claimCall(ctx, &call{script: claimScript, keys: keys, args: args})
}

func flag(yes bool) string {
	if yes {
		return "1"
	}
	return "0"
}

func (s claimer) claimCall(ctx context.Context, c *call) ([]agent.Lease, time.Duration, error) {
	since := time.Now()
	reply, err := s.pipe.run(ctx, c)
	if err != nil {
		return nil, 0, s.explain(ctx, "claim", err)
	}
	leases, next, err := claimed(reply)
	for i := range leases {
		leases[i].Since = since
	}
	return leases, next, err
}

// leaseFields is how many values of a claim's reply make one lease.
const leaseFields = 5

// claimed reads a claim's reply (see script/claim.lua).
func claimed(reply any) ([]agent.Lease, time.Duration, error) {
	list, _ := reply.([]any)
	if len(list) < 2 || (len(list)-2)%leaseFields != 0 {
		return nil, 0, errReply
	}
	now, okNow := list[0].(int64)
	micro, okNext := list[1].(int64)
	if !okNow || !okNext {
		return nil, 0, errReply
	}
	next := poll
	if micro >= 0 {
		next = min(poll, time.Duration(micro)*time.Microsecond)
	}
	var leases []agent.Lease
	for i := 2; i < len(list); i += leaseFields {
		run, okRun := list[i].(string)
		strand, okStrand := list[i+1].(string)
		epoch, okEpoch := list[i+2].(int64)
		turn, okTurn := list[i+3].(int64)
		text, okHead := list[i+4].(string)
		if !okRun || !okStrand || !okEpoch || !okTurn || !okHead {
			return nil, 0, errReply
		}
		head, _ := parseReceipt(text) // a damaged one is noticed by whoever reads that run; others' leases are good
		leases = append(leases, agent.Lease{
			Run: agent.RunID(run), Strand: agent.StrandID(strand),
			Epoch: uint64(epoch), Turn: uint64(turn), At: stampTime(now), Head: head,
		})
	}
	return leases, next, nil
}
