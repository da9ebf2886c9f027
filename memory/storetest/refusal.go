package storetest

// This file tests what a commit is refused for: a lost lease, unseen events,
// a limit or a used once-key; and that a refused commit leaves no trace.

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/deckhand-bot/deckhand/agent"
)

var refusalTests = []test{
	{"a refused commit leaves no trace", traceless},
	{"another's epoch or turn is a conflict", conflict},
	{"strict wants the newest event to be seen", strict},
	{"what was folded must be in the journal", lost},
	{"a limit holds, is named, and can be given back to", limits},
	{"a run begins with run.started only", ghosts},
	{"what can never be written says so", permanent},
	{"a once-key works one time", once},
	{"of many with one once-key one wins", onceCrowd},
	{"a limit holds against a crowd", limitCrowd},
}

func traceless(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Once: []string{"used"}, Spend: []agent.Spend{{Counter: "full", Nano: 10}}})
	whole := agent.Commit{
		Run: run, Lease: &lease, Seen: 1, Strict: true, Ends: true,
		Events: []agent.Event{say(agent.Main, "a"), say("task/a", "b")},
		Wake:   wake{agent.Main: agent.Parked, "task/a": agent.AtOnce, agent.Voice: agent.AtOnce},
		Spend:  []agent.Spend{{Counter: "free", Nano: 3}, {Counter: "full", Nano: -4, Limit: 10}},
		Once:   []string{"new"},
	}
	gone, taken, unseen, budget, seen := whole, whole, whole, whole, whole
	gone.Lease = &agent.Lease{Run: run, Strand: agent.Main, Epoch: lease.Epoch + 1, Turn: lease.Turn}
	taken.Lease = &agent.Lease{Run: run, Strand: agent.Main, Epoch: lease.Epoch, Turn: lease.Turn + 1}
	unseen.Seen = 0
	budget.Spend = []agent.Spend{{Counter: "free", Nano: 3}, {Counter: "full", Nano: 1, Limit: 10}}
	seen.Once = []string{"new", "used"}
	for _, tt := range []struct {
		commit agent.Commit
		want   error
	}{{gone, agent.ErrConflict}, {taken, agent.ErrConflict}, {unseen, agent.ErrStale}, {budget, agent.ErrBudget}, {seen, agent.ErrSeen}} {
		b.refused(tt.commit, tt.want)
		b.texts(run)
		b.idle(run)
		b.spent("free", 0)
		b.spent("full", 10)
		if info, ok := b.info(run); !ok || !info.Ended.IsZero() || info.Length != 1 {
			b.Fatalf("after %v the run is %+v", tt.want, info)
		}
	}
	b.commit(whole)
	b.texts(run, "a", "b")
	b.spent("free", 3)
	b.spent("full", 6)
	b.claim(run, agent.Voice)
}

func conflict(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1})
	held := lease
	held.Turn++
	for name, l := range map[string]agent.Lease{
		"turn taken":     lease,
		"turn ahead":     {Run: run, Strand: agent.Main, Epoch: held.Epoch, Turn: held.Turn + 1},
		"epoch before":   {Run: run, Strand: agent.Main, Epoch: held.Epoch - 1, Turn: held.Turn},
		"epoch ahead":    {Run: run, Strand: agent.Main, Epoch: held.Epoch + 1, Turn: held.Turn},
		"unknown strand": {Run: run, Strand: "task/none", Epoch: held.Epoch, Turn: held.Turn},
	} {
		b.Log(name)
		b.refused(agent.Commit{Run: run, Lease: &l, Seen: 1, Events: []agent.Event{say(agent.Main, "no")}}, agent.ErrConflict)
	}
	b.commit(agent.Commit{Run: run, Lease: &held, Seen: 1, Wake: wake{agent.Main: agent.Parked}})
	held.Turn++
	b.Log("released")
	b.refused(agent.Commit{Run: run, Lease: &held, Seen: 1, Events: []agent.Event{say(agent.Main, "no")}}, agent.ErrConflict)
	b.texts(run)
}

func strict(b *bed) {
	run, lease := b.leased()
	b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "fact")}})
	b.refused(agent.Commit{Run: run, Lease: &lease, Seen: 1, Strict: true, Events: []agent.Event{say(agent.Main, "no")}}, agent.ErrStale)
	b.refused(agent.Commit{Run: run, Seen: 1, Strict: true, Events: []agent.Event{say(agent.Main, "no")}}, agent.ErrStale)
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{say(agent.Main, "lax")}})
	lease.Turn++
	b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 3, Strict: true, Events: []agent.Event{say(agent.Main, "seen")}})
	b.commit(agent.Commit{Run: run, Seen: 4, Strict: true, Events: []agent.Event{say(agent.Main, "fact too")}})
	b.texts(run, "fact", "lax", "seen", "fact too")
	first := agent.Commit{Run: agent.RunID(agent.NewID()), Strict: true, Events: []agent.Event{opens()}}
	b.commit(first)
	b.refused(first, agent.ErrStale)
}

