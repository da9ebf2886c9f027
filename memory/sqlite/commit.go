package sqlite

// Commits: checked first, written then.

import (
	"context"
	"fmt"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
	"github.com/deckhand-bot/deckhand/memory"
)

// entry is a commit made ready outside the writer: its events encoded, nothing
// of the caller's shared.
type entry struct {
	agent.Commit
	lease  agent.Lease // where Lease is not nil
	events []eventRow
	wakes  []wakeRow // of other strands
	names  []nameRow
	own    time.Time // the lease's own strand, where releases
	frees  bool      // the lease is released
	needs  int       // generation of builds
}

type eventRow struct {
	strand, kind string
	version      int
	body         string
}

type wakeRow struct {
	strand string
	at     time.Time
}

type nameRow struct{ name, value string }

func newEntry(c agent.Commit) (*entry, error) {
	if err := memory.Check(c); err != nil {
		return nil, err
	}
	e := &entry{Commit: c, needs: agent.Needs(c.Events)}
	if c.Lease != nil {
		e.lease = *c.Lease
		e.own, e.frees = c.Wake[c.Lease.Strand]
	}
	for _, event := range c.Events {
		body, err := agent.EncodeBody(event.Body)
		if err != nil {
			return nil, fmt.Errorf("commit to run %s: %w: %w", c.Run, memory.ErrMalformed, err)
		}
		e.events = append(e.events, eventRow{string(event.Strand), string(event.Body.Kind()), agent.Version(event.Body), string(body)})
	}
	for s, at := range c.Wake {
		if c.Lease == nil || s != c.Lease.Strand {
			e.wakes = append(e.wakes, wakeRow{string(s), at})
		}
	}
	for name, value := range c.Set {
		e.names = append(e.names, nameRow{name, value})
	}
	return e, nil
}

// Commit writes all of the commit or nothing; see agent.Store.
func (s *Store) Commit(ctx context.Context, c agent.Commit) (agent.Receipt, error) {
	e, err := newEntry(c)
	if err != nil {
		return agent.Receipt{}, err
	}
	type answer struct {
		receipt agent.Receipt
		refused error
	}
	var a answer
	err = s.writer.do(ctx, false, func(ctx context.Context, t *txn) error {
		var err error
		a.receipt, a.refused, err = t.commit(ctx, e)
		return err
	})
	if err != nil {
		return agent.Receipt{}, s.explain("commit", err)
	}
	return a.receipt, a.refused
}

// news says whether the run's journal ends elsewhere than where the writer of
// the commit thinks it does.
func (e *entry) news(run *runRow) bool { return e.Seen != agent.SeenAll && run.length != e.Seen }

// commit checks everything and then writes everything. An error other than a
// refusal spoils the transaction.
func (t *txn) commit(ctx context.Context, e *entry) (r agent.Receipt, refused, err error) {
	row, seen, err := t.before(ctx, e)
	if err != nil {
		return r, nil, err
	}
	if seen != nil {
		return *seen, nil, nil
	}
	if e.Lease != nil && (!row.leased || row.epoch != e.lease.Epoch || row.turn != e.lease.Turn) {
		return r, agent.ErrConflict, nil
	}
	run := &runRow{}
	if e.Run != "" {
		if run, err = t.run(ctx, e.Run); err != nil {
			return r, nil, err
		}
	}
	if refused, err = t.check(ctx, e, run); refused != nil || err != nil {
		return r, refused, err
	}
	r, err = t.write(ctx, e, row, run)
	return r, nil, err
}

// check holds the commit against the run's journal, the once-keys and the counters.
func (t *txn) check(ctx context.Context, e *entry, run *runRow) (refused, err error) {
	lost, err := t.lost(ctx, e, run)
	switch {
	case err != nil:
		return nil, err
	case lost:
		return agent.ErrLost, nil
	case e.Strict && e.news(run):
		return agent.ErrStale, nil
	case e.Run != "" && run.length == 0 && !memory.Starts(e.Commit):
		return fmt.Errorf("commit to run %s: the run has no events, and the first must be run.started: %w", e.Run, agent.ErrNoRun), nil
	}
	if refused, err = t.checkKeys(ctx, e); refused != nil || err != nil {
		return refused, err
	}
	return t.checkSpend(ctx, e.Spend)
}

// before returns the lease's strand, and the receipt of an attempt that was
// accepted before.
func (t *txn) before(ctx context.Context, e *entry) (row strandRow, seen *agent.Receipt, err error) {
	var seq uint64
	var at int64
	if e.Lease == nil {
		found, err := t.find(ctx, findAttempt, []any{e.ID}, &seq, &at)
		if found {
			seen = &agent.Receipt{Seq: seq, At: stamp(at)}
		}
		return row, seen, err
	}
	row, _, err = t.strand(ctx, e.Run, e.lease.Strand)
	if row.attempt == e.ID && row.turn == e.lease.Turn+1 {
		seen = &agent.Receipt{Seq: row.seq, At: stamp(row.at)}
	}
	return row, seen, err
}

