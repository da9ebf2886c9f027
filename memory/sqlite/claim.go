package sqlite

// Claims and leases.

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

// claim is a call of Claim on its way through the writer.
type claim struct {
	n       int
	only    agent.RunID
	once    bool // does not wait
	granted bool // has a grant in the transaction under way; the writer's
	settled atomic.Bool
	reply   chan reply
}

type reply struct {
	leases []agent.Lease
	err    error
}

// grant is what a claim gets once the transaction is through.
type grant struct {
	claim  *claim
	leases []agent.Lease
}

// settle decides, once, between the writer that has something for the claim
// and the caller that has waited long enough. It returns true to the first.
func (c *claim) settle() bool { return c.settled.CompareAndSwap(false, true) }

func (c *claim) waits() bool { return !c.settled.Load() }

// Claim takes up to n due strands; see agent.Store. A commit in this process
// that makes one due hands it over in its own transaction. A guest is refused
// with ErrGuest.
func (s *Store) Claim(ctx context.Context, n int, wait time.Duration, only agent.RunID) ([]agent.Lease, error) {
	switch {
	case s.guest():
		return nil, s.explain("claim", ErrGuest)
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case n <= 0:
		return nil, nil
	}
	c := &claim{n: n, only: only, once: wait <= 0, reply: make(chan reply, 1)}
	if err := s.writer.submit(ctx, &request{claim: c, lazy: true}); err != nil {
		return nil, s.explain("claim", err)
	}
	var over <-chan time.Time
	if !c.once {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case r := <-c.reply:
		return r.leases, s.explain("claim", r.err)
	case <-over:
	case <-ctx.Done():
	case <-s.writer.stopped:
	}
	if c.settle() {
		select {
		case <-s.writer.stopped:
			return nil, s.explain("claim", ErrClosed)
		default:
			return nil, ctx.Err()
		}
	}
	// The writer was first: what it took must not be lost.
	r := <-c.reply
	return r.leases, s.explain("claim", r.err)
}

// grant leases due strands to the waiting claims, the oldest claim first.
// Claims of one run come before the others, because those may take any strand.
func (t *txn) grant(ctx context.Context, waiting []*claim) error {
	wanted := 0
	for _, c := range waiting {
		if c.only == "" {
			wanted += c.n
			continue
		}
		found, err := t.due(ctx, findDueOf, t.now, c.n, string(c.only))
		if err != nil {
			return err
		}
		if _, err := t.give(ctx, c, found); err != nil {
			return err
		}
	}
	if wanted == 0 {
		return nil
	}
	found, err := t.due(ctx, findDue, t.now, wanted)
	for _, c := range waiting {
		if err != nil {
			return err
		}
		if c.only == "" {
			found, err = t.give(ctx, c, found)
		}
	}
	return err
}

// due finds strands whose time has come, the longest due first.
func (t *txn) due(ctx context.Context, st statement, args ...any) ([]agent.Lease, error) {
	rows, err := t.rows(ctx, st, args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, func(l *agent.Lease) error { return rows.Scan(&l.Run, &l.Strand, &l.Epoch, &l.Turn) })
}

// give leases what was found to the claim, and returns what is left.
func (t *txn) give(ctx context.Context, c *claim, found []agent.Lease) (left []agent.Lease, err error) {
	n := min(c.n, len(found))
	if n == 0 || !c.settle() {
		return found, nil
	}
	c.granted = true
	leases := found[:n:n]
	for i := range leases {
		l := &leases[i]
		run, err := t.run(ctx, l.Run)
		if err != nil {
			return nil, err
		}
		l.Epoch++
		l.At, l.Since, l.Head = stamp(t.now), t.began, agent.Receipt{}
		if run.length > 0 {
			l.Head = agent.Receipt{Seq: run.length, At: stamp(run.newest)}
		}
		if _, err := t.exec(ctx, takeStrand, l.Epoch, t.now+t.lease, string(l.Run), string(l.Strand)); err != nil {
			return nil, err
		}
	}
	t.grants = append(t.grants, grant{c, leases})
	return found[n:], nil
}

// next is when the next strand will be due, never if none will.
func (t *txn) next(ctx context.Context) (int64, error) {
	next := int64(never)
	_, err := t.find(ctx, findNext, []any{t.now}, &next)
	return next, err
}

// reply hands the leases over.
func (t *txn) reply() {
	for _, g := range t.grants {
		g.claim.granted = false
		g.claim.reply <- reply{leases: g.leases}
	}
}

// Extend keeps leases for another lease time and returns those that are gone.
func (s *Store) Extend(ctx context.Context, leases []agent.Lease) ([]agent.Lease, error) {
	if s.guest() {
		return nil, s.explain("extend leases", ErrGuest)
	}
	var lost []agent.Lease
	held := append([]agent.Lease(nil), leases...)
	err := s.writer.do(ctx, true, func(ctx context.Context, t *txn) error {
		gone, err := t.extend(ctx, held)
		lost = gone
		return err
	})
	if err != nil {
		return nil, s.explain("extend leases", err)
	}
	return lost, nil
}

func (t *txn) extend(ctx context.Context, held []agent.Lease) (gone []agent.Lease, err error) {
	for _, l := range held {
		r, err := t.exec(ctx, keepStrand, t.now+t.lease, string(l.Run), string(l.Strand), l.Epoch)
		if err != nil {
			return nil, err
		}
		if n, err := r.RowsAffected(); err != nil {
			return nil, err
		} else if n == 0 {
			gone = append(gone, l)
		}
	}
	return gone, nil
}