// lost commits on folds whose newest event the journal does not have: one that
// another has taken the place of, and one beyond its end.
func lost(b *bed) {
	run, lease := b.leased()
	first := b.read(run, 0)[0].At
	second := b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "fact")}})
	third := b.commit(agent.Commit{Run: run, Events: []agent.Event{say(agent.Main, "one"), say(agent.Main, "two")}})
	if !second.Before.Equal(first) || !third.Before.Equal(second.At) {
		b.Fatalf("the commits came behind %v and %v, want %v and %v", second.Before, third.Before, first, second.At)
	}
	say := []agent.Event{say(agent.Main, "decision")}
	for _, other := range []agent.Commit{
		{Seen: 1, SeenAt: first.Add(-time.Microsecond)},
		{Seen: 2, SeenAt: second.At.Add(time.Microsecond)},
		{Seen: 4, SeenAt: third.At.Add(time.Microsecond)},
		{Seen: 5, SeenAt: third.At},
	} {
		other.Run, other.Events = run, say
		b.refused(other, agent.ErrLost)
		b.refused(other, agent.ErrStale)
		other.Lease, other.Wake = &lease, wake{agent.Main: agent.Parked}
		b.refused(other, agent.ErrLost)
	}
	b.texts(run, "fact", "one", "two")
	for i, good := range []agent.Commit{{Seen: 1, SeenAt: first}, {Seen: 2, SeenAt: second.At}, {Seen: 3, SeenAt: third.At}, {Seen: 4, SeenAt: third.At}} {
		good.Run, good.Lease, good.ID = run, &agent.Lease{}, agent.NewID()
		*good.Lease = lease
		r := b.commit(good)
		if r.Seq != 4 || !r.Before.Equal(third.At) {
			b.Fatalf("commit %d: receipt %+v", i, r)
		}
		again := b.commit(good) // an attempt that was accepted says nothing of the journal
		if !again.Before.IsZero() {
			b.Fatalf("commit %d, sent again: receipt %+v", i, again)
		}
		lease.Turn++
	}
}

func limits(b *bed) {
	run := b.start()
	spend := func(s ...agent.Spend) error {
		_, err := b.Store.Commit(b.Context(), agent.Commit{ID: agent.NewID(), Run: run, Spend: s})
		return err
	}
	must := func(s ...agent.Spend) {
		b.Helper()
		if err := spend(s...); err != nil {
			b.Fatalf("spend %+v: %v", s, err)
		}
	}
	over := func(counter string, s ...agent.Spend) {
		b.Helper()
		var budget *agent.BudgetError
		if err := spend(s...); !errors.Is(err, agent.ErrBudget) || !errors.As(err, &budget) || budget.Counter != counter {
			b.Fatalf("spend %+v: %v, want a BudgetError of %s", s, err, counter)
		}
	}
	b.spent("never", 0)
	must(agent.Spend{Counter: "a", Nano: 60, Limit: 100}, agent.Spend{Counter: "b", Nano: 7})
	over("a", agent.Spend{Counter: "b", Nano: 1}, agent.Spend{Counter: "a", Nano: 41, Limit: 100})
	must(agent.Spend{Counter: "a", Nano: 40, Limit: 100})
	over("a", agent.Spend{Counter: "a", Nano: 1, Limit: 100})
	must(agent.Spend{Counter: "a", Nano: 1})
	b.spent("a", 101)
	b.Log("giving back passes no limit, even from above it")
	must(agent.Spend{Counter: "a", Nano: -1, Limit: 50})
	must(agent.Spend{Counter: "a", Nano: -30, Limit: 100}, agent.Spend{Counter: "b", Nano: -8})
	b.spent("a", 70)
	b.spent("b", -1)
	b.Log("one counter twice in a commit")
	over("a", agent.Spend{Counter: "a", Nano: 20, Limit: 100}, agent.Spend{Counter: "a", Nano: 20, Limit: 100})
	must(agent.Spend{Counter: "a", Nano: 10, Limit: 100}, agent.Spend{Counter: "a", Nano: 20, Limit: 100})
	b.Log("amounts beyond what a float can count")
	must(agent.Spend{Counter: "big", Nano: 1<<53 + 1})
	must(agent.Spend{Counter: "big", Nano: 2, Limit: 1<<53 + 3})
	b.spent("big", 1<<53+3)
	over("big", agent.Spend{Counter: "big", Nano: 1, Limit: 1<<53 + 3})
}