// lost reports whether the event that the writer had folded last is not in the
// journal: its seq and stamp stand for all before it.
func (t *txn) lost(ctx context.Context, e *entry, run *runRow) (bool, error) {
	switch {
	case e.Seen == 0 || e.SeenAt.IsZero():
		return false, nil
	case e.Seen >= run.length:
		return e.Seen > run.length || !stamp(run.newest).Equal(e.SeenAt), nil
	}
	var at string
	found, err := t.find(ctx, findStamp, []any{string(e.Run), e.Seen}, &at)
	return !found || at != e.SeenAt.UTC().Format(stampLayout), err
}

func (t *txn) checkKeys(ctx context.Context, e *entry) (refused, err error) {
	for _, key := range e.Once {
		var one int
		if found, err := t.find(ctx, findOnce, []any{key}, &one); err != nil {
			return nil, err
		} else if found {
			return fmt.Errorf("%w: %s", agent.ErrSeen, key), nil
		}
	}
	return nil, nil
}

func (t *txn) checkSpend(ctx context.Context, spend []agent.Spend) (refused, err error) {
	values := make(map[string]int64, len(spend))
	for _, s := range spend {
		value, read := values[s.Counter]
		if !read {
			if _, err := t.find(ctx, findCounter, []any{s.Counter}, &value); err != nil {
				return nil, err
			}
		}
		// Giving back passes no limit.
		if s.Limit != 0 && s.Nano > 0 && value+s.Nano > s.Limit {
			return &agent.BudgetError{Counter: s.Counter}, nil
		}
		values[s.Counter] = value + s.Nano
	}
	return nil, nil
}

// write is the half of a commit that nothing refuses any more.
func (t *txn) write(ctx context.Context, e *entry, row strandRow, run *runRow) (r agent.Receipt, err error) {
	at, before, newest, news := max(t.now, run.newest), run.length, run.newest, e.news(run)
	text := stamp(at).Format(stampLayout)
	for i, event := range e.events {
		seq := before + uint64(i) + 1
		if _, err := t.exec(ctx, addEvent, string(e.Run), seq, event.strand, text, event.kind, event.version, event.body); err != nil {
			return r, err
		}
	}
	if run.length == 0 {
		run.started = at
	}
	run.length += uint64(len(e.events))
	if len(e.events) > 0 {
		run.newest = at
	}
	if e.Ends && run.ended == 0 {
		run.ended = at
	}
	run.needs = max(run.needs, e.needs)
	run.changed = run.changed || len(e.events) > 0 || e.Ends
	r = agent.Receipt{Seq: run.length, At: stamp(at)}
	if before > 0 {
		r.Before = stamp(newest)
	}
	if err := t.writeStrands(ctx, e, row, r, news); err != nil {
		return r, err
	}
	return r, t.writeKeys(ctx, e, r)
}

// writeStrands writes due times. news: the journal does not end where the
// lease's holder has seen its end.
func (t *txn) writeStrands(ctx context.Context, e *entry, row strandRow, r agent.Receipt, news bool) error {
	run := string(e.Run)
	if e.Lease != nil {
		until, leased := t.now+t.lease, true
		if e.frees {
			until, leased = due(e.own, t.now), false
			if news {
				until = t.now
			}
		}
		if _, err := t.exec(ctx, putStrand, row.turn+1, until, leased, e.ID, r.Seq, r.At.UnixNano(), run, string(e.lease.Strand)); err != nil {
			return err
		}
	}
	for _, w := range e.wakes {
		at := due(w.at, t.now)
		if at == never {
			continue // whatever it is now is earlier
		}
		if _, err := t.exec(ctx, wakeStrand, run, w.strand, at); err != nil {
			return err
		}
	}
	if !e.Ends {
		return nil
	}
	_, err := t.exec(ctx, dropStrands, run)
	return err
}

// writeKeys writes counters, once-keys, names and a fact's attempt id.
func (t *txn) writeKeys(ctx context.Context, e *entry, r agent.Receipt) error {
	for _, s := range e.Spend {
		if _, err := t.exec(ctx, addCounter, s.Counter, s.Nano, t.now); err != nil {
			return err
		}
	}
	for _, key := range e.Once {
		if _, err := t.exec(ctx, addOnce, key, t.now); err != nil {
			return err
		}
	}
	for _, row := range e.names {
		if err := t.setName(ctx, row); err != nil {
			return err
		}
	}
	if e.Lease != nil {
		return nil
	}
	if _, err := t.exec(ctx, addAttempt, e.ID, r.Seq, r.At.UnixNano()); err != nil {
		return err
	}
	return t.forget(ctx)
}

// forget drops old attempt ids. It looks at the oldest few once a transaction
// with facts, which is more than are added, so that they never pile up.
func (t *txn) forget(ctx context.Context) error {
	if t.dropped {
		return nil
	}
	t.dropped = true
	_, err := t.exec(ctx, dropAttempts, 2*batchSize, t.now-int64(memory.AttemptKept))
	return err
}
