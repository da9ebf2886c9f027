package crash

import (
	"context"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory/storetest"
)

// Store is a store at whose commits the child may die, and which writes down
// every commit that was acknowledged.
type Store struct {
	storetest.Store

	Record *Record
	// Killer kills the child; nil: it lives.
	Killer *Killer
	// Counts says whether a commit is one of those that are numbered; nil: every
	// one is. It is asked once for each commit, before the store is.
	Counts func(agent.Commit) bool
	// Gate holds claims back until it is closed: a child in reserve takes nothing
	// away from the one whose boundaries are counted. Nil: nothing is held back.
	Gate <-chan struct{}
}

// Commit passes the boundaries before and after the store's own. What is about
// to be committed and what was committed are numbered apart, since some commits
// are refused.
func (s *Store) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	d := Death{Run: c.Run, About: fmt.Sprintf("%d events", len(c.Events))}
	if c.Lease != nil {
		d.Strand = c.Lease.Strand
	}
	if len(c.Events) > 0 {
		d.About = string(c.Events[0].Body.Kind())
	}
	counts := s.Killer != nil && (s.Counts == nil || s.Counts(c))
	if counts {
		s.Killer.Pass("commit", "before", s.Killer.Count("commit before"), d)
	}
	r, err := s.Store.Commit(ctx, c)
	if err != nil {
		return r, err
	}
	if len(c.Events) > 0 {
		s.Record.Write(Entry{Kept: &Kept{Run: c.Run, Seq: r.Seq, Events: len(c.Events), Sum: Sum(c.Events)}})
	}
	if counts {
		s.Killer.Pass("commit", "after", s.Killer.Count("commit after"), d)
	}
	return r, nil
}

// Claim waits for the gate first.
func (s *Store) Claim(ctx context.Context, n int, wait time.Duration, only agent.RunID) ([]agent.Lease, error) {
	if s.Gate != nil {
		select {
		case <-s.Gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return s.Store.Claim(ctx, n, wait, only)
}

// Insist tries until the store answers: while a master is away, whoever looks on
// waits as the replicas do.
func Insist(ctx context.Context, do func() error) error {
	for {
		err := do()
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}