// ghosts commits everything but a run's beginning to a run that is not there:
// never begun, or expired while somebody held it.
func ghosts(b *bed) {
	run, lease := b.leased()
	ended := b.commit(agent.Commit{Run: run, Lease: &lease, Seen: 1, Ends: true, Events: []agent.Event{say(agent.Main, "bye")}, Wake: wake{agent.Main: agent.Parked}})
	if n, err := b.Store.Expire(b.Context(), ended.At.Add(time.Hour)); err != nil || n != 1 {
		b.Fatalf("expired %d, %v", n, err)
	}
	for _, run := range []agent.RunID{run, agent.RunID(agent.NewID())} {
		own := agent.CounterOf(agent.RunCounter(run), "usd")
		for name, c := range map[string]agent.Commit{
			"a fact":        {Events: []agent.Event{say(agent.Main, "rated")}},
			"a late start":  {Events: []agent.Event{say(agent.Main, "rated"), opens()}},
			"a wake-up":     {Wake: wake{agent.Main: agent.AtOnce}},
			"its counter":   {Spend: []agent.Spend{{Counter: own, Nano: 1}}},
			"an end":        {Ends: true},
			"a strict fact": {Strict: true, Events: []agent.Event{say(agent.Main, "rated")}},
		} {
			b.Log(name)
			c.Run, c.Once, c.Set = run, []string{name}, map[string]string{name: string(run)}
			b.refused(c, agent.ErrNoRun)
			b.value(b.Store, name, "")
		}
		if info, is := b.info(run); is {
			b.Fatalf("there is a run %+v", info)
		}
		if got, err := b.Store.Read(b.Context(), run, 0); !errors.Is(err, agent.ErrNoRun) {
			b.Fatalf("read %v, %v; want ErrNoRun", got, err)
		}
		b.idle(run)
		b.spent(own, 0)
	}
	b.Log("what was refused used up no key")
	b.commit(agent.Commit{Run: run, Once: []string{"a fact"}, Events: []agent.Event{opens()}, Wake: wake{agent.Main: agent.AtOnce}})
	b.claim(run, agent.Main)
}

// permanent commits what no store takes: the engine must not send it for ever.
func permanent(b *bed) {
	run, lease := b.leased()
	for name, c := range map[string]agent.Commit{
		"does not encode": {ID: agent.NewID(), Run: run, Lease: &lease, Seen: 1, Events: []agent.Event{{Strand: agent.Main, Body: agent.ToolIntent{Arguments: []byte("{no JSON")}}}},
		"no attempt id":   {Run: run, Events: []agent.Event{say(agent.Main, "x")}},
		"no run":          {ID: agent.NewID(), Events: []agent.Event{say(agent.Main, "x")}},
		"no strand":       {ID: agent.NewID(), Run: run, Events: []agent.Event{say("", "x")}},
		"another's lease": {ID: agent.NewID(), Run: b.start(), Lease: &lease, Events: []agent.Event{say(agent.Main, "x")}},
	} {
		b.Log(name)
		if _, err := b.Store.Commit(b.Context(), c); !agent.Permanent(err) {
			b.Fatalf("commit: %v, want an error that is permanent", err)
		}
	}
	b.texts(run)
	for name, err := range map[string]error{"conflict": agent.ErrConflict, "stale": agent.ErrStale, "lost": agent.ErrLost, "seen": agent.ErrSeen, "context": context.Canceled} {
		if agent.Permanent(err) {
			b.Errorf("%s is permanent", name)
		}
	}
}

func once(b *bed) {
	run := b.start()
	b.commit(agent.Commit{Run: run, Once: []string{"slack:1", "slack:2"}, Events: []agent.Event{say(agent.Main, "first")}})
	b.refused(agent.Commit{Run: run, Once: []string{"slack:2", "slack:3"}, Events: []agent.Event{say(agent.Main, "second")}}, agent.ErrSeen)
	b.refused(agent.Commit{Run: b.start(), Once: []string{"slack:1"}, Events: []agent.Event{say(agent.Main, "elsewhere")}}, agent.ErrSeen)
	b.refused(agent.Commit{Once: []string{"slack:1"}}, agent.ErrSeen)
	b.commit(agent.Commit{Once: []string{"slack:3"}})
	b.texts(run, "first")
}

func onceCrowd(b *bed) {
	run := b.start()
	other := b.Beside(b.T)
	var won atomic.Int32
	b.together(16, func(ctx context.Context, i int) error {
		s := b.Store
		if i%2 == 0 {
			s = other
		}
		_, err := s.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Once: []string{"tick"}, Events: []agent.Event{say(agent.Main, "tick")}})
		if errors.Is(err, agent.ErrSeen) {
			return nil
		}
		won.Add(1)
		return err
	})
	if won.Load() != 1 {
		b.Fatalf("%d commits used the key, want 1", won.Load())
	}
	b.texts(run, "tick")
}

func limitCrowd(b *bed) {
	run := b.start()
	b.together(20, func(ctx context.Context, _ int) error {
		_, err := b.Store.Commit(ctx, agent.Commit{ID: agent.NewID(), Run: run, Spend: []agent.Spend{{Counter: "c", Nano: 3, Limit: 31}}})
		if errors.Is(err, agent.ErrBudget) {
			return nil
		}
		return err
	})
	b.spent("c", 30)
}
